"""Survivors as columns: batches, files, and all batches of a run as one lazy mapping."""
from __future__ import annotations

import html
import os
import struct
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple

import numpy

from . import _native
from ._column import Column, arrow_batch, arrow_schema, arrow_stream, array_of, concat

Array = numpy.ndarray[Any, numpy.dtype[Any]]


def _check_mask(value: Any) -> None:
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value):
        raise ValueError("the array has masked items, whose mask would be lost; use compressed() or filled() of it")


def input_array(value: Any) -> Any:
    """An array that the library can read: objects without the buffer protocol and DLPack become NumPy's."""
    _check_mask(value)
    if isinstance(value, (Column, int, float)) or hasattr(value, "__dlpack__") or \
            hasattr(value, "__cuda_array_interface__"):
        return value
    try:
        memoryview(value)
        return value
    except TypeError:  # lists, pandas.Series
        return numpy.asarray(value)


def host_array(value: Any) -> Any:
    """An array of any library in memory of the host, a number or a list as an array of NumPy."""
    _check_mask(value)
    by_dlpack = hasattr(value, "__dlpack__") and not hasattr(value, "__array__")
    return numpy.from_dlpack(value) if by_dlpack else numpy.asarray(value)


Field = Tuple[str, str, str]
_FACTS = {name: (name, numpy.dtype(dtype).str, unit) for name, dtype, unit, _ in _native.column_facts()}


def _field(name: str, column: Any) -> Field:
    """Name, type and unit of a column."""
    dtype = getattr(column, "dtype", type(column).__name__)
    return name, getattr(dtype, "str", str(dtype)), getattr(column, "unit", "")


class Header:
    """What the header of an MCPL list says besides its columns.

    source    the program that wrote the list
    comments  texts, with those of statistics
    stat_sum  key -> value of the comments stat:sum:KEY:VALUE, such as simulated particles; -1: unknown
    blobs     name -> bytes
    pdg       the PDG code that the header states for all particles; 0: each has its own
    weight    the same for the weight
    """

    def __init__(self, data: bytes):
        self._data = data
        n, blobs = struct.unpack_from("<II", data, 16)
        self.pdg, _, weighs = struct.unpack_from("<iII", data, 36)
        self.weight = struct.unpack_from("<d", data, 48)[0] if weighs else 0.0
        at, strings = 56 if weighs else 48, []
        for _ in range(1 + n + 2 * blobs):
            begin = at + 4
            at = begin + struct.unpack_from("<I", data, at)[0]
            strings.append(data[begin:at])
        self.source, *self.comments = [text.decode("utf-8", "replace") for text in strings[:1 + n]]
        self.blobs = dict(zip([name.decode("utf-8", "replace") for name in strings[1 + n:]], strings[1 + n + blobs:]))
        sums = [comment.split(":") for comment in self.comments if comment.startswith("stat:sum:")]
        self.stat_sum: Dict[str, float] = {parts[2]: float(parts[3]) for parts in sums if len(parts) == 4}

    @classmethod
    def of_run(cls, version: str, generated: int) -> "Header":
        """That of a list of the survivors of a run."""
        text = [f"Sluice {version}", f"stat:sum:sluice_generated:{generated:24d}"]
        return cls(b"MCPL003L" + struct.pack("<QIIIIIiII", 0, 1, 0, 0, 0, 1, 0, 36, 0) +
                   b"".join(struct.pack("<I", len(t)) + t.encode() for t in text))

    def __repr__(self) -> str:
        return f"<Header of {self.source}: {len(self.comments)} comments, {len(self.blobs)} blobs, {self.stat_sum}>"


def missing_column(name: object, names: Iterable[str]) -> KeyError:
    """The exception for a name that no column has."""
    return KeyError(f"there is no column {name!r}; use {', '.join(names) or 'a run that keeps survivors: these results have none'}")


