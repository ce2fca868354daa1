"""The primitives of the library on arrays of the host or of a GPU: scan, sum, compact, expand, sort, deflate."""
from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy

from . import _native
from ._column import array_of
from ._columns import input_array

_WRAPPERS = {"raw": 0, "zlib": 1, "gzip": 2}
_FORMS = {"ends": 0, "starts": 1, "counts": 2}


def _stream(stream: Any) -> Optional[int]:
    """The number of a CUDA stream: of an int, of __cuda_stream__(), of a stream of torch or CuPy."""
    if stream is None or isinstance(stream, int):
        number = stream
    elif hasattr(stream, "__cuda_stream__"):
        number = int(stream.__cuda_stream__()[1])
    elif hasattr(stream, "cuda_stream"):  # torch
        number = int(stream.cuda_stream)
    elif hasattr(stream, "ptr"):  # CuPy
        number = int(stream.ptr)
    else:
        raise TypeError(f"stream: {type(stream).__name__} is no CUDA stream; pass an int, an object with "
                        "__cuda_stream__(), or a stream of torch or CuPy")
    if number is not None and number < 0:
        raise ValueError(f"stream={number}: numbers of streams are at least 0")
    return number


def _optional(array: Any) -> Any:
    return None if array is None else input_array(array)


def _call(kind: str, first: Any, backend: Optional[str], device: Optional[str], out: Any, stream: Any,
          *more: Any) -> Any:
    return _native.primitive(kind, input_array(first), backend, device, out, _stream(stream), more)


def _is_on_device(array: Any) -> bool:
    return hasattr(array, "__cuda_array_interface__") or (
        hasattr(array, "__dlpack_device__") and array.__dlpack_device__()[0] == 2)


def _result(made: Any, out: Any) -> Any:
    return array_of(made) if out is None else out


def scan(array: Any, *, inclusive: bool = False, backend: Optional[str] = None, device: Optional[str] = None,
         out: Any = None, stream: Any = None, n_on_device: Any = None) -> Any:
    """Prefix sums: result[i] = array[0] + ... + array[i - 1]. Integers are added modulo 2^32 or 2^64, and
    floating-point numbers in a stated order (primitives.h), so that the bits are the same everywhere.

    array      shape (n,), uint32, uint64, int32, int64, float32 or float64; of any library with the buffer protocol, DLPack or
               __cuda_array_interface__. An array in the memory of a GPU is used there, without a copy
    inclusive  add array[i] too
    backend    a name that `sluice list` prints; None: the fastest
    device     of an array of the host: None: the host; "emulated", "cuda" or "cuda:1": the array is copied
               there, and the sums back. Of an array of a GPU: None, or where it is
    out        array to write to, of the shape and type of array, and where array is; it may be array itself
    stream     of an array of a GPU: a CUDA stream (an int, an object with __cuda_stream__(), a stream of
               torch or CuPy): the work is queued on it, after the work that array and out depend on, and
               the call returns at once. None: the call returns when the result is complete
    n_on_device  array of one uint32 or uint64, where array is: only the first n_on_device[0] items are
               used, at most all; results after them are not written. On a GPU the number is read when the
               work is done, so it may be the result of earlier work of the stream, without a wait

    Returns out, or a new array; of a GPU, a Column, which torch.from_dlpack() and cupy.asarray() use without
    a copy. Other arrays must live until work that is queued on a stream is done. All backends give the same result. Raises Error.
    """
    return _result(_call("scan", array, backend, device, out, stream, inclusive, _optional(n_on_device), False), out)


def sum(array: Any, *, backend: Optional[str] = None, device: Optional[str] = None, out: Any = None,
        stream: Any = None) -> Any:
    """The sum of all items in the order of scan(), so that the bits are the same everywhere: a number of NumPy.

    array   shape (n,), float32 or float64; the sum has the same type. 0 without items
    out     array of one item of that type, where array is, to write to

    The other arguments are those of scan(). Returns the number, or out; of an array of a GPU, an array of one item
    there. The error is at most 127 roundings of the sum of the absolute values (primitives.h). Raises Error.
    """
    made = _result(_call("scan", array, backend, device, out, stream, True, None, True), out)
    return made[0] if out is None and isinstance(made, numpy.ndarray) else made


