"""Arrays in the memory of a device: survivors that stay there, and primitives and filter() on them.

The emulated device runs the same code as a GPU, with arrays that the host can read. test_gpu.py has what needs a GPU.
"""
import gc
import pickle
import sys
import zlib

import numpy
import pytest

import sluice
from sluice._column import DeviceColumn, concat
from conftest import DEVICES, GPU, SLAB, SOURCE, host, in_threads, refused, same_columns, share

COLUMNS = ["id", "x", "y", "weight", "u", "v", "w", "time", "collisions", "fate", "steps"]
device_axis = pytest.mark.parametrize("device", DEVICES)


def on_device(device="emulated", **settings):
    return sluice.run(SLAB, arrays="device", device=device, **settings)


def batch_of(device="emulated", n=20000):
    """A batch with all columns, of n particles of which some are kept."""
    return next(on_device(device, particles=n, batch=n, output__columns=COLUMNS).survivors.batches())


# --- runs -----------------------------------------------------------------------------------------

@device_axis
@pytest.mark.parametrize("mode", ["staged", "fused"])
@pytest.mark.parametrize("keep", ["transmitted", "transmitted and w > 2"])
def test_survivors_have_the_bits_of_the_host(device, mode, keep):
    expected = sluice.run(SLAB, output__columns=COLUMNS, keep=keep)
    run = on_device(device, mode=mode, output__columns=COLUMNS, keep=keep)
    assert {n: f[:3] for n, f in run.fates.items()} == {n: f[:3] for n, f in expected.fates.items()}
    for made, batch in zip(run.survivors.batches(), expected.survivors.batches(), strict=True):
        assert made.n == batch.n and made.digests == batch.digests and list(made) == list(batch)
        same_columns({name: host(made.column(name)) for name in batch}, batch)
    same_columns({name: host(run.survivors.column(name)) for name in expected.survivors}, expected.survivors)


@device_axis
def test_stream_outlives_the_run_and_its_batches(device):
    kept = [batch["x"][1:] for batch in sluice.stream(SLAB, arrays="device", device=device)]
    gc.collect()
    for _ in sluice.stream(SLAB, arrays="device", device=device, seed=77):
        pass  # its batches may not use the memory of those
    expected = [b["x"][1:] for b in sluice.stream(SLAB)]
    assert all(numpy.array_equal(host(a), b) for a, b in zip(kept, expected, strict=True))


def test_survivors_of_several_devices():
    same_columns(on_device("emulated:3").survivors, sluice.run(SLAB).survivors)
    for batch in sluice.stream(SLAB, arrays="device", device="emulated:3"):
        sums = sluice.scan(batch.column("collisions"), device="emulated", inclusive=True)  # of whichever device
        assert numpy.array_equal(sums, numpy.cumsum(batch["collisions"], dtype=numpy.uint32))


@device_axis
def test_memory_is_used_again(device):
    addresses = set()
    for batch in sluice.stream(SLAB, arrays="device", device=device, particles=12000, batch=200):
        column = batch.column("x")
        addresses.add((getattr(column, "__cuda_array_interface__", None) or column.__array_interface__)["data"][0])
        del batch, column
    assert len(addresses) < 30  # of 60 batches


@device_axis
def test_image_is_that_of_the_host(device):
    config = SOURCE / "data/configs/rays.yaml"
    expected = sluice.run(config, particles=20000)
    made = sluice.run(config, arrays="device", device=device, particles=20000)
    assert expected.image is not None and numpy.array_equal(made.image, expected.image)


def test_refusals(tmp_path):
    refused(lambda: on_device("cpu"), "USAGE", "on the CPU cannot stay on a device")
    with pytest.raises(ValueError, match="leave out"):
        sluice.run(SLAB, tmp_path / "run", arrays="device")
    with pytest.raises(ValueError, match="use 'host' or 'device'"):
        sluice.stream(SLAB, arrays="gpu")
    column = batch_of(n=1000).column("collisions")
    refused(lambda: sluice.scan(column, device="emulated", out=numpy.zeros(len(column), numpy.uint32)),
            "USAGE", "out: the array is in memory of the host, but must be on the emulated")


