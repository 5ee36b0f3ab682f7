import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.zarr.zarrjava.core.Array;
import dev.zarr.zarrjava.core.Attributes;
import dev.zarr.zarrjava.core.Group;
import dev.zarr.zarrjava.core.Node;
import dev.zarr.zarrjava.store.FilesystemStore;
import dev.zarr.zarrjava.store.StoreHandle;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Properties;
import java.util.stream.StreamSupport;
import ucar.ma2.DataType;
import ucar.ma2.IndexIterator;

/** The peer zarr-java: answers one JSON line with another until its input ends. The messages: ../message.py. */
public class Peer {
  static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    // What a library prints must not end up between the answers.
    PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    BufferedReader messages = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = messages.readLine()) != null; ) {
      ObjectNode answer;
      try {
        answer = answer(JSON.readTree(line));
      } catch (Throwable problem) {
        answer = JSON.createObjectNode().put("error", String.valueOf(problem));
      }
      answers.println(JSON.writeValueAsString(answer));
    }
  }

  static ObjectNode answer(JsonNode message) throws Exception {
    FilesystemStore store = new FilesystemStore(message.path("root").asText());
    switch (message.get("verb").asText()) {
      case "version":
        return JSON.createObjectNode().put("version", version());
      case "write":
        return write(place(store, message.get("path").asText()), message);
      case "read":
        return read(place(store, message.get("path").asText()));
      case "write_group":
        return writeGroup(store, message);
      case "read_group":
        ObjectNode nodes = JSON.createObjectNode();
        readGroup(Group.open(store.resolve()), "", nodes);
        return JSON.createObjectNode().set("nodes", nodes);
      default:
        throw new UnsupportedOperationException("the peer has no " + message.get("verb"));
    }
  }

  static String version() throws Exception {
    Properties properties = new Properties();
    try (InputStream stream = Array.class.getResourceAsStream("/META-INF/maven/dev.zarr/zarr-java/pom.properties")) {
      properties.load(stream);
    }
    return properties.getProperty("version");
  }

  static StoreHandle place(FilesystemStore store, String path) {
    return path.isEmpty() ? store.resolve() : store.resolve(path.split("/"));
  }

  static ObjectNode write(StoreHandle place, JsonNode message) throws Exception {
    JsonNode box = message.get("box");
    long[] start = StreamSupport.stream(box.spliterator(), false).mapToLong(edge -> edge.get(0).asLong()).toArray();
    int[] shape = new int[start.length];
    for (int axis = 0; axis < shape.length; axis++) shape[axis] = box.get(axis).get(1).asInt() - (int) start[axis];
    write(create(place, message.get("document")), start, shape, message.get("values").asText());
    return JSON.createObjectNode();
  }

  static void write(Array array, long[] start, int[] shape, String values) {
    DataType type = array.metadata().dataType().getMA2DataType();
    ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(values)).order(ByteOrder.LITTLE_ENDIAN);
    array.write(start, type == DataType.BOOLEAN ? booleans(bytes, shape) : ucar.ma2.Array.factory(type, shape, bytes));
  }

  /** Its arrays of booleans take no bytes. */
  static ucar.ma2.Array booleans(ByteBuffer bytes, int[] shape) {
    ucar.ma2.Array made = ucar.ma2.Array.factory(DataType.BOOLEAN, shape);
    for (IndexIterator at = made.getIndexIterator(); at.hasNext(); ) at.setBooleanNext(bytes.get() != 0);
    return made;
  }

  static String pack(ucar.ma2.Array values) {
    DataType type = values.getDataType();
    ByteBuffer bytes = ByteBuffer.allocate((int) values.getSizeBytes()).order(ByteOrder.LITTLE_ENDIAN);
    if (type == DataType.BOOLEAN) {
      for (IndexIterator at = values.getIndexIterator(); at.hasNext(); ) bytes.put((byte) (at.getBooleanNext() ? 1 : 0));
    } else if (type == DataType.FLOAT) {
      bytes.asFloatBuffer().put((float[]) values.copyTo1DJavaArray());
    } else if (type == DataType.DOUBLE) {
      bytes.asDoubleBuffer().put((double[]) values.copyTo1DJavaArray());
    } else {
      bytes = values.getDataAsByteBuffer(ByteOrder.LITTLE_ENDIAN);
    }
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  static ObjectNode read(StoreHandle place) throws Exception {
    Array array = Array.open(place);
    ObjectNode answer = JSON.createObjectNode();
    answer.set("shape", JSON.valueToTree(array.metadata().shape));
    answer.put("values", pack(array.read()));
    answer.put("fill", fill(array));
    answer.set("attributes", attributes(array));
    answer.putNull("dimension_names");
    if (array instanceof dev.zarr.zarrjava.v3.Array) {
      dev.zarr.zarrjava.v3.ArrayMetadata metadata = ((dev.zarr.zarrjava.v3.Array) array).metadata();
      answer.put("data_type", metadata.dataType().getValue());
      if (metadata.dimensionNames != null) answer.set("dimension_names", JSON.valueToTree(metadata.dimensionNames));
    } else {
      String type = ((dev.zarr.zarrjava.v2.Array) array).metadata().dataType().getValue();
      answer.put("data_type", type.replace('>', '<'));
    }
    return answer;
  }

  static String fill(Array array) {
    if (array.metadata().parsedFillValue() == null) return null;
    int[] first = new int[array.metadata().ndim()];
    int[] one = new int[first.length];
    Arrays.fill(one, 1);
    try {
      return pack(array.metadata().allocateFillValueChunk().sectionNoReduce(first, one, null).copy());
    } catch (ucar.ma2.InvalidRangeException problem) {
      throw new IllegalStateException(problem);
    }
  }

  /** Asking a node of version 2 without attributes for them is an error. */
  static JsonNode attributes(Array array) throws Exception {
    if (array instanceof dev.zarr.zarrjava.v2.Array) {
      return attributes(((dev.zarr.zarrjava.v2.Array) array).metadata().attributes);
    }
    return attributes(array.metadata().attributes());
  }

  static JsonNode attributes(Group group) throws Exception {
    if (group instanceof dev.zarr.zarrjava.v2.Group) {
      return attributes(((dev.zarr.zarrjava.v2.Group) group).metadata.attributes);
    }
    return attributes(group.metadata().attributes());
  }

  static JsonNode attributes(Attributes attributes) {
    return attributes == null ? JSON.createObjectNode() : JSON.valueToTree(attributes);
  }

  static Array create(StoreHandle place, JsonNode document) throws Exception {
    if (document.get("zarr_format").asInt() == 3) {
      ObjectMapper mapper = dev.zarr.zarrjava.v3.Node.makeObjectMapper();
      return dev.zarr.zarrjava.v3.Array.create(
          place, mapper.treeToValue(document, dev.zarr.zarrjava.v3.ArrayMetadata.class));
    }
    ObjectNode stored = document.deepCopy();
    JsonNode attributes = stored.remove("attributes");
    ObjectMapper mapper = dev.zarr.zarrjava.v2.Node.makeObjectMapper();
    dev.zarr.zarrjava.v2.Array made =
        dev.zarr.zarrjava.v2.Array.create(
            place, mapper.treeToValue(stored, dev.zarr.zarrjava.v2.ArrayMetadata.class));
    return attributes.isEmpty() ? made : made.setAttributes(JSON.treeToValue(attributes, Attributes.class));
  }

  static ObjectNode writeGroup(FilesystemStore store, JsonNode message) throws Exception {
    if (message.get("consolidated").asBoolean()) {
      throw new UnsupportedOperationException("writes no consolidated metadata");
    }
    for (var entry : message.get("nodes").properties()) {
      StoreHandle place = place(store, entry.getKey());
      JsonNode document = entry.getValue().get("document");
      if (document.has("shape")) {
        Array array = create(place, document);
        int[] shape = JSON.treeToValue(document.get("shape"), int[].class);
        write(array, new long[shape.length], shape, entry.getValue().get("values").asText());
      } else {
        Attributes attributes = JSON.treeToValue(document.get("attributes"), Attributes.class);
        if (document.get("zarr_format").asInt() == 3) dev.zarr.zarrjava.v3.Group.create(place, attributes);
        else dev.zarr.zarrjava.v2.Group.create(place, attributes);
      }
    }
    return JSON.createObjectNode();
  }

  static void readGroup(Group group, String path, ObjectNode nodes) throws Exception {
    nodes.putObject(path).set("attributes", attributes(group));
    for (Node node : group.listAsArray()) {
      String[] keys = ((dev.zarr.zarrjava.core.AbstractNode) node).storeHandle.toPath().toString().split("/");
      String below = (path.isEmpty() ? "" : path + "/") + keys[keys.length - 1];
      if (node instanceof Group) {
        readGroup((Group) node, below, nodes);
      } else {
        Array array = (Array) node;
        ObjectNode found = nodes.putObject(below);
        found.set("attributes", attributes(array));
        found.put("values", pack(array.read()));
      }
    }
  }
}
