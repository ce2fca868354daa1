"""Arrays in place of files: those of a list become an npz file, observations a csv file, volumes and images npy files."""
from __future__ import annotations

import glob
import hashlib
import numbers
import os
import re
import shutil
import tempfile
import weakref
from contextlib import suppress
from typing import Any, Callable, Dict, List, Mapping, Tuple

import numpy

from . import _config
from ._columns import FIELDS, columns_of, host_array, is_table
from ._config import Config
from ._error import Error

_NEEDED = ("x", "y", "z", "u", "v", "w", "energy")
_FILES = "arrays_" + 16 * "[0-9a-f]" + ".[cn][sp][vyz]"


def _refuse(message: str) -> Error:
    return Error(2, "USAGE", "a configuration or a command is wrong", message, [])


def _items(value: Any, name: str) -> Any:
    """The array of a column in the byte order of npz files."""
    array = host_array(value)
    if array.dtype.kind not in "fiub":
        raise _refuse(f"{name}: the array has items of {array.dtype}; convert them to float32 or float64")
    if array.ndim > 1:
        raise _refuse(f"{name}: the array has the shape {array.shape}; it must have the shape (n,)")
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        array = array.astype(float)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _columns(table: Any, key: str) -> Dict[str, Any]:
    """The columns of a list as arrays."""
    columns = columns_of(table)
    values = {"time": 0.0, "weight": 1.0}  # the library has that of pdg
    if key != "model.list.arrays":  # histories of other models have no energy
        values["energy"] = 0.0
    values.update((name, columns[name]) for name in FIELDS if name in columns)
    missing = [name for name in _NEEDED if name not in values]
    if missing:
        raise _refuse(f"{key}: has no column {', '.join(missing)}; add arrays, or numbers for all particles")
    made = {name: _items(values[name], f"{key}.{name}") for name in FIELDS if name in values}
    lengths = {name: len(array) for name, array in made.items() if array.ndim == 1}
    if not lengths:
        raise _refuse(f"{key}: all columns are numbers, so the number of particles is unknown; give at least one array")
    first, n = next(iter(lengths.items()))
    for name, items in lengths.items():
        if items != n:
            raise _refuse(f"{key}.{name}: the array has {items} items, and {first} has {n}; all columns must have one item "
                          "for each particle")
    return made


def _numbers(given: Any) -> Any:
    """The array; masked items and None are missing numbers, NaN."""
    if isinstance(given, numpy.ma.MaskedArray) and given.dtype.kind in "fiub":
        given = given.astype(float).filled(numpy.nan)
    array = host_array(given)
    is_missing = array.dtype.kind == "O" and array.ndim == 1 and all(y is None or isinstance(y, numbers.Real) for y in array)
    return array.astype(float) if is_missing else array


def _observations(given: Any, key: str) -> Dict[str, Any]:
    """Columns of observations by name. Those of a table that have no number, such as dates, are left out."""
    if isinstance(given, Mapping) or is_table(given):
        arrays = {str(name): _numbers(column) for name, column in columns_of(given).items()}
        arrays = {name: array for name, array in arrays.items() if array.dtype.kind in "fiub" or
                  array.dtype.kind == "O" and any(isinstance(y, numbers.Real) for y in array.flat)}
        if len({array.shape for array in arrays.values()}) != 1:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise _refuse(f"{key}: has the columns of numbers: {shapes or 'none'}; give columns of one shape (n,)")
    else:
        array = _numbers(given)
        if array.ndim > 1 and array.shape[-1] > 4:
            raise _refuse(f"{key}: the array has the shape {array.shape}; it must have a row for each observation, and a column "
                          "for each of at most 4 numbers of it: use the transposed array, or some of its columns")
        arrays = {f"y{k + 1}": column for k, column in enumerate(numpy.atleast_2d(array.T))}
    first = next(iter(arrays))
    return {_named(name, name == first, len(arrays) == 1): _items(array, key) for name, array in arrays.items()}


def _named(name: str, is_first: bool, is_single: bool) -> str:
    """A name as a csv file can have it: without separators, and the first no number, which would be an observation."""
    name = re.sub(r'[,;\s"]' if is_single else r'[,;\t\r\n"]', "_", name.strip())
    return f"y{name}" if is_first and re.fullmatch(r"[-+]?[.\d].*|nan?|inf|", name, re.I) else name


def _digest(columns: Mapping[str, Any]) -> str:
    """Of names, types and items."""
    digest = hashlib.sha256()
    for name, array in columns.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(numpy.ascontiguousarray(array).data)
    return digest.hexdigest()[:16]


