"""filter(): the particles that a run of the model list keeps, in its order."""
import gc
from types import SimpleNamespace

import numpy
import pytest

import sluice
from conftest import SLAB, refused, same_columns, share
from sluice import _native
from test_lists import particles

CONDITIONS = [
    "ekin > 0.5 keV and abs(x) < 5 cm",
    "x^2 + y^2 < 4 cm^2 or not (1 mm < z <= 2 cm)",
    "pdg in [neutron, photon]",
    "pdg == -11 and time / 2 > 0.1 ns",
    "userflags & 0x4 and weight >= 0.25",
    "abs(w) == 1 or u == 0",
    "id < 12345 and -x / 1 cm > energy / 1 keV * 2 - 1",
    "listed",
    ["w > 0.1", "z < -1 cm"],
    "r < 2 cm and theta < 60 deg or rho > 8 cm",
]
KEYS = [None, "energy:float", "-energy:float", ["pdg:32", "ekin_log:16"], ["x:12:-5 cm..5 cm", "-userflags:20"],
        "w:16", ["time_log:32", "y:32:-1 m..1 m"], ["-r:float", "phi:12"], None, "time:float"]


@pytest.fixture(scope="module")
def columns():
    made = particles(70_000, seed=2)
    made["userflags"] = numpy.arange(70_000, dtype=numpy.uint32) * 2654435761 % 65536
    made["x"][[5, 100]] = 0.0, -0.0
    return made


def of_a_run(columns, folder, condition, key):
    """The survivors of a run that reads the columns from a list."""
    path = folder / "list.mcpl"
    sluice.write_mcpl(path, columns, precision="double", force=True)
    config = {"run": {"name": "f", "batch": 100_000}, "model": {"list": {"files": [str(path)]}},
              "keep": condition, "output": {"columns": ["id"]}}
    return sluice.run({**config, **({"key": key} if key else {})}).survivors


@pytest.mark.parametrize("condition, key", share(zip(CONDITIONS, KEYS), 3), ids=str)
def test_the_particles_and_the_order_of_a_run(tmp_path, columns, condition, key):
    survivors = of_a_run(columns, tmp_path, condition, key)
    read = sluice.read(tmp_path / "list.mcpl")
    selected = sluice.filter(read, condition, key=key)
    assert 0 < selected.n == survivors.n
    assert numpy.array_equal(selected.index, survivors["id"])
    for name in read:
        assert numpy.array_equal(selected[name], read[name][selected.index]), name
        assert selected[name].dtype == read[name].dtype and selected.column(name).name == name


def test_types_are_kept_and_doubles_are_compared_as_floats(columns):
    above = 0.1 + 1e-12  # 0.1f in single precision
    columns = {**columns, "x": numpy.where(numpy.arange(70_000) % 2 == 0, above, 0.0),
               "pdg": columns["pdg"].astype(numpy.int64), "userflags": columns["userflags"].astype(numpy.uint16),
               "cell": numpy.arange(70_000), "spin": numpy.zeros((70_000, 3), numpy.float16), "time": 4.0}
    columns["spin"][:, 1] = numpy.arange(70_000) % 7
    assert sluice.filter(columns, "x > 0.1 cm").n == 0
    selected = sluice.filter(columns, "x == 0.1 cm and time == 4 ns and userflags >= 0", key="-pdg:32")
    assert selected.n == 35_000 and selected["x"].dtype == numpy.float64 and numpy.all(selected["x"] == above)
    assert selected["pdg"].dtype == numpy.int64 and numpy.all(numpy.diff(selected["pdg"]) <= 0)
    assert selected["userflags"].dtype == numpy.uint16 and selected["time"] == 4.0
    for name in ("cell", "spin", "userflags"):
        assert numpy.array_equal(selected[name], columns[name][selected.index])


