"""Particle lists from arrays: write_mcpl() and filter()."""
from __future__ import annotations

import itertools
import os
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _config, _native
from ._column import Column, array_of, labelled
from ._columns import FIELDS, Header, Table, columns_of, host_array, input_array
from ._run import Run

Columns = Mapping[str, Any]


def _has_doubles(value: Any) -> bool:
    """Whether an array has items of 8 bytes that are real numbers."""
    try:
        return memoryview(value).format in ("d", "<d", "=d", "@d")
    except TypeError:  # DLPack only; str(torch.float64) is "torch.float64"
        return str(getattr(value, "dtype", "")).endswith("float64")


def _fields(columns: Columns, values: Mapping[str, Any]) -> Dict[str, Any]:
    """The arrays of an MCPL file by the names of its fields."""
    fields = {name: columns[name] for name in FIELDS if name in columns and name not in values}
    for name, value in values.items():
        if name not in FIELDS:
            raise TypeError(f"write_mcpl() has no argument {name!r}; fields of a list are {', '.join(FIELDS)}")
        if isinstance(value, str):
            if value not in columns:
                raise KeyError(f"{name}={value!r}: columns has no such name")
            value = columns[value]
        fields[name] = value
    return {name: input_array(value) for name, value in fields.items()}


def _headers(header: Any) -> Tuple[Header, ...]:
    """The headers; columns without one have none."""
    header = header.survivors if isinstance(header, Run) else header
    found = header if isinstance(header, Header) else getattr(header, "header", None)
    if isinstance(found, Header):
        return (found,)
    if header is None or isinstance(header, Mapping):
        return ()
    if isinstance(header, (str, bytes)):
        raise TypeError("header: use what read() returns, or its header")
    return tuple(itertools.chain.from_iterable(map(_headers, header)))


def _state(fields: Dict[str, Any], headers: Sequence[Header]) -> None:
    """Makes a number of a PDG code or weight that all headers state while all items have it; one array stays."""
    for name in ("pdg", "weight"):
        array, stated = array_of(fields.get(name)), {getattr(header, name) for header in headers}
        if len(stated) == 1 and stated != {0} and isinstance(array, numpy.ndarray) and array.ndim == 1 and \
                sum(not isinstance(value, (int, float)) for value in fields.values()) > 1:
            number = stated.pop()
            item = numpy.float32(number) if array.dtype == "f4" else number
            if array.size and array[0] == item and (array == item).all():
                fields[name] = number


def write_mcpl(path: Union[str, "os.PathLike[str]"], columns: Columns, *,
               comment: Union[str, Iterable[str]] = (), precision: str = "auto", force: bool = False,
               header: Any = None, **values: Any) -> None:
    """Writes columns as an MCPL 3 file, .mcpl or .mcpl.gz.

    path       of the file; its name must end with .mcpl or .mcpl.gz
    columns    name -> array of shape (n,): x y z in cm, u v w direction cosines, energy in keV, time in ns,
               weight, pdg; optional: userflags, and pol_x pol_y pol_z. Arrays of NumPy or of any library
               with the buffer protocol or DLPack; results of run(), read() and filter(), tables of polars or
               pandas. Columns with
               other names are not written.
    comment    a text or several texts for the header
    precision  "single" or "double": 4 or 8 bytes per number; "auto": double if an array has float64
    force      replace an existing file
    header     whose comments, blobs and statistics the file takes over: a Header, what has one (the result of
               read(), filter() or run().survivors), or a list of these, whose statistics are added; () for
               none. None: that of columns. Statistics stay as they are if particles were removed. The PDG code
               that it states for all particles is that of columns without pdg
    values     a number for all particles, or the name of another column: pdg=22, time=0.0, userflags="id"

    Energies must be at least 0, directions must have length 1, and all numbers must be finite. The file
    gets its name when it is complete; after an error there is no new file. Raises Error.
    """
    if precision not in ("auto", "single", "double"):
        raise ValueError(f"precision={precision!r}: use 'auto', 'single' or 'double'")
    columns = columns_of(columns)
    found = columns if header is None else header
    stated = getattr(getattr(found, "header", found), "pdg", 0)  # lists of Sluice's runs state it in the header alone
    if stated and "pdg" not in columns:
        values.setdefault("pdg", stated)
    fields = _fields(columns, values)
    real = [v for name, v in fields.items() if not isinstance(v, (int, float))]
    single = precision == "single" or (precision == "auto" and not any(map(_has_doubles, real)))
    comments = (comment,) if isinstance(comment, str) else tuple(comment)
    headers = _headers(found)
    _state(fields, headers)
    _native.write_mcpl(os.fspath(path), fields, single, comments, force, tuple(h._data for h in headers))


