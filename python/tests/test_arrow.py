"""Arrow: what pyarrow and polars read."""
import numpy
import pytest

import sluice
from conftest import SLAB, same_columns, use_memory_again

pyarrow = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("keep", ["transmitted", "transmitted and w < -2"])  # some and none
def test_survivors_are_a_stream(keep):
    survivors = sluice.run(SLAB, keep=keep, output__columns=["id", "x", "collisions", "fate"]).survivors
    table = pyarrow.table(survivors)
    assert table.schema.equals(pyarrow.schema(survivors), check_metadata=True) and table.num_rows == survivors.n
    same_columns({name: table[name].to_numpy() for name in survivors}, survivors)
    for name, field in zip(survivors, table.schema):
        unit = sluice.COLUMNS[name].unit
        assert field.type == pyarrow.from_numpy_dtype(survivors[name].dtype)
        assert field.metadata == ({b"unit": unit.encode()} if unit else None)


def test_a_stream_that_fails(tmp_path):
    sluice.run(SLAB, out=tmp_path / "run", output__format="npz")
    survivors = sluice.open(tmp_path / "run").survivors
    for path in (tmp_path / "run").glob("*.npz"):
        path.write_bytes(b"no zip")
    with pytest.raises((OSError, ValueError), match="npz"):
        pyarrow.table(survivors)


def test_what_arrow_cannot_have():
    batch = next(sluice.stream(SLAB))
    for other in ({"time": 3.0}, {"cell": numpy.zeros((batch.n, 2))}):
        with pytest.raises(pyarrow.ArrowInvalid):
            sluice.filter({"x": batch["x"], **other}).__arrow_c_array__()


def test_pyarrow_and_polars():
    result = sluice.run(SLAB)
    table = pyarrow.table(result.survivors)
    table.validate(full=True)
    expected = {name: result.survivors[name].copy() for name in result.survivors}
    assert table.column_names == list(expected) and table.num_rows == result.survivors.n
    assert table.schema.field("x").metadata == {b"unit": b"cm"} and table["x"].num_chunks == 6
    batch = next(result.survivors.batches())
    assert pyarrow.record_batch(batch)["x"].buffers()[1].address == batch["x"].ctypes.data
    assert pyarrow.array(batch.column("x")[5:9]).buffers()[1].address == batch["x"][5:].ctypes.data
    assert pyarrow.array(batch.column("id")).to_pylist() == batch["id"].tolist()
    assert pyarrow.field(batch.column("x")) == table.schema.field("x") and pyarrow.table(batch) == table[:batch.n]
    assert pytest.importorskip("polars").DataFrame(batch).shape == (batch.n, len(batch))
    survivors = result.survivors
    del result, batch
    use_memory_again()
    same_columns({name: table[name].to_numpy() for name in expected}, expected)
    frame = pytest.importorskip("polars").DataFrame(survivors)
    same_columns({name: frame[name].to_numpy() for name in expected}, expected)