def test_survivors_with_fates():
    survivors = sluice.run(SLAB, keep=["transmitted", "reflected"], output__columns="[]", key="id").survivors
    for fate in ("transmitted", "reflected"):
        selected = sluice.filter(survivors, f"{fate} and collisions > 2")
        expected = (survivors["fate"] == sluice.FATES.index(fate)) & (survivors["collisions"] > 2)
        assert 0 < selected.n < survivors.n
        assert numpy.array_equal(selected.index, numpy.flatnonzero(expected))
    ordered = sluice.filter(survivors, key=["fate:8", "-id:40"])
    order = numpy.lexsort((-survivors["id"].astype(numpy.int64), survivors["fate"]))
    assert numpy.array_equal(ordered["id"], survivors["id"][order])
    assert numpy.array_equal(sluice.filter(ordered, key="id")["id"], survivors["id"])


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 65_536, 65_537])
def test_sizes(columns, n):
    part = {name: values[:n] for name, values in columns.items()}
    selected = sluice.filter(part, "x > 0", key="y:float")
    expected = numpy.flatnonzero(part["x"] > 0)
    assert numpy.array_equal(selected.index, expected[numpy.argsort(part["y"][expected], kind="stable")])
    assert sluice.filter(part).n == n and numpy.array_equal(sluice.filter(part)["x"], part["x"])


REFUSED = [({}, "steps > 3", "steps"), ({}, "transmitted", "transmitted"), ({}, "x > 5", "number without a unit"),
           ({"pdg": numpy.where(numpy.arange(70_000) == 3, 2 ** 32, 1)}, "pdg > 0", "pdg[3] is 4294967296"),
           ({"x": numpy.where(numpy.arange(70_000) == 9, 1e300, 1)}, "x > 0 cm", "x[9] is 1e+300"),
           ({"pdg": numpy.zeros(70_000, "f4")}, None, "pdg: the array has items of float32"),
           ({"y": numpy.zeros(3)}, None, "y: the array has 3 items, and x has 70000"),
           ({"x": numpy.zeros((70_000, 2))}, None, "2 dimensions"), ({"cell": numpy.zeros(70_001)}, None, "cell: the array has 70001 items")]


def test_refusals(columns):
    with pytest.raises(sluice.Error) as caught:
        sluice.filter(columns, "enrgy > 1 and pol_x < 2", key=["w", "z:12"])
    problems = caught.value.problems
    assert [p.key for p in problems] == ["keep", "key[0]", "key[1]"]
    assert all(p.file == "<filter>" and p.line is None for p in problems)
    assert "energy" in problems[0].hint and "w:16" in problems[1].hint
    for other, condition, message in REFUSED:
        refused(lambda: sluice.filter({**columns, **other}, condition), "USAGE", message)
    refused(lambda: sluice.filter({}, "x > 1 cm"), "USAGE", "sluice.COLUMNS")
    with pytest.raises(BufferError, match="y: the array is in the memory of a device"):
        sluice.filter({**columns, "y": SimpleNamespace(__dlpack__=None, __dlpack_device__=lambda: (2, 0))}, "x > 1 cm")


class Changing:
    """An array that empties the dict or the list that it is in, when it is asked where it is."""

    def __init__(self, container, values, events):
        self.container, self.values, self.events = container, values, events

    def __dlpack_device__(self):
        self.container.clear()
        return (1, 0)

    def __dlpack__(self, **_):
        self.events.append("read")
        return self.values.__dlpack__()

    def __del__(self):
        self.events.append("freed")


def test_containers_that_change_during_a_call(tmp_path, columns):
    for call in (lambda c: _native.filter("{model: {list: {files: [-]}}, keep: x > 0 cm}", False, c, None),
                 lambda c: _native.write_mcpl(str(tmp_path / "a.mcpl"), c, True, (), False, ())):
        known, events = {name: columns[name] for name in ("y", "z", "u", "v", "w")}, []
        known.update(energy=1.0, time=0.0, weight=1.0, pdg=22)
        known["x"] = Changing(known, columns["x"], events)
        call(known)
        gc.collect()
        assert events == ["read", "freed"]


def test_array_without_dimension_is_a_number_for_all():
    made = sluice.filter({"x": numpy.array([1, -1, 2], "f4"), "w": numpy.full((), 0.5, "f4")}, "x > 0 cm and w > 0.4")
    assert made.n == 2 and made["w"] == numpy.float32(0.5)
