"""Pickles and copies of results and errors, which process pools, caches and copy.deepcopy() use."""
import concurrent.futures
import copy
import pickle

import numpy
import pytest

import sluice
from conftest import SLAB, SOURCE, same_columns

DEMO = SOURCE / "data/configs/demo.yaml"
COLUMNS = ["x", "id", "radius", "pixel", "weight"]


def copies(value):
    return [pickle.loads(pickle.dumps(value, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)] + [
        copy.deepcopy(value)]


def counts(run):
    return {name: fate.count for name, fate in run.fates.items()}


@pytest.mark.parametrize("out", [None, "out"])
def test_results(out, tmp_path):
    made = sluice.run(DEMO, out=out and tmp_path / out, particles=6000, batch=1000, tallies=["x:10:-3 cm..3 cm"],
                      columns={"radius": "sqrt(x^2 + y^2)"}, output__columns=COLUMNS, output__image=True, output__format="npz")
    same_columns(made.survivors, made.survivors)  # joins the columns, which the copies must not contain twice
    for run in copies(made):
        same_columns(run.survivors, made.survivors)
        assert run.fates == made.fates and run.report == made.report and run.directory == made.directory
        assert numpy.array_equal(run.image, made.image)
        assert numpy.array_equal(run.tallies["x"].fates["hit"]["mean"], made.tallies["x"].fates["hit"]["mean"])
        for name, unit in (("x", "cm"), ("radius", "cm"), ("pixel", "")):
            assert (run.survivors.column(name).name, run.survivors.column(name).unit) == (name, unit)
    size = sum(made.survivors.column(c).nbytes for c in made.survivors)
    assert len(pickle.dumps(made.survivors)) < (1.2 * size + 1e4 if out is None else 1e4)


def test_batches_and_slices():
    batch = next(sluice.stream(SLAB))
    for made in copies(batch):
        same_columns(made, batch)
        assert made.digests == batch.digests and made.number == batch.number
    for part in (slice(0, 0), slice(3, 5), slice(0, batch.n)):
        for made in copies(batch.column("x")[part]):
            assert made.tolist() == batch.column("x")[part].tolist()


def test_errors_of_worker_processes():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        error = pool.submit(sluice.run, SLAB, model__slab__gg=1).exception()
    assert isinstance(error, sluice.Error) and "gg" in str(error)
    for made in copies(error):
        assert type(made) is sluice.Error and str(made) == str(error) and made.status == error.status and made.problems == error.problems


def test_stream_ends_with_the_result():
    seen = []
    stream = sluice.stream(SLAB, progress=lambda done, *rest: seen.append(done))
    assert stream.result is None and sum(b.n for b in stream) == stream.result.report["tallies"]["survivors"]
    assert counts(stream.result) == counts(sluice.run(SLAB)) and seen[-1] == 6000
    assert list(stream) == [] and stream.result
    stream = sluice.stream(SLAB)
    next(stream), stream.close()
    assert stream.result is None and list(stream) == []
    with pytest.raises(sluice.Error) as caught:
        list(sluice.stream(SLAB, check={"transmitted": 0.1}))
    assert counts(caught.value.result) == counts(sluice.run(SLAB))


def test_tables_are_no_arrays():
    for table in (sluice.run(SLAB).survivors, next(sluice.stream(SLAB))):
        with pytest.raises(TypeError, match="DataFrame"):
            numpy.asarray(table)
