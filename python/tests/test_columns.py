"""Columns: exports without copies, lifetimes, items."""
import gc
import pickle
import weakref

import numpy
import pytest

import sluice
from sluice import _native
from conftest import SLAB, same_columns, use_memory_again, without

TYPES = {"id": "<u8", "x": "<f4", "collisions": "<u4", "fate": "|u1"}


@pytest.fixture
def batch():
    return next(sluice.stream(SLAB, output__columns=list(TYPES)))


def test_exports_share_the_memory(batch):
    for name, kind in TYPES.items():
        column = batch.column(name)
        at, read_only = column.__array_interface__["data"]
        assert not read_only and column.typestr == kind and column.shape == (batch.n,)
        assert column.nbytes == batch.n * numpy.dtype(kind).itemsize
        assert column.unit == sluice.COLUMNS[name].unit and column.name == name

        class Interface:  # NumPy prefers the buffer protocol
            __array_interface__ = column.__array_interface__
        arrays = [numpy.asarray(column), numpy.frombuffer(column, kind), numpy.from_dlpack(column),
                  numpy.asarray(memoryview(column)), batch[name], numpy.asarray(Interface())]
        arrays[0][0] = 7
        for array in arrays:
            assert array.dtype == kind and array.shape == (batch.n,) and array.ctypes.data == at
            assert array[0] == column[0] == 7


def test_a_view_keeps_the_memory_alive():
    exports = [numpy.asarray, memoryview, numpy.from_dlpack, lambda c: c.__dlpack__(), lambda c: c[3:9], lambda c: memoryview(c[3:9])]
    batches = [next(sluice.stream(SLAB, output__columns=["x"])) for _ in exports]
    expected = batches[0].column("x").tolist()
    views = [export(batch.column("x")) for export, batch in zip(exports, batches)]
    gone = [weakref.ref(batch) for batch in batches]
    del batches
    gc.collect()
    assert not any(batch() for batch in gone)
    use_memory_again()
    for view in views:
        assert not hasattr(view, "tolist") or view.tolist() in (expected, expected[3:9])


def test_arrays_are_released(tmp_path):
    """By each call, refused or not: a buffer cannot grow while somebody exports it. Results have memory of their own."""
    buffer = bytearray(4000)
    x = numpy.frombuffer(buffer, numpy.float32)
    words, path, rest = x.view("u4"), tmp_path / "list.mcpl", dict(y=0, z=0, u=0, v=0, w=1, energy=1, time=0, weight=1, pdg=22)
    x[:] = numpy.arange(1000)
    kept = sluice.filter({"x": x}, "x > 99 cm")["x"]
    sluice.scan(words), sluice.compact(x.view("u1")), sluice.sort(words, words.copy()), sluice.deflate(words)
    sluice.write_mcpl(path, {"x": x}, **rest)
    for call in (lambda: sluice.scan(words, out=words[:3]), lambda: sluice.sort(words, words[:3]),
                 lambda: sluice.filter({"x": x}, "steps > 3"), lambda: sluice.filter({"x": x, "y": x[:3]}),
                 lambda: sluice.write_mcpl(path, {"x": x}, **rest),
                 lambda: sluice.write_mcpl(tmp_path / "other.mcpl", {"x": x, "pol_z": object()}, **rest)):
        with pytest.raises(sluice.Error):
            call()
    del x, words, call
    gc.collect()
    buffer.append(1)
    use_memory_again()
    assert kept.tolist() == [*range(100, 1000)]


def test_columns_of_a_file_share_its_block(tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    table = sluice.read(sorted((tmp_path / "run").glob("*.npz"))[0])
    x, expected = table["x"], table["x"].copy()
    del table
    use_memory_again()
    assert numpy.array_equal(x, expected)


def test_items(batch):
    column = batch.column("x")
    values = column.tolist()
    assert len(column) == batch.n and column[0] == values[0] and column[-1] == values[-1]
    assert column[2:5].tolist() == values[2:5] and column[5:2].tolist() == []
    assert column[2:9][1:3].tolist() == values[3:5] and list(column) == values
    assert all(part.unit == "cm" and isinstance(part, sluice.Column) for part in (column[2:5], column[::2]))
    assert type(2 * column) is type(batch["x"]) is numpy.ndarray and type(column.sum()) is numpy.float32  # without a unit
    assert repr(column) == f"<sluice.Column x f4 shape=({len(column)},)>"


def test_joined_survivors_are_not_kept_twice():
    survivors = sluice.run(SLAB).survivors
    at = survivors["x"].ctypes.data
    for batch in survivors.batches():
        assert batch["x"].ctypes.data == at
        at += batch["x"].nbytes
    assert survivors["x"].ctypes.data == next(survivors.batches())["x"].ctypes.data
    with pytest.raises(KeyError):
        survivors["energy"]


@pytest.mark.parametrize("form", ["openpmd", "npz", "csv.gz", "mcpl"])
def test_files_are_read_by_columns(form, tmp_path, monkeypatch):
    """Of a directory, columns that are not used are neither decoded nor kept."""
    more = {"output__mcpl": {"energy": "2 eV"}} if form == "mcpl" else \
        {"columns": {"half": "x / 2"}, "output__columns": ["id", "x", "half", "w", "weight"]}
    config = dict(output__format=form, **more)
    opened, asked, read = sluice.run(without("output"), out=tmp_path / "run", **config).survivors, [], _native.read

    def spy(path, names, single):
        found = read(path, names, single)
        assert set(found[1]) == set(names.split(","))
        asked.append(names)
        return found
    monkeypatch.setattr(_native, "read", spy)
    assert numpy.array_equal(opened["x"], sluice.run(SLAB).survivors["x"])
    assert opened["x"] is not None and asked == ["x"] * 6
    batch, copied, names = next(opened.batches()), pickle.loads(pickle.dumps(next(opened.batches()))), list(opened)
    asked.clear()
    same_columns(batch, copied)
    assert asked == [names[0], names[1], ",".join(names[2:])] and "energy" not in batch
    same_columns(batch, {name: opened[name][:batch.n] for name in names})


def test_pandas_takes_the_columns():
    pandas = pytest.importorskip("pandas")
    survivors = sluice.run(SLAB, output__columns=list(TYPES), run__batch=1000).survivors
    expected = {name: numpy.asarray(survivors[name]) for name in TYPES}
    for frame in (survivors.to_pandas(), pandas.concat([b.to_pandas() for b in survivors.batches()], ignore_index=True),
                  pandas.DataFrame(dict(survivors))):
        assert frame.index.equals(pandas.RangeIndex(survivors.n))
        same_columns({name: frame[name].to_numpy() for name in frame}, expected)
    with pytest.raises(TypeError, match="to_pandas|dict"):
        pandas.DataFrame(survivors)
