"""Columns: exports without copies, lifetimes, items."""
import gc
import weakref

import numpy
import pytest

import sluice
from conftest import SLAB

TYPES = {"id": "<u8", "x": "<f4", "collisions": "<u4", "fate": "|u1"}


@pytest.fixture
def batch():
    return next(sluice.stream(SLAB, output__columns=list(TYPES)))


@pytest.mark.parametrize("name", TYPES)
def test_exports_share_the_memory(batch, name):
    column = batch.column(name)
    at, read_only = column.__array_interface__["data"]
    assert not read_only and column.typestr == TYPES[name] and column.shape == (batch.n,)
    assert column.nbytes == batch.n * numpy.dtype(TYPES[name]).itemsize
    assert column.unit == sluice.COLUMNS[name].unit and column.name == name
    arrays = [numpy.asarray(column), numpy.frombuffer(column, TYPES[name]), numpy.from_dlpack(column),
              numpy.asarray(memoryview(column)), batch[name]]
    for array in arrays:
        assert array.dtype == TYPES[name] and array.shape == (batch.n,)
        assert array.__array_interface__["data"][0] == at

    class Interface:  # NumPy prefers the buffer protocol
        __array_interface__ = column.__array_interface__
    assert numpy.asarray(Interface()).ctypes.data == at
    arrays[0][0] = 7
    assert column[0] == 7 and all(a[0] == 7 for a in arrays)


def test_dlpack(batch):
    column = batch.column("x")
    assert column.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(column.__dlpack__(max_version=(1, 1)))
    assert '"dltensor"' in repr(column.__dlpack__()) and '"dltensor"' in repr(
        column.__dlpack__(stream=None, max_version=(0, 8), dl_device=(1, 0), copy=False))
    for wrong in (dict(stream=1), dict(dl_device=(2, 0)), dict(copy=True)):
        with pytest.raises(BufferError):
            column.__dlpack__(**wrong)


@pytest.mark.parametrize("export", [
    numpy.asarray, memoryview, numpy.from_dlpack, lambda c: c.__dlpack__(),
    lambda c: c.__dlpack__(max_version=(1, 0)), lambda c: c[3:9], lambda c: memoryview(c[3:9])])
def test_a_view_keeps_the_memory_alive(export):
    """Memory that were freed would be used again by the runs that follow."""
    batch = next(sluice.stream(SLAB, output__columns=["x"]))
    expected = batch.column("x").tolist()
    view = export(batch.column("x"))
    gone = weakref.ref(batch)
    del batch
    gc.collect()
    assert gone() is None
    for seed in range(5):
        sluice.run(SLAB, seed=seed).survivors["x"]
    if hasattr(view, "tolist"):
        assert view.tolist() in (expected, expected[3:9])
    del view
    gc.collect()


def test_columns_of_a_file_share_its_block(tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    table = sluice.read(sorted((tmp_path / "run").glob("*.npz"))[0])
    x, y = table["x"], table["y"].copy()
    expected = x.copy()
    del table
    gc.collect()
    for seed in range(3):
        sluice.run(SLAB, seed=seed)
    assert numpy.array_equal(x, expected) and len(y) == len(x)


def test_items(batch):
    column = batch.column("x")
    values = column.tolist()
    assert len(column) == batch.n and column[0] == values[0] and column[-1] == values[-1]
    assert column[2:5].tolist() == values[2:5] and column[5:2].tolist() == []
    assert column[2:9][1:3].tolist() == values[3:5]
    assert list(column) == values
    for wrong in (batch.n, -batch.n - 1):
        with pytest.raises(IndexError):
            column[wrong]
    with pytest.raises(ValueError):
        column[::2]
    with pytest.raises(TypeError):
        sluice.Column()
    assert "sluice.Column x <f4" in repr(column)


def test_joined_survivors_are_not_kept_twice():
    result = sluice.run(SLAB)
    x = result.survivors["x"]
    at = x.ctypes.data
    for batch in result.survivors.batches():
        assert batch["x"].ctypes.data == at
        at += batch["x"].nbytes
    assert result.survivors["x"].ctypes.data == x.ctypes.data
    with pytest.raises(KeyError):
        result.survivors["energy"]


def test_an_empty_run():
    result = sluice.run(SLAB, keep="transmitted and w < -2")
    assert result.survivors.n == 0 and result.survivors["x"].shape == (0,)
    assert [b.n for b in result.survivors.batches()] == [0] * 6
    assert numpy.from_dlpack(result.survivors.column("x")).shape == (0,)
