"""Columns: arrays in memory of the library."""
from __future__ import annotations

import operator
import struct
from typing import Any, Dict, Iterable, List, Optional, Tuple

import numpy

from . import _native


class Column:
    """An array in memory of the library, shared without a copy.

    Of the host, it is a numpy.ndarray. In the memory of a GPU, torch.from_dlpack(column) and
    cupy.asarray(column) use it there, and to_host() copies it.

    name    of the column, '' without one
    unit    of its values, '' without one
    device  where the memory is: 'cpu' or 'cuda:0'
    """

    name = unit = ""
    device = "cpu"
    dtype: Any
    shape: Tuple[int, ...]
    nbytes: int
    _memory: Any = None  # of a device, also the emulated one

    @property
    def typestr(self) -> str:
        """The type of an item, as in NumPy: '<f4'."""
        kind: str = self.dtype.str
        return kind

    def to_host(self) -> "Column":
        """The column, or a copy of it in memory of the host."""
        return self

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        """The type and the memory as capsules of Arrow, without a copy. Needs pyarrow."""
        return self.__arrow_c_schema__(), arrow_column(self).__arrow_c_array__()[1]

    def __arrow_c_schema__(self) -> Any:
        """The name, the type and the unit as a capsule of Arrow."""
        return arrow_schema([(self.name, self.typestr, self.unit)]).field(0).__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<sluice.Column {self.name} {self.typestr[1:]} shape={self.shape}>"


