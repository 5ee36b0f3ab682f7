// The peer zarrita: answers one JSON line with another until its input ends. The messages: ../message.py.
import { Buffer } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

// zarrita is installed in an environment of its own, whose folder is the first argument; imports are looked up beside
// this file, so its entry points are found by hand.
const [environment] = process.argv.slice(2);
const manifest = (name) => JSON.parse(readFileSync(`${environment}/node_modules/${name}/package.json`, "utf8"));
const load = (name, entry) =>
  import(pathToFileURL(`${environment}/node_modules/${name}/${manifest(name).exports[entry].import}`));
const zarr = await load("zarrita", ".");
const { default: FileSystemStore } = await load("@zarrita/storage", "./fs");

const place = (message, path) => zarr.root(new FileSystemStore(message.root)).resolve(`/${path}`);
const base64 = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
const isV2 = (message, path) => [".zarray", ".zgroup"].some((name) => existsSync(`${message.root}/${path}/${name}`));
const open = (message, path, kind) =>
  (isV2(message, path) ? zarr.open.v2 : zarr.open.v3)(place(message, path), kind && { kind });

const NUMBERS = {
  int8: [Int8Array, "|i1"],
  int16: [Int16Array, "<i2"],
  int32: [Int32Array, "<i4"],
  int64: [BigInt64Array, "<i8"],
  uint8: [Uint8Array, "|u1"],
  uint16: [Uint16Array, "<u2"],
  uint32: [Uint32Array, "<u4"],
  uint64: [BigUint64Array, "<u8"],
  float32: [Float32Array, "<f4"],
  float64: [Float64Array, "<f8"],
  bool: [Uint8Array, "|b1"],
};

// What elements are in a message: base64 of their bytes, or texts one by one.
function pack(dtype, elements) {
  if (dtype === "v2:object" || dtype === "string") return elements.map((value) => ({ json: value }));
  const text = dtype.match(/^v2:([US])(\d+)$/);
  if (!text) return base64(NUMBERS[dtype][0].from(elements));
  const [, kind, length] = text;
  const packed = Buffer.alloc(elements.length * length * (kind === "U" ? 4 : 1));
  elements.forEach((value, n) => {
    if (kind === "S") packed.write(value, n * length, "latin1");
    else [...value].forEach((letter, at) => packed.writeUInt32LE(letter.codePointAt(0), (n * length + at) * 4));
  });
  return packed.toString("base64");
}

function typestr(dtype) {
  if (dtype in NUMBERS) return NUMBERS[dtype][1];
  if (dtype === "v2:object") return "|O";
  return dtype.replace(/^v2:/, dtype.startsWith("v2:U") ? "<" : "|");
}

// zarrita answers in the order that the chunks are stored in; the messages are in C order.
function inOrderC({ data, shape, stride }) {
  const elements = [];
  const read = data.get ? (i) => data.get(i) : (i) => data[i];
  const index = new Array(shape.length).fill(0);
  const count = shape.reduce((a, b) => a * b, 1);
  for (let n = 0; n < count; n++) {
    elements.push(read(index.reduce((sum, at, axis) => sum + at * stride[axis], 0)));
    for (let axis = shape.length - 1; axis >= 0 && ++index[axis] === shape[axis]; axis--) index[axis] = 0;
  }
  return elements;
}

async function valuesOf(array) {
  return pack(array.dtype, inOrderC(array.shape.length ? await zarr.get(array) : await array.getChunk([])));
}

// zarrita has no writing of groups but their documents, and creates arrays with the default chunk keys only.
async function create(message, path, document) {
  if (document.node_type === "group") return zarr.create(place(message, path), { attributes: document.attributes });
  if (document.chunk_key_encoding.name !== "default") throw new Error("creates no array with chunk keys of v2");
  return zarr.create(place(message, path), {
    shape: document.shape,
    dtype: document.data_type,
    chunkShape: document.chunk_grid.configuration.chunk_shape,
    chunkSeparator: document.chunk_key_encoding.configuration?.separator,
    codecs: document.codecs,
    fillValue: document.fill_value,
    dimensionNames: document.dimension_names,
    attributes: document.attributes,
  });
}

async function fill(array, box, text) {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  const sample = (await array.getChunk(array.shape.map(() => 0))).data;
  if (array.shape.length === 0) {
    const one = new sample.constructor(bytes.buffer, 0, 1);
    return zarr.set(array, [], one.get ? one.get(0) : one[0]);
  }
  const shape = box.map(([start, stop]) => stop - start);
  const stride = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  const length = stride[0] * shape[0];
  const data = new sample.constructor(bytes.buffer, 0, length);
  return zarr.set(array, box.map(([start, stop]) => zarr.slice(start, stop)), { data, shape, stride });
}

const verbs = {
  async version() {
    return { version: manifest("zarrita").version };
  },
  // The names that it knows, by kind.
  async names() {
    return { Codecs: [...zarr.registry.keys()] };
  },
  async write(message) {
    const array = await create(message, message.path, message.document);
    await fill(array, message.box, message.values);
    return {};
  },
  async read(message) {
    const array = await open(message, message.path, "array");
    return {
      shape: array.shape,
      data_type: isV2(message, message.path) ? typestr(array.dtype) : array.dtype,
      values: await valuesOf(array),
      fill: array.fillValue === null ? null : pack(array.dtype, [array.fillValue]),
      attributes: array.attrs,
      dimension_names: isV2(message, message.path) ? null : (array.dimensionNames ?? null),
    };
  },
  // Writes what is at `source` to `path`, where the document of the same array is.
  async rewrite(message) {
    const source = await open(message, message.source, "array");
    const target = await open(message, message.path, "array");
    await zarr.set(target, source.shape.map(() => null), await zarr.get(source));
    return {};
  },
  async write_group(message) {
    if (message.consolidated) throw new Error("writes no consolidated metadata");
    for (const [path, node] of Object.entries(message.nodes)) {
      const made = await create(message, path, node.document);
      if (node.values) await fill(made, made.shape.map((size) => [0, size]), node.values);
    }
    return {};
  },
  // A directory cannot be listed with zarrita, only consolidated metadata: the message says where to look.
  async read_group(message) {
    const store = new FileSystemStore(message.root);
    const opened = message.consolidated ? await zarr.withConsolidatedMetadata(store) : store;
    const paths = message.consolidated ? ["", ...opened.contents().map(({ path }) => path.slice(1))] : message.paths;
    const nodes = {};
    for (const path of new Set(paths)) {
      const node = await (isV2(message, "") ? zarr.open.v2 : zarr.open.v3)(zarr.root(opened).resolve(`/${path}`));
      nodes[path] = { attributes: node.attrs };
      if (node.kind === "array") nodes[path].values = await valuesOf(node);
    }
    return { nodes };
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  let answer;
  try {
    answer = await verbs[message.verb](message);
  } catch (error) {
    answer = { error: `${error.name}: ${error.message}${error.cause ? ` (${error.cause.message})` : ""}` };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