def html_table(title: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table for notebooks."""
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><caption>{html.escape(title)}</caption><tr>{head}</tr>{body}</table>"


class _Names:
    """The methods of a mapping that need its names only."""

    _names: Any

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class FileColumns(_Names, Mapping[str, Column]):
    """The columns of a file, of which each is read when it is used first; the third reads all, as all may follow."""

    def __init__(self, path: str, names: List[str]):
        self._path, self._names = path, names
        self._read: Dict[str, Column] = {}

    def _load(self, names: List[str]) -> None:
        missing = [name for name in names if name not in self._read]
        if missing:
            self._read.update(_native.read(self._path, ",".join(missing), True)[1])

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._read:
            self._load([name] if len(self._read) < 2 else self._names)
        return self._read[name]

    def __setitem__(self, name: str, column: Column) -> None:
        self._read[name] = column

    def values(self) -> Any:
        self._load(self._names)  # at once
        return super().values()

    def __reduce__(self) -> Tuple[Any, ...]:  # the file can be gone when a pickle is read
        return dict, (dict(zip(self._names, self.values())),)


class _Arrays(_Names, Mapping[str, Array]):
    """What Table and Survivors have in common."""

    def column(self, name: str) -> Column:
        """The Column of that name, with its unit."""
        raise NotImplementedError

    def _fields(self) -> List[Field]:
        raise NotImplementedError

    def __getitem__(self, name: str) -> Array:
        made: Array = array_of(self.column(name))
        return made

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """NumPy and pandas would make an array of the names."""
        raise TypeError(f"{type(self).__name__} is a mapping of columns, no array: take one column, table['x'], or "
                        "pandas.DataFrame(dict(table))")

    def __arrow_c_schema__(self) -> Any:
        return arrow_schema(self._fields()).__arrow_c_schema__()

    def _html(self, title: str) -> str:
        """The columns with their units, for notebooks."""
        return html_table(title, ("column", "type", "unit"),
                          [(name, kind[1:], unit) for name, kind, unit in self._fields()])


class Table(_Arrays):
    """Columns of n particles: a mapping from names to arrays of shape (n,).

    With pyarrow installed, it exports the Arrow PyCapsule interface, so that pyarrow.table(t), polars.DataFrame(t)
    and others use the same memory; the fields have the metadata "unit".

    table["x"] is a numpy.ndarray, and column("x") the Column, which has a unit. Neither copies: the arrays use the
    memory of the table, which lives as long as any of them. Columns in the memory of a device are always Columns:
    torch.from_dlpack(table["x"]), cupy.asarray(table["x"]).
    """

    header: Optional[Header] = None
    """Of the MCPL list that the particles are from."""
    _columns: Any

    def __init__(self, n: int, columns: Mapping[str, Column]):
        self.n = n
        """The number of particles."""
        self._columns = self._names = columns

    def column(self, name: str) -> Column:
        """The Column of that name, with its unit."""
        if name not in self._columns:
            raise missing_column(name, self._columns)
        column: Column = self._columns[name]
        return column

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all columns."""
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]
        return pandas.DataFrame(dict(self))

    def _fields(self) -> List[Field]:
        return [_field(name, column) for name, column in self._columns.items()]

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        pair: Tuple[Any, Any] = arrow_batch(self._fields(), self._columns).__arrow_c_array__()
        return pair

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow_stream(self._fields(), [self._columns])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.n} particles: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        return self._html(f"{type(self).__name__} of {self.n} particles")


class ParticleList(Table):
    """The columns of a file.

    rounded  True if its numbers have 8 bytes and were rounded to 4
    header   its Header, if it is a list
    """

    def __init__(self, n: int, columns: Dict[str, Column], rounded: bool, header: Optional[bytes] = None):
        super().__init__(n, columns)
        self.rounded = rounded
        self.header = None if header is None else Header(header)


class Batch(Table):
    """The survivors of one batch, in the order of the key.

    number      of the batch, from 0
    first_id    the id of its first particle
    generated   particles of the batch, survivors or not
    digests     of the columns, as in run.json: 16 hexadecimal digits
    """

    def __init__(self, number: int, first_id: int, generated: int, n: int,
                 columns: Mapping[str, Column], digests: Dict[str, str]):
        super().__init__(n, columns)
        self.number = number
        self.first_id = first_id
        self.generated = generated
        self.digests = digests