class HostColumn(Column, numpy.ndarray):
    """A column in memory of the host."""

    def __array_finalize__(self, source: Any) -> None:
        self.name, self.unit = getattr(source, "name", ""), getattr(source, "unit", "")
        self._memory = getattr(source, "_memory", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return numpy.asarray(array)[()]  # what is computed of a column is none

    def __reduce__(self) -> Any:
        return labelled, (numpy.array(self), self.name, self.unit)

    @property
    def _place(self) -> Any:
        """Of a column of the emulated device."""
        if self._memory is None or not self.flags.c_contiguous:
            return None
        address, nbytes, _, _ = self._memory.facts
        offset = self.ctypes.data - address
        within = 0 <= offset and offset + self.nbytes <= nbytes  # it is no copy
        return (self._memory, offset, ord(self.dtype.kind), self.itemsize, self.size) if within else None


class DeviceColumn(Column):
    """A column in the memory of a GPU."""

    def __init__(self, memory: Any, offset: int, dtype: Any, n: int, name: str, unit: str):
        self._memory, self._offset, self.dtype, self.shape = memory, offset, dtype, (n,)
        self.name, self.unit = name, unit
        self.nbytes = n * dtype.itemsize
        self._place = (memory, offset, ord(dtype.kind), dtype.itemsize, n)

    @property
    def device(self) -> str:  # type: ignore[override]
        return f"cuda:{self._memory.facts[2]}"

    def to_host(self) -> Column:
        return make(self._memory.read(self._offset, self.nbytes), 0, self.dtype, self.shape, self.name, self.unit)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError(f"the column is in the memory of device {self._memory.facts[2]}, which the host cannot read; copy "
                        "it with to_host(), or use it there (torch.from_dlpack, cupy.asarray)")

    __array__ = __reduce__ = __iter__ = tolist = _refuse

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Column:
        if not isinstance(key, slice):
            self._refuse()
        begin, end, step = key.indices(len(self))
        if step != 1:
            raise ValueError("a slice of a column of a device has step 1")
        return DeviceColumn(self._memory, self._offset + begin * self.dtype.itemsize, self.dtype, max(end - begin, 0),
                            self.name, self.unit)

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        """The interface of CUDA arrays, version 3."""
        address = self._memory.facts[0] + self._offset if len(self) > 0 else 0
        return {"shape": self.shape, "typestr": self.typestr, "data": (address, False), "strides": None,
                "stream": self._memory.stream(), "version": 3}

    def __dlpack_device__(self) -> Tuple[int, int]:
        return 2, self._memory.facts[2]

    def __dlpack__(self, *, stream: Optional[int] = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        if dl_device in (None, self.__dlpack_device__()) and not copy:
            if stream is not None and (stream == 0 or stream < -1):
                raise ValueError("stream: 0 and numbers below -1 are no streams of DLPack; use 1 for the legacy default "
                                 "stream")
            return _native.dlpack(self._place, 1 if stream is None else stream, max_version[0] if max_version else 0)
        if dl_device is not None and dl_device[0] == 1 and copy is not False:
            host: Any = self.to_host()
            return host.__dlpack__(max_version=max_version)
        raise BufferError("a column of a device is exported there without a copy, or as a copy on the CPU")


def make(memory: Any, offset: int, dtype: Any, shape: Tuple[int, ...], name: str, unit: str) -> Column:
    """A column of that type and shape; the library calls this."""
    _, _, device, readable = memory.facts
    if not readable:
        return DeviceColumn(memory, offset, numpy.dtype(dtype), shape[0], name, unit)
    made = HostColumn(shape, dtype, memory, offset)
    made.name, made.unit = name, unit
    if device is not None:
        made._memory = memory
    return made


def labelled(array: Any, name: str, unit: str) -> HostColumn:
    """An array of the host as a column."""
    made = array.view(HostColumn)
    made.name, made.unit = name, unit
    return made  # type: ignore[no-any-return]


def concat(columns: List[Any]) -> Column:
    """One column with the items of all, which have one name and type."""
    first = columns[0]
    if len({column.device for column in columns}) > 1:
        raise ValueError("the batches are in the memory of several devices, so they cannot be one array; take them one by "
                         "one (survivors.batches())")
    if first.device == "cpu":
        return labelled(numpy.concatenate([numpy.asarray(column) for column in columns]), first.name, first.unit)
    memory = _native.concat(tuple(column._place for column in columns))
    return make(memory, 0, first.dtype, (sum(map(len, columns)),), first.name, first.unit)


def array_of(column: Any) -> Any:
    """The column as an array of NumPy that uses the same memory; what is in the memory of a device stays what it is."""
    if hasattr(column, "__dlpack_device__") and column.__dlpack_device__()[0] == 2:
        return column
    return numpy.asarray(column)


# --- Arrow, by pyarrow -----------------------------------------------------------------------------

def arrow_column(column: Any) -> Any:
    """A column as an array of pyarrow that uses the same memory."""
    array = numpy.asarray(column)
    import pyarrow  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return pyarrow.array(array)


def arrow_schema(fields: List[Tuple[str, str, str]]) -> Any:
    """The schema of columns, by name, type and unit, which is metadata."""
    import pyarrow
    return pyarrow.schema([pyarrow.field(name, pyarrow.from_numpy_dtype(numpy.dtype(dtype)),
                                         metadata={"unit": unit} if unit else None) for name, dtype, unit in fields])


def arrow_stream(fields: List[Tuple[str, str, str]], tables: Iterable[Any]) -> Any:
    """The columns of tables as a stream of record batches."""
    import pyarrow
    batches = (arrow_batch(fields, columns) for columns in tables)
    return pyarrow.RecordBatchReader.from_batches(arrow_schema(fields), batches).__arrow_c_stream__()


def arrow_batch(fields: List[Tuple[str, str, str]], columns: Any) -> Any:
    """Columns of one length as a record batch of pyarrow that uses the same memory."""
    arrays = [arrow_column(columns[name]) for name, _, _ in fields]
    import pyarrow
    return pyarrow.record_batch(arrays, schema=arrow_schema(fields))


def cuda_array(array: Any) -> Any:
    """What __cuda_array_interface__ says, for the library; None if it describes no array."""
    try:
        members = dict(array.__cuda_array_interface__)
        order, kind, size = members["typestr"]
        address, read_only = members["data"]
        shape, strides, stream = members["shape"], members.get("strides"), members.get("stream")
        if order == ">" or kind not in "fiub" or members.get("mask") is not None or not isinstance(shape, tuple) or \
                (strides is not None and len(strides) != len(shape)) or (stream is not None and stream < 0):
            return None
        packed = [None if n is None else struct.pack(f"{len(n)}q", *map(operator.index, n)) for n in (shape, strides)]
        return (operator.index(address), bool(read_only), ord(kind), int(size), *packed, -1 if stream is None else stream)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError, struct.error):
        return None


_native.bind(Column, make, cuda_array)
