"""Arrow: the structs of the C data interface, field by field, and the libraries that read them."""
import ctypes
import gc
import struct
import sys

import numpy
import pytest

import sluice
from conftest import SLAB, c_struct, same_columns, use_memory_again

TYPES = {"id": "L", "x": "f", "collisions": "I", "fate": "C"}
NUMBER, TEXT, ADDRESS, ADDRESSES = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
# Their names are those of the capsules.
Schema = c_struct("arrow_schema", format=TEXT, name=TEXT, metadata=ADDRESS, flags=NUMBER, n_children=NUMBER,
                  children=ADDRESSES, dictionary=ADDRESS, release=RELEASE, private_data=ADDRESS)
Array = c_struct("arrow_array", length=NUMBER, null_count=NUMBER, offset=NUMBER, n_buffers=NUMBER, n_children=NUMBER,
                 buffers=ADDRESSES, children=ADDRESSES, dictionary=ADDRESS, release=RELEASE, private_data=ADDRESS)
Stream = c_struct("arrow_array_stream", get_schema=GET, get_next=GET,
                  get_last_error=ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p), release=RELEASE, private_data=ADDRESS)


def struct_of(capsule, kind):
    """The struct in a capsule, which it keeps alive."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    made = kind.from_address(get(capsule, kind.__name__.encode()))
    made.capsule = capsule
    return made


def children_of(s, kind):
    return [kind.from_address(s.children[i]) for i in range(s.n_children)]


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
    """The number of pairs, which is 1; then length and text of its key, and of its value."""
    if not schema.metadata:
        return {}
    pairs, length = struct.unpack("<ii", ctypes.string_at(schema.metadata, 8))
    at = schema.metadata + 8 + length
    value_length, = struct.unpack("<i", ctypes.string_at(at, 4))
    assert pairs == 1
    return {ctypes.string_at(at - length, length).decode(): ctypes.string_at(at + 4, value_length).decode()}


def check_column_schema(schema, name):
    unit = sluice.COLUMNS[name].unit
    assert (schema.name.decode(), schema.format.decode(), schema.flags) == (name, TYPES[name], 0) and schema.release
    assert schema.n_children == 0 and not schema.dictionary and metadata_of(schema) == ({"unit": unit} if unit else {})


def check_schema(schema):
    assert schema.format == b"+s" and schema.name == b"" and schema.flags == 0 and not schema.dictionary
    assert not schema.metadata and schema.n_children == len(TYPES)
    for child, name in zip(children_of(schema, Schema), TYPES):
        check_column_schema(child, name)


def check_array(array, n, n_buffers):
    assert (array.length, array.null_count, array.offset, array.n_buffers) == (n, 0, 0, n_buffers)
    assert not array.buffers[0] and not array.dictionary and array.release


def check_column(array, values):
    check_array(array, len(values), 2)
    assert array.n_children == 0 and array.buffers[1] == values.ctypes.data


def check_batch(array, batch):
    check_array(array, batch.n, 1)
    assert array.n_children == len(TYPES)
    for child, name in zip(children_of(array, Array), TYPES):
        check_column(child, batch[name])


@pytest.fixture
def batch():
    return next(sluice.stream(SLAB, output__columns=list(TYPES)))


def test_batches_and_columns(batch):
    check_schema(struct_of(batch.__arrow_c_schema__(), Schema))
    schema, array = map(struct_of, batch.__arrow_c_array__(requested_schema=batch.__arrow_c_schema__()), (Schema, Array))
    check_schema(schema)
    check_batch(array, batch)
    release(array)
    release(schema)
    column = batch.column("x")
    schema, array = map(struct_of, column.__arrow_c_array__(), (Schema, Array))
    check_column_schema(schema, "x")
    check_column(array, batch["x"])
    check_column(struct_of(column[5:9].__arrow_c_array__()[1], Array), batch["x"][5:9])
    check_column_schema(struct_of(column.__arrow_c_schema__(), Schema), "x")


@pytest.mark.parametrize("keep", ["transmitted", "transmitted and w < -2"])  # some and none
def test_survivors_are_a_stream(keep):
    survivors = sluice.run(SLAB, keep=keep, output__columns=list(TYPES)).survivors
    assert numpy.from_dlpack(survivors.column("x")).shape == survivors["x"].shape == (survivors.n,)
    check_schema(struct_of(survivors.__arrow_c_schema__(), Schema))
    stream = struct_of(survivors.__arrow_c_stream__(), Stream)
    for _ in range(2):
        schema = Schema()
        assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
        check_schema(schema)
        release(schema)
    batches = list(survivors.batches())
    assert len(batches) == 6 and (survivors.n > 0) == (keep == "transmitted")
    for batch in batches:
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
    ctypes.memset(a.children[1] + Array.release.offset, 0, 8)
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
        export()
        gc.collect()
        after = sys.getrefcount(batch.column("x"))  # assert would keep the column
        assert after == before


def expect_error(survivors, message):
    """The stream has the error EIO and this message."""
    stream = struct_of(survivors.__arrow_c_stream__(), Stream)
    code, array = next_of(stream)
    assert code == 5 and not array.release and message in stream.get_last_error(ctypes.byref(stream))


def test_what_arrow_cannot_have(batch, tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    survivors = sluice.open(tmp_path / "run").survivors
    for path in (tmp_path / "run").glob("*.npz"):
        path.write_bytes(b"no zip")
    expect_error(survivors, b"npz")
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
        expect_error(table, b"same number")
    part = sluice.Table(batch.n - 3, {name: batch.column(name)[3:] for name in batch})
    a = struct_of(part.__arrow_c_array__()[1], Array)
    assert [a.length, *(child.length for child in children_of(a, Array))] == [batch.n - 3] * 5


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