class Selected(Table):
    """The particles that filter() has selected.

    index   shape (n,), uint32: their numbers in the columns that were filtered, in the order of the result
    header  that of the columns
    """

    def __init__(self, n: int, columns: Dict[str, Any], index: Column, header: Optional[Header] = None):
        super().__init__(n, columns)
        self.header = header
        self.index = array_of(index)


_UNITS = {name: unit for name, _, unit, _ in _native.column_facts()}


def _take_on_device(value: Any, index: Column, name: str) -> Any:
    """The items of an array of a GPU, by its own library."""
    library = type(value).__module__.split(".")[0]
    if library == "torch":
        import torch  # type: ignore[import-not-found, unused-ignore]
        return value[torch.from_dlpack(index).long()]
    if library == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]
        return value.take(cupy.asarray(index), axis=0)
    if library in ("jax", "jaxlib"):
        import jax  # type: ignore[import-not-found, unused-ignore]
        return jax.numpy.take(value, jax.dlpack.from_dlpack(index), axis=0)
    raise TypeError(f"{name}: arrays of {library} with this type or name cannot be taken along; leave the column "
                    "out, or make it an array of torch, CuPy or JAX on the device of the other columns")


def filter(columns: Columns, condition: Union[None, str, Sequence[str]] = None, *,
           key: Union[None, str, Sequence[str]] = None, device: Optional[str] = None) -> Selected:
    """The particles that meet a condition, in the order of a key.

    columns    name -> array of shape (n,), as for write_mcpl(); or a number for all particles. Columns with
               other names than those of COLUMNS are taken along, of shape (n, ...).
    condition  as keep of a configuration: "ekin > 1 MeV and abs(x) < 5 cm"; None: all particles.
               Numbers have units. With a column fate, names of fates are allowed
    key        as key of a configuration: "energy:float", ["pdg:32", "-ekin_log:16"]; None: their order
    device     of columns in the memory of a GPU: None. "emulated": the columns are those of a run on the
               emulated device with arrays="device", and are filtered there

    The result is that of a run of the model list on these particles in one batch: real numbers are
    compared in single precision. The arrays of the result have the types of the arguments, and their
    items are those of the arguments, not rounded. Raises Error.

    Columns in the memory of a GPU (arrays of torch, CuPy, JAX or numba, survivors of arrays="device") are filtered
    there, and the arrays of the result are Columns there; all must be on one GPU. The call waits for the result.
    """
    config: Dict[str, Any] = {"run": {"name": "filter"}, "model": {"list": {"files": ["-"]}},
                              "keep": "listed" if condition is None else condition}
    if key is not None:
        config["key"] = "id:64" if key in ("id", ["id"]) else key  # id is a column here
    columns = columns_of(columns)
    known = {name: input_array(columns[name]) for name in columns if name in _UNITS}
    n, index, kept = _native.filter(str(_config.source(config)[1]), condition is None, known, device)
    rows = numpy.asarray(index).astype(numpy.intp) if index.device == "cpu" else None
    taken: Dict[str, Any] = {}
    for name in columns:
        value, made = columns[name], kept.get(name)
        if made is None:
            if isinstance(value, (int, float)) or getattr(value, "shape", None) == ():
                made = value  # a number, or an array of no dimension, for all particles
            elif rows is None:
                made = _take_on_device(value, index, name)
            else:
                made = host_array(known.get(name, value)).take(rows, axis=0)
                made = labelled(made, name, _UNITS[name]) if name in _UNITS else made
        taken[name] = made
    return Selected(n, taken, index, getattr(columns, "header", None))
