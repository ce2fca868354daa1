"""Sluice: simulation batches of particles and rays, on a GPU or a CPU, with the same bits.

    import sluice
    result = sluice.run("vandehulst.yaml", particles=1e5)
    result.fates["transmitted"].fraction       # with .error
    result.survivors["x"]                      # positions in cm, shape (n,), float32

Every failure is sluice.Error. docs/python.md has the table of all functions.
"""
import atexit as _atexit
from typing import Dict as _Dict, NamedTuple as _NamedTuple

from . import _native
from ._column import Column
from ._columns import Batch, Header, ParticleList, Survivors, Table
from ._compare import Comparison, compare
from ._error import Error, Problem, Status
from ._files import History, Plan, convert, example, info, open_run as open, plan, read, replay, verify
from ._lists import Selected, filter, write_mcpl
from ._primitives import compact, deflate, expand, scan, sort, sum
from ._grids import Axis, Grid
from ._run import Fate, Filter, Run, Stream, Tally, run, stream

__version__: str = _native.version


class ColumnFacts(_NamedTuple):
    """What a column of particles contains."""

    dtype: str
    """The type of its items, as in NumPy."""
    unit: str
    """The unit of its values; '' without one."""
    help: str
    """What it is."""


COLUMNS: _Dict[str, ColumnFacts] = {
    name: ColumnFacts(dtype, unit, text) for name, dtype, unit, text in _native.column_facts()}
"""All columns by name. A model has a subset of them."""

FATES = _native.fate_names()
"""The names of all fates; the column fate has their numbers."""


def version() -> str:
    """Version, commit, compilers, CUDA, HDF5 and CPU levels, as `sluice version` prints them."""
    return _native.build_info()


_atexit.register(_native.shut_down)

__all__ = ["Axis", "Batch", "COLUMNS", "Column", "ColumnFacts", "Comparison", "Error", "FATES", "Fate", "Filter", "Grid",
           "Header", "History", "ParticleList", "Plan", "Problem", "Run", "Selected", "Status", "Stream", "Survivors", "Table",
           "Tally", "compact", "compare", "convert", "deflate", "example", "expand", "filter", "info", "open", "plan", "read",
           "replay", "run", "scan", "sort", "stream", "sum", "verify", "version", "write_mcpl"]