class Source(NamedTuple):
    """A committed batch whose columns are in memory, or in a file."""

    n: int
    load: Callable[[], Batch]


class Survivors(_Arrays):
    """All survivors of a run: a mapping from names to arrays of shape (n,), in the order of batches.

    With pyarrow installed, it exports the Arrow PyCapsule interface as a stream of batches: pyarrow.table(s),
    polars.DataFrame(s).

    survivors["x"] joins the batches at its first use and keeps the result. Of a directory, only the columns
    that are used are read; batches() goes through a large run batch by batch and keeps nothing.
    """

    def __init__(self, names: List[str], sources: List[Source], header: Optional[Header] = None):
        self.header = header
        """That of a list of the survivors: generated particles, comments and blobs of the lists that were read."""
        self._names = names
        self._sources = sources
        self._joined: Dict[str, Column] = {}
        self.n = sum(s.n for s in sources)
        """The number of survivors."""

    def batches(self) -> Iterator[Batch]:
        """The batches in order. Those of a directory read each column when it is used first."""
        for s in self._sources:
            yield s.load()

    def column(self, name: str) -> Column:
        """The Column of all survivors."""
        if name not in self._names:
            raise missing_column(name, self._names)
        if name not in self._joined:
            self._joined[name] = self._join(name, list(self.batches()))
        return self._joined[name]

    @staticmethod
    def _join(name: str, batches: List[Batch]) -> Column:
        """Joins the column; the batches get views of the result, so that it is not kept twice."""
        if len(batches) == 1:
            return batches[0].column(name)
        whole = concat([b.column(name) for b in batches])
        at = 0
        for b in batches:
            b._columns[name] = whole[at:at + b.n]
            at += b.n
        return whole

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all columns of all batches."""
        import pandas
        return pandas.concat([b.to_pandas() for b in self.batches()], ignore_index=True)

    def _fields(self) -> List[Field]:
        first: Any = next(self.batches(), {})  # knows the units of columns that the configuration defines
        return [_FACTS[name] if name in _FACTS else _field(name, first.column(name)) for name in self._names]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return arrow_stream(self._fields(), (b._columns for b in self.batches()))

    def __getstate__(self) -> Dict[str, Any]:
        return {**self.__dict__, "_joined": {}}  # the sources have all columns

    def __repr__(self) -> str:
        return f"<Survivors: {self.n} in {len(self._sources)} batches: {', '.join(self._names)}>"

    def _repr_html_(self) -> str:
        return self._html(f"{self.n} survivors in {len(self._sources)} batches")


FIELDS = ("x", "y", "z", "u", "v", "w", "energy", "time", "weight", "pdg", "userflags", "pol_x", "pol_y", "pol_z")
"""The columns of lists of particles."""


def is_table(value: Any) -> bool:
    """Whether columns_of() makes columns of particles of it."""
    if isinstance(value, Mapping):
        return isinstance(value, (Table, Survivors)) or "x" in value
    return any(hasattr(value, name) for name in ("columns", "survivors")) or _names(value) is not None


def _names(value: Any) -> Any:
    """Those of an array of records."""
    return getattr(getattr(value, "dtype", None), "names", None)


def columns_of(columns: Any) -> Mapping[str, Any]:
    """A mapping of columns: also of a run, of a table of polars or pandas, and of an array of records."""
    if isinstance(columns, Mapping):
        return columns
    if isinstance(columns, (str, os.PathLike)):
        raise TypeError(f"{os.fspath(columns)!r} is the name of a file; use read() for its columns")
    names = columns.columns if hasattr(columns, "columns") else _names(columns)
    if names is not None:
        return {str(name): columns[name] for name in names}
    if hasattr(columns, "survivors"):
        survivors: Survivors = columns.survivors
        return survivors
    raise TypeError(f"{type(columns).__name__} is no mapping from names to arrays, no array of records, and no table of "
                    "polars or pandas")