def test_columns_that_the_host_cannot_read():
    """As on a GPU, although this memory is of the emulated device."""
    host_columns = [batch_of(n=n).column("collisions") for n in (3000, 4099)]
    columns = [DeviceColumn(*c._place[:2], c.dtype, len(c), c.name, c.unit) for c in host_columns]
    values = [numpy.array(c) for c in host_columns]
    column, interface = columns[0], columns[0].__cuda_array_interface__
    assert interface == {"shape": column.shape, "typestr": "<u4", "data": (host_columns[0].ctypes.data, False),
                         "strides": None, "stream": None, "version": 3}
    assert column.device == "cuda:0" and column.__dlpack_device__() == (2, 0) and column[:0].shape == (0,)
    assert column[:0].__cuda_array_interface__["data"] == (0, False) and column.nbytes == 4 * len(column)
    assert numpy.array_equal(column[2:7].to_host(), values[0][2:7]) and column[5:2].to_host().shape == (0,)
    whole = concat(columns)
    assert whole.name == "collisions" and numpy.array_equal(whole, numpy.concatenate(values)) and whole._place
    assert numpy.array_equal(sluice.scan(column[4:], device="emulated", inclusive=True), numpy.cumsum(values[0][4:]))
    for call in (lambda: numpy.asarray(column), lambda: column[0], column.tolist, lambda: pickle.dumps(column),
                 lambda: sluice.Table(len(column), {"x": column}).__arrow_c_array__()):
        with pytest.raises(TypeError, match="to_host"):
            call()
    for wrong in (dict(stream=0), dict(stream=-2), dict(dl_device=(2, 1)), dict(copy=True)):
        with pytest.raises((BufferError, ValueError)):
            column.__dlpack__(**wrong)
    before = sys.getrefcount(column._memory)
    capsules = [column.__dlpack__(), column.__dlpack__(stream=-1, max_version=(1, 1))]
    assert '"dltensor"' in repr(capsules[0]) and "dltensor_versioned" in repr(capsules[1])
    del capsules
    after = sys.getrefcount(column._memory)  # assert would keep it
    assert after == before


# --- primitives on the emulated device ------------------------------------------------------------

def test_primitives_on_emulated_columns():
    column, other = (batch_of(n=4099).column("collisions") for _ in range(2))
    values = numpy.array(column)
    assert numpy.array_equal(sluice.scan(column, device="emulated", inclusive=True),
                             numpy.cumsum(values, dtype=numpy.uint32))
    keys = sluice.sort(column, device="emulated")
    assert numpy.array_equal(keys, numpy.sort(values))
    for made in sluice.sort(column, other, device="emulated"):
        assert numpy.array_equal(made, keys)
    assert zlib.decompress(sluice.deflate(column, device="emulated").tobytes()) == values.tobytes()
    assert numpy.array_equal(values, column)
    assert sluice.scan(column, device="emulated", out=column) is column


def test_primitives_while_a_stream_is_open():
    stream = sluice.stream(SLAB, arrays="device", device="emulated")
    batch = next(stream)
    sums = sluice.scan(batch.column("collisions"), device="emulated")
    assert numpy.array_equal(sums[1:], numpy.cumsum(batch["collisions"], dtype=numpy.uint32)[:-1])
    refused(lambda: sluice.run(SLAB), "USAGE", "has a run in progress")
    if GPU:
        refused(lambda: sluice.scan(numpy.zeros(4, numpy.uint32), device="cuda"), "USAGE", "has a run in progress")
    stream.close()


def test_calls_of_many_threads():
    """The memory that is kept for the next call belongs to one call at a time, on the host and on the device."""
    columns = [(batch_of(n=500 + i).column("collisions"), "emulated") for i in range(4)]
    columns += [(numpy.random.default_rng(i).integers(0, 1 << 60, 60_000, "u8"), None) for i in range(4)]
    right = []

    def work(column, device):
        right.extend(numpy.array_equal(sluice.sort(column, device=device), numpy.sort(numpy.asarray(column)))
                     for _ in range(5))
    for part in (columns[:4], columns[4:]):
        in_threads(lambda c=c: work(*c) for c in part)
    assert right == [True] * 40


# --- filter ---------------------------------------------------------------------------------------

FILTERS = [("x > 0 cm and abs(y) < 1 mm", None), ("w^2 < 0.5 and collisions >= 2", ["-w:float"]),
           ("id in [3, 5, 700] or steps > 1", None), (None, ["collisions:8:0..255", "-x:float"]),
           ("r < 0.5 mm or theta < 20 deg", "theta:float"), ("time < 0 ns", "w:16")]


@device_axis
def test_filter_has_the_result_of_the_host(device):
    batch = batch_of(device)
    columns = {name: batch.column(name) for name in batch}
    values, where = {name: host(c) for name, c in columns.items()}, device if device == "emulated" else None
    for condition, key in share(FILTERS, 3):
        right = sluice.filter(values, condition, key=key)
        made = sluice.filter(columns, condition, key=key, device=where)
        assert made.n == right.n and numpy.array_equal(host(made.index), right.index), condition
        same_columns({name: host(made.column(name)) for name in right}, right)
    columns = {"x": columns["x"], "w": columns["w"], "energy": 0.002, "pdg": 22}  # numbers for all particles
    made = sluice.filter(columns, "ekin > 1 eV and pdg == photon and x > 0 cm", key="energy:float", device=where)
    assert made.n == int((values["x"] > 0).sum()) and made["energy"] == 0.002
    assert sluice.filter(columns, "ekin > 3 eV", device=where).n == 0
    with pytest.raises(sluice.Error, match="weight has 3|weight: the array"):
        sluice.filter({**columns, "weight": columns["x"][:3]}, "weight > 0", device=where)


def test_filter_refuses_another_device():
    refused(lambda: sluice.filter({"x": numpy.zeros(3)}, "x > 0 cm", device="emulated"),
            "USAGE", "in memory of the host; leave device out")
    batch = batch_of()
    refused(lambda: sluice.filter({"x": batch.column("x"), "y": numpy.zeros(batch.n)}, "x > y", device="emulated"),
            "USAGE", "y: the array is not on the device of the other columns")
