"""The primitives of the library on arrays in memory of the host: scan, compact, sort, deflate."""
from __future__ import annotations

from typing import Any, Optional, Tuple, Union

from . import _native
from ._columns import array_of, input_array

_WRAPPERS = {"raw": 0, "zlib": 1, "gzip": 2}


def _refuse_stream(stream: Any) -> None:
    if stream is not None:
        raise ValueError("stream: arrays in memory of the host have no stream; pass None")


def _result(made: Any, out: Any) -> Any:
    return array_of(made) if out is None else out


def scan(array: Any, *, inclusive: bool = False, backend: Optional[str] = None, device: Optional[str] = None,
         out: Any = None, stream: None = None) -> Any:
    """Prefix sums, modulo 2^32 or 2^64: result[i] = array[0] + ... + array[i - 1].

    array      shape (n,), uint32, uint64, int32 or int64; of any library with the buffer protocol or DLPack
    inclusive  add array[i] too
    backend    a name that `sluice list` prints; None: the fastest
    device     None: the host; "emulated", "cuda" or "cuda:1": the array is copied there, and the sums back
    out        array to write to, of the shape and type of array; it may be array itself
    stream     None: the arrays are in memory of the host

    Returns out, or a new array. All backends give the same result. Raises Error.
    """
    _refuse_stream(stream)
    return _result(_native.scan(input_array(array), inclusive, backend, device, out), out)


def compact(flags: Any, *, backend: Optional[str] = None, device: Optional[str] = None, out: Any = None,
            stream: None = None) -> Any:
    """The indices i with flags[i] != 0 in ascending order, as uint32.

    flags   shape (n,), bool or uint8
    out     array of shape (n,), uint32, to write to; items after the indices have undefined contents

    The other arguments are those of scan(). Returns the part of out, or of a new array, that has the
    indices. Raises Error.
    """
    _refuse_stream(stream)
    made, n = _native.compact(input_array(flags), backend, device, out)
    return _result(made, out)[:n]


def sort(keys: Any, values: Any = None, *, begin_bit: int = 0, end_bit: Optional[int] = None,
         backend: Optional[str] = None, device: Optional[str] = None, out: Any = None,
         stream: None = None) -> Any:
    """A stable radix sort: the keys in ascending order, and the values in the order of their keys.

    keys       shape (n,), uint32 or uint64
    values     None, or shape (n,) with items of 4 bytes, such as indices of type uint32
    begin_bit  keys are compared by the bits begin_bit to end_bit - 1; the default is all bits
    out        array like keys to write to; with values, a pair of arrays like keys and values

    The other arguments are those of scan(). Returns keys, or (keys, values). The arguments are only
    read. Raises Error.
    """
    _refuse_stream(stream)
    if end_bit is not None and end_bit < 0 or begin_bit < 0:
        raise ValueError("begin_bit and end_bit must be at least 0")
    pair: Tuple[Any, Any] = (out, None) if values is None else (None, None) if out is None else tuple(out)
    made = _native.sort(input_array(keys), None if values is None else input_array(values), begin_bit,
                        -1 if end_bit is None else end_bit, backend, device, pair[0], pair[1])
    if values is None:
        return _result(made[0], out)
    return tuple(_result(m, o) for m, o in zip(made, pair))


def deflate(data: Any, *, wrapper: str = "zlib", level: int = 1, backend: Optional[str] = None,
            device: Optional[str] = None, out: Any = None, stream: None = None) -> Union[bytes, memoryview]:
    """The bytes of an array, compressed by DEFLATE; zlib.decompress() and others decompress them.

    data     bytes, or an array of any shape and type without gaps
    wrapper  "zlib", "gzip" or "raw"
    level    1 (fastest) to 9 (smallest)
    out      array to write to, of any type, such as a bytearray

    The other arguments are those of scan(). Returns bytes, or the part of out that has them. Backends
    differ in the bytes. Raises Error.
    """
    _refuse_stream(stream)
    if wrapper not in _WRAPPERS:
        raise ValueError(f"wrapper={wrapper!r}: use 'zlib', 'gzip' or 'raw'")
    made = _native.deflate(input_array(data), _WRAPPERS[wrapper], level, backend, device, out)
    return made if out is None else memoryview(out).cast("B")[:made]