def compact(flags: Any, *, backend: Optional[str] = None, device: Optional[str] = None, out: Any = None,
            stream: Any = None, n_on_device: Any = None, n_out: Any = None) -> Any:
    """The indices i with flags[i] != 0 in ascending order, as uint32.

    flags   shape (n,), bool or uint8
    out     array of shape (n,), uint32, to write to; items after the indices have undefined contents
    n_out   array of one uint32, where flags is, to write the number of indices to

    The other arguments are those of scan(). Returns the part of out, or of a new array, that has the
    indices; so the call waits for their number. With n_out it does not, and returns the whole array: n_out is
    then n_on_device of the next call. Raises Error.
    """
    made, n = _call("compact", flags, backend, device, out, stream, _optional(n_on_device), n_out)
    return _result(made, out)[:n] if n_out is None else _result(made, out)


def expand(runs: Any, slots: Optional[int] = None, *, form: str = "counts", backend: Optional[str] = None,
           device: Optional[str] = None, out: Any = None, stream: Any = None) -> Any:
    """The index of the run that each slot is in, as uint32: numpy.repeat(numpy.arange(n), counts) of as many slots.

    runs   shape (n,), uint32, uint64, int32 or int64; at least one if there are slots
    slots  size of the result; None: n. Slots after the last run get n - 1
    form   "counts": the slots of each run; "ends" or "starts": their inclusive or exclusive sums, ascending
    out    array of shape (slots,), uint32, to write to

    The other arguments are those of scan(). Returns out, or a new array. Raises Error.
    """
    if form not in _FORMS:
        raise ValueError(f"form={form!r}: use 'counts', 'ends' or 'starts'")
    if slots is not None and not 0 <= slots < 2**32:
        raise ValueError(f"slots={slots}: 0 to 2^32 - 1 are allowed")
    runs = input_array(runs)
    if isinstance(runs, numpy.ndarray) and runs.dtype.kind == "i" and (runs < 0).any():
        raise ValueError("runs: has a negative number; counts and their sums are at least 0")
    slots = -1 if slots is None else slots
    return _result(_call("expand", runs, backend, device, out, stream, slots, _FORMS[form]), out)


def sort(keys: Any, values: Any = None, *, begin_bit: int = 0, end_bit: Optional[int] = None,
         backend: Optional[str] = None, device: Optional[str] = None, out: Any = None,
         stream: Any = None, n_on_device: Any = None, threads: int = 0) -> Any:
    """A stable radix sort: the keys in ascending order, and the values in the order of their keys.

    keys       shape (n,), uint32 or uint64
    values     None, or shape (n,) with items of 4 bytes, such as indices of type uint32
    begin_bit  keys are compared by the bits begin_bit to end_bit - 1; the default is all bits
    out        array like keys to write to; with values, a pair of arrays like keys and values
    threads    of the host, at most 64, such as os.cpu_count(); 0: the calling thread alone

    The other arguments are those of scan(). Returns keys, or (keys, values). The arguments are only
    read. Raises Error.
    """
    if end_bit is not None and end_bit < 0 or begin_bit < 0:
        raise ValueError("begin_bit and end_bit must be at least 0")
    if not 0 <= threads < 2**32:
        raise ValueError(f"threads={threads}: 0 to 2^32 - 1 are allowed")
    if values is not None and out is not None and not (isinstance(out, (tuple, list)) and len(out) == 2):
        raise ValueError("out: with values, a pair of arrays is needed: for the keys and for the values")
    pair: Tuple[Any, Any] = (out, None) if values is None else (None, None) if out is None else tuple(out)
    made = _call("sort", keys, backend, device, pair[0], stream, _optional(values), begin_bit,
                 -1 if end_bit is None else end_bit, pair[1], _optional(n_on_device), threads)
    if values is None:
        return _result(made[0], out)
    return tuple(_result(m, o) for m, o in zip(made, pair))


def deflate(data: Any, *, wrapper: str = "zlib", level: int = 1, backend: Optional[str] = None,
            device: Optional[str] = None, out: Any = None, stream: Any = None) -> Any:
    """The bytes of an array, compressed by DEFLATE; zlib.decompress() and others decompress them.

    data     bytes, or an array without gaps, of any shape and any type but Python objects
    wrapper  "zlib", "gzip" or "raw"
    level    1 (fastest) to 9 (smallest)
    out      array to write to, of any type of numbers, such as a bytearray; on a GPU, shape (n,), uint8

    The other arguments are those of scan(). Returns bytes, or the part of out that has them; of an array of a
    GPU, an array of it. The call always waits for the size. Backends differ in the bytes. Raises Error.
    """
    if wrapper not in _WRAPPERS:
        raise ValueError(f"wrapper={wrapper!r}: use 'zlib', 'gzip' or 'raw'")
    made = _call("deflate", data, backend, device, out, stream, _WRAPPERS[wrapper], level)
    if out is None:
        return made if isinstance(made, bytes) else array_of(made)
    return out[:made] if _is_on_device(out) else memoryview(out).cast("B")[:made]
