"""Names of users' own: codecs, data types, chunk grids, chunk key encodings, stores and storage transformers.

An installed package needs none of these functions: its entry points have the names, and it is imported when one is met.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from blizzarr.codecs import CATALOGUE, Codec
from blizzarr.codecs.chain import forget as forget_chains
from blizzarr.dtypes import DataType, table
from blizzarr.formats.v3 import forget as forget_documents
from blizzarr.model import ChunkGrid
from blizzarr.model.chunk_grid import CHUNK_GRIDS
from blizzarr.open_table import OpenTable
from blizzarr.stores import urls

if TYPE_CHECKING:
    # Imported on demand, as few programs use them.
    from blizzarr.transformers import ChunkKeyEncoding, StorageTransformer

C = TypeVar("C", bound=type[Any])
G = TypeVar("G", bound=type[ChunkGrid])
K = TypeVar("K", bound="type[ChunkKeyEncoding]")
S = TypeVar("S", bound="type[StorageTransformer]")


def register_codec(codec: C, name: str | None = None) -> C:
    """Make a codec known by its name, in documents of v3 and as an argument. Can be used as a decorator.

    An installed package registers its codecs without this function, by entry points of the group ``blizzarr.codecs``:
    an entry point has the name of a codec, and refers to its class. Codecs that packages register with zarr-python, or
    with numcodecs, are known already.

    Parameters
    ----------
    codec
        A class that derives from `blizzarr.codecs.ArrayArrayCodec`, `ArrayBytesCodec` or `BytesBytesCodec`; or a class
        of zarr-python's codecs.
    name
        The name of a codec of zarr-python; those of this library have one.

    Raises
    ------
    TypeError
        It is no class of codecs, or has no name; or its options cannot be fields.
    ValueError
        Another codec has the name.

    Examples
    --------
    >>> import blizzarr, zlib
    >>> @blizzarr.register_codec
    ... class Deflate(blizzarr.codecs.BytesBytesCodec):
    ...     name = "example.deflate"
    ...     def encode(self, decoded): return zlib.compress(decoded)
    ...     def decode(self, encoded, max_size): return zlib.decompress(encoded)
    >>> array = blizzarr.create_array({}, data=range(100), compressors="example.deflate")
    >>> int(array[:].sum())
    4950
    """
    made: Any = codec
    if isinstance(codec, type) and not issubclass(codec, Codec) and name is not None:
        from blizzarr.codecs.zarr_python import adapted

        made = adapted(name, codec)
    if not isinstance(made, type) or not issubclass(made, Codec) or not hasattr(made, "stage"):
        bases = "ArrayArrayCodec, ArrayBytesCodec or BytesBytesCodec of blizzarr.codecs"
        raise TypeError(
            f"expected a class that derives from {bases}, or one of zarr-python and a name; found {codec!r}"
        )
    _ = made.options  # which raises if the names of options cannot be used
    _add(CATALOGUE, getattr(made, "name", None), made)
    return codec


def register_data_type(name: str, dtype: Any) -> None:
    """Make a data type known by its name, in documents of v3 and as an argument.

    An installed package has an entry point of the group ``blizzarr.data_types`` in place of a call, with the name, and
    what is `dtype` here.

    Parameters
    ----------
    name
        The name in documents.
    dtype
        The data type of the elements in memory: a data type of this library or of NumPy; or a function that returns one
        for the options of a document, which it takes as keywords. Fill values are spelled as those of that data type. A
        class that derives from `blizzarr.dtypes.DataType` can spell them in another way.

    Raises
    ------
    ValueError
        Another data type has the name.
    MetadataError
        No data type of this library has such elements.

    Examples
    --------
    >>> import blizzarr
    >>> blizzarr.register_data_type("example.millivolt", "int16")
    >>> store = {}
    >>> array = blizzarr.create_array(store, data=[-70, 30], dtype="example.millivolt")
    >>> blizzarr.open(store).metadata.dtype, array.dtype
    (DataType('example.millivolt'), dtype('int16'))
    """
    table.check_free(name)
    is_function = callable(dtype) and not isinstance(dtype, type | DataType)
    _add(table.OWN, name, dtype if is_function else table.own(name, dtype))


def register_chunk_grid(grid: G) -> G:
    """Make a chunk grid known by its name in documents of v3. Can be used as a decorator.

    An installed package has an entry point of the group ``blizzarr.chunk_grids`` in place of a call.

    Parameters
    ----------
    grid
        A class that derives from `blizzarr.model.ChunkGrid`.

    Raises
    ------
    TypeError
        It is no such class, or has no name.
    ValueError
        Another chunk grid has the name.

    Examples
    --------
    >>> import blizzarr
    >>> from blizzarr.model import RegularGrid
    >>> @blizzarr.register_chunk_grid
    ... class Tiles(RegularGrid):
    ...     name = "example.tiles"
    >>> blizzarr.register_chunk_grid(RegularGrid) is RegularGrid
    True
    """
    _check_class(grid, ChunkGrid, "blizzarr.model")
    _add(CHUNK_GRIDS, getattr(grid, "name", None), grid)
    return grid


def register_chunk_key_encoding(encoding: K) -> K:
    """Make a chunk key encoding known by its name in documents of v3. Can be used as a decorator.

    An installed package has an entry point of the group ``blizzarr.chunk_key_encodings`` in place of a call.

    Parameters
    ----------
    encoding
        A class that derives from `blizzarr.transformers.ChunkKeyEncoding`, where there is an example.

    Raises
    ------
    TypeError
        It is no such class, or has no name.
    ValueError
        Another chunk key encoding has the name.

    Examples
    --------
    >>> import blizzarr
    >>> blizzarr.register_chunk_key_encoding(str)
    Traceback (most recent call last):
    ...
    TypeError: expected a class that derives from blizzarr.transformers.ChunkKeyEncoding, found <class 'str'>
    """
    from blizzarr.transformers import KEY_ENCODINGS, ChunkKeyEncoding

    _check_class(encoding, ChunkKeyEncoding, "blizzarr.transformers")
    name = getattr(encoding, "name", None)
    if name in ("default", "v2"):
        raise ValueError(f"expected a name that no chunk key encoding has, found {name!r}; choose another")
    _add(KEY_ENCODINGS, name, encoding)
    return encoding


def register_store(scheme: str, make: Callable[[str], Any]) -> None:
    """Make URLs of a scheme known, wherever a store is given by its path or URL.

    An installed package has an entry point of the group ``blizzarr.stores`` in place of a call, with the name of the
    scheme.

    Parameters
    ----------
    scheme
        What is before ``://``, in small letters.
    make
        A function that returns the store of a URL: any object that is a store for this library, such as one with the
        methods of `blizzarr.stores.Store`, or a mapping.

    Raises
    ------
    TypeError
        The scheme is no text, or `make` is no function.
    ValueError
        Another store has the scheme.

    Examples
    --------
    >>> import blizzarr
    >>> drawers = {}
    >>> blizzarr.register_store("drawer", lambda url: drawers.setdefault(url.removeprefix("drawer://"), {}))
    >>> _ = blizzarr.create_array("drawer://left", data=[1, 2])
    >>> blizzarr.open("drawer://left")[:].tolist(), list(drawers)
    ([1, 2], ['left'])
    """
    if not callable(make):
        raise TypeError(f"expected a function that returns the store of a URL, found {make!r}")
    if scheme in urls.BUILT_IN or (isinstance(scheme, str) and scheme != scheme.lower()):
        raise ValueError(f"expected a scheme in small letters that no store has, found {scheme!r}; choose another")
    _add(urls.OWN, scheme, make)


def register_storage_transformer(transformer: S) -> S:
    """Make a storage transformer known by its name and its URI. Can be used as a decorator.

    An installed package has entry points of the group ``blizzarr.storage_transformers`` in place of a call: one with
    the name, and, for documents of the draft of v3, one with the URI.

    Parameters
    ----------
    transformer
        A class that derives from `blizzarr.transformers.StorageTransformer`; ``docs/storage-transformers.md`` has an
        example.

    Raises
    ------
    TypeError
        It lacks a name or a URI.
    ValueError
        Another storage transformer has the name or the URI.

    Examples
    --------
    >>> import blizzarr
    >>> from blizzarr.transformers import HashedTransformer
    >>> blizzarr.register_storage_transformer(HashedTransformer)
    <class 'blizzarr.transformers.hashed.HashedTransformer'>
    """
    from blizzarr.transformers import register

    register(transformer)
    forget_documents()
    return transformer


def _check_class(given: object, base: type, package: str) -> None:
    if not isinstance(given, type) or not issubclass(given, base):
        raise TypeError(f"expected a class that derives from {package}.{base.__name__}, found {given!r}")


def _add(rows: OpenTable[Any], name: Any, value: Any) -> None:
    rows.register(name, value)
    # A class that is defined anew replaces the old one in arrays that are opened from now on.
    forget_chains()
    forget_documents()
