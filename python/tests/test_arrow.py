"""Arrow: the structs of the C data interface, field by field, and the libraries that read them."""
import ctypes
import gc
import struct
import sys

import numpy
import pytest

import sluice
from conftest import SLAB, same_columns, use_memory_again

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


def next_of(stream):
    """What get_next() returns, and its array."""
    array = Array()
    return stream.get_next(ctypes.byref(stream), ctypes.byref(array)), array


def metadata_of(schema):
    if not schema.metadata:
        return {}
    at = schema.metadata  # number of pairs; length and text of the key; length and text of the value
    pairs, length = struct.unpack("<ii", ctypes.string_at(at, 8))
    key = ctypes.string_at(at + 8, length)
    value_length, = struct.unpack("<i", ctypes.string_at(at + 8 + length, 4))
    assert pairs == 1
    return {key.decode(): ctypes.string_at(at + 12 + length, value_length).decode()}


def check_schema(schema):
    assert schema.format == b"+s" and schema.name == b"" and schema.flags == 0 and not schema.dictionary
    assert not schema.metadata and schema.n_children == len(TYPES)
    for i, name in enumerate(TYPES):
        child, unit = schema.children[i].contents, sluice.COLUMNS[name].unit
        assert child.name.decode() == name and child.format.decode() == TYPES[name] and child.release
        assert child.flags == 0 and child.n_children == 0 and not child.dictionary
        assert metadata_of(child) == ({"unit": unit} if unit else {})


def check_column(array, values):
    assert array.length == len(values) and array.null_count == 0 and array.offset == 0
    assert array.n_buffers == 2 and array.n_children == 0 and not array.dictionary
    assert not array.buffers[0] and array.buffers[1] == values.ctypes.data and array.release


def check_batch(array, batch):
    assert array.length == batch.n and array.null_count == 0 and array.offset == 0 and not array.dictionary
    assert array.n_buffers == 1 and not array.buffers[0] and array.n_children == len(TYPES)
    for i, name in enumerate(TYPES):
        check_column(array.children[i].contents, batch[name])


@pytest.fixture
def batch():
    return next(sluice.stream(SLAB, output__columns=list(TYPES)))


def test_batches_and_columns(batch):
    check_schema(struct_of(batch.__arrow_c_schema__(), Schema))
    schema, array = (struct_of(capsule, kind) for capsule, kind in zip(
        batch.__arrow_c_array__(requested_schema=batch.__arrow_c_schema__()), (Schema, Array)))
    check_schema(schema)
    check_batch(array, batch)
    release(array)
    release(schema)
    column = batch.column("x")
    schema, array = column.__arrow_c_array__()
    s = struct_of(schema, Schema)
    assert (s.format, s.name, s.n_children, metadata_of(s)) == (b"f", b"x", 0, {"unit": "cm"})
    check_column(struct_of(array, Array), batch["x"])
    check_column(struct_of(column[5:9].__arrow_c_array__()[1], Array), batch["x"][5:9])
    assert struct_of(column.__arrow_c_schema__(), Schema).format == b"f"


@pytest.mark.parametrize("keep", ["transmitted", "transmitted and w < -2"])  # some and none
def test_survivors_are_a_stream(keep):
    survivors = sluice.run(SLAB, keep=keep, output__columns=list(TYPES)).survivors
    check_schema(struct_of(survivors.__arrow_c_schema__(), Schema))
    stream = struct_of(survivors.__arrow_c_stream__(), Stream)
    for _ in range(2):
        schema = Schema()
        assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
        check_schema(schema)
        release(schema)
    for batch in survivors.batches():
        code, array = next_of(stream)
        assert code == 0
        check_batch(array, batch)
        release(array)
    assert not stream.get_last_error(ctypes.byref(stream))
    for _ in range(2):
        code, array = next_of(stream)
        assert code == 0 and not array.release
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
    use_memory_again()
    assert moved.buffers[1] == at
    assert list((ctypes.c_float * len(expected)).from_address(at)) == expected.tolist()
    release(moved)


def test_capsules_that_nobody_consumes(batch):
    for export in (lambda: batch.column("x").__arrow_c_array__(), batch.__arrow_c_array__, batch.__arrow_c_stream__,
                   batch.__arrow_c_schema__):
        before = sys.getrefcount(batch.column("x"))
        capsule = export()
        del capsule
        gc.collect()
        after = sys.getrefcount(batch.column("x"))  # assert would keep the column
        assert after == before


def test_batches_that_cannot_be_read(tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    survivors = sluice.open(tmp_path / "run").survivors
    for path in (tmp_path / "run").glob("*.npz"):
        path.write_bytes(b"no zip")
    stream = struct_of(survivors.__arrow_c_stream__(), Stream)
    assert next_of(stream)[0] == 5  # EIO
    assert b"npz" in stream.get_last_error(ctypes.byref(stream))


def test_what_arrow_cannot_have(batch):
    square = numpy.zeros((batch.n, 2))
    for other, error, message, call in [
            ({"time": 3.0, "cell": square}, TypeError, "time", "schema"),
            ({"cell": square}, BufferError, "one dimension", "array"),
            ({"name": numpy.full(batch.n, "a")}, TypeError, "name: Arrow has no type", "schema")]:
        table = sluice.filter({"x": batch["x"], **other})
        with pytest.raises(error, match=message):
            getattr(table, f"__arrow_c_{call}__")()


def test_columns_of_another_length(batch):
    for n in (batch.n - 1, batch.n + 1, -1):
        table = sluice.Table(n, {"x": batch.column("x")})
        with pytest.raises(ValueError, match="the same number of items"):
            table.__arrow_c_array__()
        stream = struct_of(table.__arrow_c_stream__(), Stream)
        code, array = next_of(stream)
        assert code == 5 and not array.release
        assert b"same number" in stream.get_last_error(ctypes.byref(stream))
    part = sluice.Table(batch.n - 3, {name: batch.column(name)[3:] for name in batch})
    a = struct_of(part.__arrow_c_array__()[1], Array)
    assert a.length == batch.n - 3 and all(a.children[i].contents.length == a.length for i in range(a.n_children))


def test_pyarrow_and_polars():
    pyarrow = pytest.importorskip("pyarrow")
    result = sluice.run(SLAB)
    table = pyarrow.table(result.survivors)
    table.validate(full=True)
    expected = {name: result.survivors[name].copy() for name in result.survivors}
    assert table.column_names == list(expected) and table.num_rows == result.survivors.n
    assert table.schema.field("x").metadata == {b"unit": b"cm"} and table["x"].num_chunks == 6
    batch = next(iter(result.survivors.batches()))
    assert pyarrow.record_batch(batch)["x"].buffers()[1].address == batch["x"].ctypes.data
    assert pyarrow.array(batch.column("id")).to_pylist() == batch["id"].tolist()
    survivors = result.survivors
    del result, batch
    use_memory_again()
    same_columns({name: table[name].to_numpy() for name in expected}, expected)
    frame = pytest.importorskip("polars").DataFrame(survivors)
    same_columns({name: frame[name].to_numpy() for name in expected}, expected)
