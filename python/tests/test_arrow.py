"""Arrow: the structs of the C data interface, field by field, and the libraries that read them."""
import ctypes
import gc
import struct
import sys

import numpy
import pytest

import sluice
from conftest import SLAB

TYPES = {"id": "L", "x": "f", "collisions": "I", "fate": "C"}


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = {kind: ctypes.CFUNCTYPE(None, ctypes.POINTER(kind)) for kind in (Schema, Array, Stream)}
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE[Schema]), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.c_void_p),
    ("release", RELEASE[Array]), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", RELEASE[Stream]), ("private_data", ctypes.c_void_p)]
NAMES = {Schema: b"arrow_schema", Array: b"arrow_array", Stream: b"arrow_array_stream"}


def struct_of(capsule, kind):
    """The struct in a capsule, which it keeps alive."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    made = kind.from_address(get(capsule, NAMES[kind]))
    made.capsule = capsule
    return made


def release(s):
    """Calls the callback, which must mark the struct as released."""
    assert s.release
    s.release(ctypes.byref(s))
    assert not s.release


def metadata_of(schema):
    if not schema.metadata:
        return {}
    at = schema.metadata  # number of pairs; length and text of the key; length and text of the value
    pairs, length = struct.unpack("<ii", ctypes.string_at(at, 8))
    key = ctypes.string_at(at + 8, length)
    value_length, = struct.unpack("<i", ctypes.string_at(at + 8 + length, 4))
    assert pairs == 1
    return {key.decode(): ctypes.string_at(at + 12 + length, value_length).decode()}


def check_schema(schema, names=tuple(TYPES)):
    assert schema.format == b"+s" and schema.name == b"" and schema.flags == 0 and not schema.dictionary
    assert not schema.metadata and schema.n_children == len(names)
    for i, name in enumerate(names):
        child = schema.children[i].contents
        unit = sluice.COLUMNS[name].unit
        assert child.name.decode() == name and child.format.decode() == TYPES[name] and child.release
        assert child.flags == 0 and child.n_children == 0 and not child.dictionary
        assert metadata_of(child) == ({"unit": unit} if unit else {})


def check_column(array, values):
    assert array.length == len(values) and array.null_count == 0 and array.offset == 0
    assert array.n_buffers == 2 and array.n_children == 0 and not array.dictionary
    assert not array.buffers[0] and array.buffers[1] == values.ctypes.data and array.release


@pytest.fixture
def batch():
    return next(sluice.stream(SLAB, output__columns=list(TYPES)))


def test_a_batch_is_a_struct(batch):
    check_schema(struct_of(batch.__arrow_c_schema__(), Schema))
    schema, array = batch.__arrow_c_array__(requested_schema=batch.__arrow_c_schema__())
    check_schema(struct_of(schema, Schema))
    a = struct_of(array, Array)
    assert a.length == batch.n and a.null_count == 0 and a.offset == 0 and not a.dictionary
    assert a.n_buffers == 1 and not a.buffers[0] and a.n_children == len(TYPES)
    for i, name in enumerate(TYPES):
        check_column(a.children[i].contents, batch[name])
    release(a)
    release(struct_of(schema, Schema))


def test_a_column_is_an_array(batch):
    column = batch.column("x")
    schema, array = column.__arrow_c_array__()
    s = struct_of(schema, Schema)
    assert (s.format, s.name, s.n_children, metadata_of(s)) == (b"f", b"x", 0, {"unit": "cm"})
    check_column(struct_of(array, Array), batch["x"])
    part = column[5:9]
    check_column(struct_of(part.__arrow_c_array__()[1], Array), batch["x"][5:9])
    assert struct_of(column.__arrow_c_schema__(), Schema).format == b"f"


def test_survivors_are_a_stream():
    survivors = sluice.run(SLAB, output__columns=list(TYPES)).survivors
    check_schema(struct_of(survivors.__arrow_c_schema__(), Schema))
    capsule = survivors.__arrow_c_stream__()
    stream = struct_of(capsule, Stream)
    for _ in range(2):
        schema = Schema()
        assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
        check_schema(schema)
        release(schema)
    for batch in survivors.batches():
        array = Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0
        assert array.length == batch.n
        for i, name in enumerate(TYPES):
            check_column(array.children[i].contents, batch[name])
        release(array)
    assert not stream.get_last_error(ctypes.byref(stream))
    for _ in range(2):
        array = Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0 and not array.release
    release(stream)


def test_a_child_can_be_moved_out(batch):
    """Its memory outlives its parent, the capsule and the batch."""
    schema, capsule = batch.__arrow_c_array__()
    a = struct_of(capsule, Array)
    expected, at = batch["x"].copy(), batch["x"].ctypes.data
    moved = Array()
    ctypes.memmove(ctypes.byref(moved), a.children[1], ctypes.sizeof(Array))
    ctypes.memset(ctypes.addressof(a.children[1].contents) + Array.release.offset, 0, 8)
    release(a)
    del batch, schema, capsule, a
    gc.collect()
    for seed in range(5):
        sluice.run(SLAB, seed=seed).survivors["x"]
    assert moved.buffers[1] == at
    stored = (ctypes.c_float * len(expected)).from_address(at)
    assert list(stored) == expected.tolist()
    release(moved)


@pytest.mark.parametrize("export", [
    lambda b: b.column("x").__arrow_c_array__(), lambda b: b.__arrow_c_array__(), lambda b: b.__arrow_c_stream__(),
    lambda b: b.__arrow_c_schema__()])
def test_capsules_that_nobody_consumes(batch, export):
    before = sys.getrefcount(batch.column("x"))
    capsule = export(batch)
    del capsule
    gc.collect()
    after = sys.getrefcount(batch.column("x"))
    assert after == before


def test_batches_that_cannot_be_read(tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    survivors = sluice.open(tmp_path / "run").survivors
    for path in (tmp_path / "run").glob("*.npz"):
        path.write_bytes(b"no zip")
    stream = struct_of(survivors.__arrow_c_stream__(), Stream)
    array = Array()
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 5  # EIO
    assert b"npz" in stream.get_last_error(ctypes.byref(stream))


def test_what_arrow_cannot_have(batch):
    table = sluice.filter({"x": batch["x"], "time": 3.0, "cell": numpy.zeros((batch.n, 2))})
    with pytest.raises(TypeError, match="time"):
        table.__arrow_c_schema__()
    table = sluice.filter({"x": batch["x"], "cell": numpy.zeros((batch.n, 2))})
    with pytest.raises(BufferError, match="one dimension"):
        table.__arrow_c_array__()
    table = sluice.filter({"x": batch["x"], "name": numpy.full(batch.n, "a")})
    with pytest.raises(TypeError, match="name: Arrow has no type"):
        table.__arrow_c_stream__() and table.__arrow_c_schema__()


def test_columns_of_another_length(batch):
    for n in (batch.n - 1, batch.n + 1, -1):
        table = sluice.Table(n, {"x": batch.column("x")})
        with pytest.raises(ValueError, match="the same number of items"):
            table.__arrow_c_array__()
        stream, array = struct_of(table.__arrow_c_stream__(), Stream), Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 5 and not array.release
        assert b"same number" in stream.get_last_error(ctypes.byref(stream))
    part = sluice.Table(batch.n - 3, {name: batch.column(name)[3:] for name in batch})
    a = struct_of(part.__arrow_c_array__()[1], Array)
    assert a.length == batch.n - 3 and all(a.children[i].contents.length == a.length for i in range(a.n_children))


def test_empty():
    result = sluice.run(SLAB, keep="transmitted and w < -2", output__columns=list(TYPES))
    stream = struct_of(result.survivors.__arrow_c_stream__(), Stream)
    for _ in range(6):
        array = Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(array)) == 0 and array.length == 0
        release(array)


def test_pyarrow():
    pyarrow = pytest.importorskip("pyarrow")
    result = sluice.run(SLAB)
    table = pyarrow.table(result.survivors)
    table.validate(full=True)
    expected = {name: result.survivors[name].copy() for name in result.survivors}
    assert table.column_names == list(result.survivors) and table.num_rows == result.survivors.n
    assert table.schema.field("x").metadata == {b"unit": b"cm"} and table["x"].num_chunks == 6
    batch = next(iter(result.survivors.batches()))
    record = pyarrow.record_batch(batch)
    assert record["x"].buffers()[1].address == batch["x"].ctypes.data
    assert pyarrow.array(batch.column("id")).to_pylist() == batch["id"].tolist()
    selected = sluice.filter(result.survivors, "w > 0.5", key="x:float")
    assert pyarrow.table(selected)["x"].to_numpy().tolist() == selected["x"].tolist()
    del result, batch
    gc.collect()
    for seed in range(5):
        sluice.run(SLAB, seed=seed)
    for name, values in expected.items():
        assert numpy.array_equal(table[name].to_numpy(), values)


def test_polars():
    polars = pytest.importorskip("polars")
    survivors = sluice.run(SLAB).survivors
    frame = polars.DataFrame(survivors)
    assert frame.shape == (survivors.n, len(survivors))
    for name in survivors:
        assert numpy.array_equal(frame[name].to_numpy(), survivors[name])