class Given:
    """A configuration. Arrays in place of files are in files until end(): of the folder out, in which they
    stay if the run in it reads them, or of a temporary folder.

    source  name and text of the configuration (_config.source())
    sets    the overrides
    """

    def __init__(self, config: Config, overrides: Mapping[str, Any], out: Any = None, force: bool = False):
        self._out = None if out is None else os.path.abspath(out)
        self._folder = self._out or ""
        self._is_new = not os.path.exists(self._folder)
        self._force = force
        self._made: List[str] = []  # files
        self._keys: Dict[str, str] = {}  # of each file, for messages
        self._end: Callable[[], Any] = lambda: None
        try:
            self.source = _config.source(self._filed(config, ""))
            self.sets = _config.settings(dict(self._override(*item) for item in overrides.items()))
        except BaseException:
            self.end()
            raise

    def _override(self, name: str, value: Any) -> Tuple[str, Any]:
        key = _config.key_of(name)
        if key.endswith(".list.arrays"):
            return key[:-6] + "files", [self._stored(_columns(value, key), ".npz", key)]
        return name, self._filed(value, key)

    def _filed(self, value: Any, key: str) -> Any:
        """The value with files in place of arrays."""
        if key.endswith((".file", ".image")) and isinstance(value, numpy.ndarray) and value.ndim > 1:
            return self._stored({"": value}, ".npy", key)
        if key.endswith(".smc.observations") and not isinstance(value, (str, os.PathLike)):
            return self._stored(_observations(value, key), ".csv", key)
        if key.endswith(".source") and (is_table(value) or isinstance(value, Mapping) and "arrays" in value):
            raise _refuse(f"{key}: has arrays in place of keys; write {{'list': {{'arrays': ...}}}} for a source of arrays")
        if key.endswith(".list") and is_table(value):
            value = {"arrays": value}
        if not isinstance(value, Mapping):
            return value
        if key.endswith(".list") and "arrays" in value:
            if "files" in value:
                raise _refuse(f"{key}: arrays and files exclude each other; write the arrays to a file with write_mcpl()")
            at = f"{key}.arrays"
            value = {"files": [self._stored(_columns(value["arrays"], at), ".npz", at)],
                     **{name: item for name, item in value.items() if name != "arrays"}}
        return {name: self._filed(item, f"{key}.{name}" if key else str(name)) for name, item in value.items()}

    def _stored(self, columns: Mapping[str, Any], suffix: str, key: str) -> str:
        """The file of arrays, whose name depends on its contents only, so that one never replaces another."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="sluice-")
            self._end = weakref.finalize(self, shutil.rmtree, self._folder, True)
        path = os.path.join(self._folder, f"arrays_{_digest(columns)}{suffix}")
        self._keys[path] = key
        try:
            os.makedirs(self._folder, exist_ok=True)
            if not os.path.exists(path):
                with open(path + ".part", "wb") as file:
                    if suffix == ".npz":
                        numpy.savez(file, **columns)
                    elif suffix == ".npy":
                        numpy.save(file, columns[""], allow_pickle=False)
                    else:
                        numpy.savetxt(file, numpy.column_stack(list(columns.values())), "%.17g", ",",
                                      header=",".join(columns), comments="")
                    os.fsync(file.fileno())
                os.rename(path + ".part", path)
                self._made.append(path)
        except OSError as error:
            raise Error(4, "DISK", "a file could not be read or written", f"{path}: {error.strerror}", []) from error
        return path

    def __enter__(self) -> "Given":
        return self

    def __exit__(self, _: Any, error: Any, *__: Any) -> None:
        self.end()
        if not isinstance(error, Error):
            return
        for path, key in self._keys.items():
            error.problems = [p._replace(problem=p.problem.replace(f"{path}: ", "")) for p in error.problems]
            text = "\n".join(map(str, error.problems)) or str(error)
            error.args = (key + text[len(path):] if text.startswith(f"{path}: ") else text,)

    def end(self) -> None:
        """Removes files that no run reads: new ones, and with force those of the run that was replaced."""
        if self._out is None:
            self._end()
            return
        found = glob.glob(os.path.join(glob.escape(self._out), _FILES)) if self._force else self._made
        try:
            with open(os.path.join(self._out, "run.json"), encoding="utf-8") as file:
                report = file.read()
        except OSError:
            report = ""  # the run has not started
        with suppress(OSError):
            for path in found:
                if os.path.basename(path) not in report:
                    os.remove(path)
            if self._is_new:
                os.rmdir(self._out)  # fails if it has files
