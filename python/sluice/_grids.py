"""Grids of a run: tallies of one to four axes, and scores along the histories."""
from __future__ import annotations

import math
import os
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

import numpy

from ._column import array_of
from ._columns import Array

Cells = Tuple[Any, Any]
"""The cells of large rows, row by row: their counts; and of each row the weights, their squares, means, errors, volumes."""
_MEMBERS = {"count": "counts", "weight": "weights", "weight_squared": "weights_squared",
            "mean": "mean_over_batches", "error": "standard_error"}
_DATASETS = {"error": "standard_error"}


def middles(edges: Array) -> Array:
    """The centers of bins."""
    return (edges[:-1] + edges[1:]) / 2


class Densities:
    """Values per volume of the cells, for Tally and Grid."""

    density_unit: str
    """The unit of density: '1/cm^3', '1/cm^2', '1/(cm^2 ns)', ...; '1' without one."""
    fates: Dict[str, Dict[str, Any]]
    volume: Array

    @property
    def density(self) -> Dict[str, Array]:
        """fate -> mean per particle of the run and volume of the cell."""
        return {name: row["mean"] / self.volume for name, row in self.fates.items()}

    @property
    def density_error(self) -> Dict[str, Array]:
        """fate -> the standard error of density."""
        return {name: row["error"] / self.volume for name, row in self.fates.items()}


class Axis(NamedTuple):
    """An axis of a grid."""

    column: str
    """The name of its column."""
    unit: str
    """The unit of the column, '' without one."""
    edges: Array
    """bins + 1 values in the unit, float64."""

    @property
    def centers(self) -> Array:
        """The centers of the bins."""
        return middles(self.edges)


class Grid(Densities):
    """A tally of one to four axes, of particles at their ends or of a score along the histories.

    name     as in run.json: (r,z), or deposit(r,z) for a score
    axes     a list of Axis
    shape    the number of bins of each axis
    volume   of the cells, of the shape of the grid: rings for r, widths for other axes (docs/tallies.md)
    density  fate -> mean per particle and volume, in density_unit; density_error: its standard error
    plane    the depth of the plane of a crossing in cm, else None
    fates    fate -> dict with count, mean and error per particle of the run, under, over; and weight and
             weight_squared where particles differ in weight. A score has one row, all, with weight,
             weight_under and weight_over. Arrays have the shape of the grid. After open(), rows of more than
             4096 cells are read by h5py, on first use.
    """

    def __init__(self, data: Mapping[str, Any], path: Optional[str], large: Dict[str, Any]):
        self.name: str = data["name"]
        self.axes: List[Axis] = [Axis(a["column"], a["unit"], edges_of(a)) for a in data["axes"]]
        self.shape: Tuple[int, ...] = tuple(a["bins"] for a in data["axes"])
        self.plane: Optional[float] = data.get("plane_z_cm")
        self.density_unit = data.get("density_unit", "")
        self._volumes: Any = data.get("volumes") or next((row["volume"] for row in large.values()), None)
        self._rows = data["fates"]
        self._path = path
        self._large = large
        self._fates: Optional[Dict[str, Dict[str, Any]]] = None

    @property
    def centers(self) -> List[Array]:
        """The centers of the bins of each axis."""
        return [axis.centers for axis in self.axes]

    @property
    def volume(self) -> Array:  # type: ignore[override]
        if self._volumes is None:
            self._volumes = self._read()["volume"]
        return numpy.reshape(self._volumes, self.shape).view(numpy.ndarray)

    @property
    def fates(self) -> Dict[str, Dict[str, Any]]:  # type: ignore[override, unused-ignore]
        if self._fates is None:
            self._fates = {name: self._row(name, row) for name, row in self._rows.items()}
        return self._fates

    def _row(self, name: str, row: Mapping[str, Any]) -> Dict[str, Any]:
        if name in self._large:
            cells = {key: array_of(column).reshape(self.shape) for key, column in self._large[name].items()}
            return {**listed(row), **{key: array for key, array in cells.items() if key != "volume"}}
        return listed(row, self.shape) if "counts" in row else {**listed(row), **self._read(name)}

    def _read(self, name: str = "") -> Dict[str, Any]:
        """The data sets of the file of tallies: those of a row, or of the grid."""
        assert self._path is not None  # a run in memory has all rows
        try:
            import h5py  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise ImportError(f"{self.name}: rows of more than 4096 cells are read from {self._path}, which needs "
                              "h5py; install it") from None
        with h5py.File(self._path) as file:
            group = file[self.name]
            if not name:
                return {"volume": group["volume"][()]}
            return {key: group[name][_DATASETS.get(key, key)][()] for key in _MEMBERS
                    if _DATASETS.get(key, key) in group[name]}

    def __repr__(self) -> str:
        sizes = " x ".join(str(n) for n in self.shape)
        return f"<Grid {self.name}: {sizes} cells, fates {', '.join(self._rows)}>"


def listed(row: Mapping[str, Any], shape: Any = -1) -> Dict[str, Any]:
    """The numbers of a row that run.json has, the cells as arrays."""
    made = {key: row[key] for key in ("under", "over", "weight_under", "weight_over") if key in row}
    for key, member in _MEMBERS.items():
        values = row.get(member, row.get(member + "_over_batches"))  # a score has only the error over batches
        if values is not None:
            made[key] = numpy.array(values, "u8" if key == "count" else "f8").reshape(shape)
    return made


def edges_of(axis: Mapping[str, Any]) -> Any:
    """As in the file of tallies, those of bins of equal ratio to about 1e-9."""
    lo, hi, bins = axis["from"], axis["to"], axis["bins"]
    if "edges" in axis:
        edges = axis["edges"]
    elif axis.get("spacing") == "log":
        edges = [lo * (hi / lo) ** (i / bins) for i in range(bins)] + [hi]
    else:
        edges = [lo + (hi - lo) * i / bins for i in range(bins)] + [hi]
    return numpy.array(edges, "f8")


def _row_of(cells: Cells, begin: int, n: int, scored: bool) -> Dict[str, Any]:
    """The columns of a row whose cells begin there."""
    keys = ["weight", "weight_squared", "mean", "error", "volume"]
    row = {key: cells[1][5 * begin + i * n:5 * begin + (i + 1) * n] for i, key in enumerate(keys)}
    if scored:
        del row["weight_squared"]
    return {"count": cells[0][begin:begin + n], **row}


def grids_of(report: Mapping[str, Any], directory: Optional[str], cells: Optional[Cells] = None) -> Dict[str, Grid]:
    """The grids of run.json by name; cells: the rows that it does not list, unless they are read from a file."""
    path = None if directory is None else os.path.join(directory, report["name"] + ".tallies")
    grids, begin = {}, 0
    for data in report["tallies"].get("grids", []):
        large = {}
        for name, row in data["fates"].items():
            if cells and "counts" not in row:
                n = math.prod(a["bins"] for a in data["axes"])
                large[name] = _row_of(cells, begin, n, "weight_under" in row)
                begin += n
        grids[data["name"]] = Grid(data, path, large)
    return grids
