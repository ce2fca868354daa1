"""Arrays in the memory of a device: survivors that stay there, and primitives on them.

The emulated device runs the same code with arrays that the host can read. The tests of a GPU need a build with
CUDA, and run with what is installed of torch, CuPy, JAX and numba.
"""
import gc
import importlib.util
import re
import zlib

import numpy
import pytest

import sluice
from conftest import SLAB, SOURCE, in_threads, refused, same_columns

COLUMNS = ["id", "x", "y", "weight", "u", "v", "w", "time", "collisions", "fate", "steps"]


def has_gpu():
    try:
        sluice.scan(numpy.zeros(4, numpy.uint32), device="cuda")
        return True
    except sluice.Error:
        return False


GPU = has_gpu()
needs_gpu = pytest.mark.skipif(not GPU, reason="no GPU, or a build without CUDA")
DEVICES = ["emulated", pytest.param("cuda", marks=needs_gpu)]


def host(array):
    """An array of any library as one of NumPy."""
    if isinstance(array, sluice.Column):
        return numpy.asarray(array.to_host())
    if hasattr(array, "cpu"):
        return array.cpu().numpy()
    if hasattr(array, "get"):
        return array.get()
    return numpy.asarray(array)


# --- runs -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", ["staged", "fused"])
@pytest.mark.parametrize("keep", ["transmitted", "transmitted and w > 2"])
def test_survivors_have_the_bits_of_the_host(device, mode, keep):
    expected = sluice.run(SLAB, output__columns=COLUMNS, keep=keep)
    run = sluice.run(SLAB, arrays="device", device=device, mode=mode, output__columns=COLUMNS, keep=keep)
    assert {n: f[:3] for n, f in run.fates.items()} == {n: f[:3] for n, f in expected.fates.items()}
    for made, batch in zip(run.survivors.batches(), expected.survivors.batches()):
        assert made.n == batch.n and made.digests == batch.digests and list(made) == list(batch)
        same_columns({name: host(made.column(name)) for name in batch}, batch)
    same_columns({name: host(run.survivors.column(name)) for name in expected.survivors}, expected.survivors)


@pytest.mark.parametrize("device", DEVICES)
def test_stream_outlives_the_run_and_its_batches(device):
    kept = []
    for batch in sluice.stream(SLAB, arrays="device", device=device):
        kept.append(batch["x"][1:] if batch.n > 1 else batch["x"])
    del batch
    gc.collect()
    for _ in sluice.stream(SLAB, arrays="device", device=device, seed=77):
        pass  # its batches may not use the memory of those
    expected = [b["x"][1:] for b in sluice.stream(SLAB)]
    assert all(numpy.array_equal(host(a), b) for a, b in zip(kept, expected))


def test_survivors_of_several_devices():
    expected = sluice.run(SLAB)
    run = sluice.run(SLAB, arrays="device", device="emulated:3")
    same_columns(run.survivors, expected.survivors)
    for batch in sluice.stream(SLAB, arrays="device", device="emulated:3"):
        column = batch.column("collisions")  # of whichever device: the call runs there
        sums = sluice.scan(column, device="emulated", inclusive=True)
        assert numpy.array_equal(sums, numpy.cumsum(batch["collisions"], dtype=numpy.uint32))


@pytest.mark.parametrize("device", DEVICES)
def test_memory_is_used_again(device):
    addresses = set()
    for batch in sluice.stream(SLAB, arrays="device", device=device, particles=1e5, batch=1000):
        column = batch.column("x")
        addresses.add(_address(column))
        del batch, column
    assert len(addresses) < 30  # of 100 batches


def _address(column):
    return (getattr(column, "__cuda_array_interface__", None) or column.__array_interface__)["data"][0]


@pytest.mark.parametrize("device", DEVICES)
def test_image_is_that_of_the_host(device):
    config = SOURCE / "data/configs/rays.yaml"
    expected = sluice.run(config, particles=20000)
    made = sluice.run(config, arrays="device", device=device, particles=20000)
    assert expected.image is not None and numpy.array_equal(made.image, expected.image)


def test_refusals(tmp_path):
    refused(lambda: sluice.run(SLAB, arrays="device", device="cpu"), "USAGE", "on the CPU cannot stay on a device")
    with pytest.raises(ValueError, match="leave out"):
        sluice.run(SLAB, tmp_path / "run", arrays="device")
    with pytest.raises(ValueError, match="use 'host' or 'device'"):
        sluice.stream(SLAB, arrays="gpu")


# --- primitives on the emulated device ------------------------------------------------------------

def emulated(n=4099):
    """A column of the emulated device: uint32, with n items or fewer."""
    run = sluice.run(SLAB, arrays="device", device="emulated", particles=n, batch=n, keep="transmitted")
    return next(run.survivors.batches()).column("collisions")


def test_primitives_on_emulated_columns():
    column = emulated()
    values = numpy.asarray(column)
    assert numpy.array_equal(sluice.scan(column, device="emulated", inclusive=True),
                             numpy.cumsum(values, dtype=numpy.uint32))
    keys = sluice.sort(column, device="emulated")
    assert numpy.array_equal(keys, numpy.sort(values))
    made = sluice.sort(column, emulated(), device="emulated")
    assert numpy.array_equal(made[0], keys) and numpy.array_equal(made[1], keys)
    assert zlib.decompress(sluice.deflate(column, device="emulated").tobytes()) == values.tobytes()
    assert numpy.array_equal(values, numpy.asarray(column))
    assert sluice.scan(column, device="emulated", out=column) is column


def test_primitives_while_a_stream_is_open():
    stream = sluice.stream(SLAB, arrays="device", device="emulated")
    for batch in stream:
        sums = sluice.scan(batch.column("collisions"), device="emulated")
        assert numpy.array_equal(sums[1:], numpy.cumsum(batch["collisions"], dtype=numpy.uint32)[:-1])
        break
    with pytest.raises(sluice.Error, match="has a run in progress"):
        sluice.run(SLAB)
    if GPU:
        with pytest.raises(sluice.Error, match="has a run in progress"):
            sluice.scan(numpy.zeros(4, numpy.uint32), device="cuda")
    stream.close()


def test_emulated_and_host_arrays_do_not_mix():
    column = emulated()
    refused(lambda: sluice.scan(column, device="emulated", out=numpy.zeros(len(column), numpy.uint32)),
            "USAGE", "out: the array is in memory of the host, but must be on the emulated")


def test_calls_of_many_threads():
    columns = [emulated(500 + i) for i in range(4)]
    wrong = []

    def work(column):
        for _ in range(5):
            keys = sluice.sort(column, device="emulated")
            if not numpy.array_equal(keys, numpy.sort(numpy.asarray(column))):
                wrong.append(column)
    in_threads(lambda c=c: work(c) for c in columns)
    assert not wrong


# --- filter ---------------------------------------------------------------------------------------

FILTERS = [("x > 0 cm and abs(y) < 1 mm", None), ("w^2 < 0.5 and collisions >= 2", ["-w:float"]),
           ("id in [3, 5, 700] or fate_like > 1", None), (None, ["collisions:8:0..255", "-x:float"]),
           ("r < 0.5 mm or theta < 20 deg", "theta:float"), ("time < 0 ns", "w:16")]


def batch_of(device):
    run = sluice.run(SLAB, arrays="device", device=device, particles=20000, batch=20000, output__columns=COLUMNS)
    return next(run.survivors.batches())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("condition, key", FILTERS)
def test_filter_has_the_result_of_the_host(device, condition, key):
    if condition:
        condition = condition.replace("fate_like", "steps")
    batch = batch_of(device)
    columns = {name: batch.column(name) for name in batch}
    right = sluice.filter({name: host(c) for name, c in columns.items()}, condition, key=key)
    made = sluice.filter(columns, condition, key=key, device=device if device == "emulated" else None)
    assert made.n == right.n and numpy.array_equal(host(made.index), right.index)
    same_columns({name: host(made.column(name)) for name in right}, right)


@pytest.mark.parametrize("device", DEVICES)
def test_filter_with_numbers_for_all_particles(device):
    batch = batch_of(device)
    columns = {"x": batch.column("x"), "w": batch.column("w"), "energy": 0.002, "pdg": 22}
    where = device if device == "emulated" else None
    made = sluice.filter(columns, "ekin > 1 eV and pdg == photon and x > 0 cm", key="energy:float", device=where)
    assert made.n == int((host(columns["x"]) > 0).sum()) and made["energy"] == 0.002
    assert sluice.filter(columns, "ekin > 3 eV", device=where).n == 0
    with pytest.raises(sluice.Error, match="weight has 3|weight: the array"):
        sluice.filter({**columns, "weight": columns["x"][:3]}, "weight > 0", device=where)


def test_filter_refuses_another_device():
    refused(lambda: sluice.filter({"x": numpy.zeros(3)}, "x > 0 cm", device="emulated"),
            "USAGE", "in memory of the host; leave device out")
    batch = batch_of("emulated")
    refused(lambda: sluice.filter({"x": batch.column("x"), "y": numpy.zeros(batch.n)}, "x > y", device="emulated"),
            "USAGE", "y: the array is not on the device of the other columns")


@needs_gpu
def test_gpu_filter_of_other_libraries():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    random = numpy.random.default_rng(3)
    values = {"x": random.normal(size=50000), "energy": random.random(50000).astype("f4"),
              "pdg": random.choice(numpy.array([22, 2112]), 50000), "mine": random.random((50000, 3))}
    condition, key = "abs(x) < 5 mm and pdg == neutron and ekin < 0.5 keV", ["energy:float"]
    right = sluice.filter(values, condition, key=key)
    for move in (lambda a: torch.from_numpy(a).cuda(), cupy.asarray):
        made = sluice.filter({name: move(a) for name, a in values.items()}, condition, key=key)
        assert made.n == right.n and numpy.array_equal(host(made.index), right.index)
        for name in right:
            assert numpy.array_equal(host(made[name]), right[name]), name
        assert type(made["mine"]) is type(move(values["mine"]))
    strided = {"x": cupy.asarray(values["x"])[::2], "energy": torch.from_numpy(values["energy"]).cuda()[::2]}
    made = sluice.filter(strided, "x > 0 cm and ekin > 0.2 keV")
    assert made.n == sluice.filter({n: host(a) for n, a in strided.items()}, "x > 0 cm and ekin > 0.2 keV").n
    bad = values["x"].copy()
    bad[17] = 1e300
    with pytest.raises(sluice.Error, match=r"x.17. is 1e.300, which is not finite"):
        sluice.filter({"x": cupy.asarray(bad)}, "x > 0 cm")


# --- on a GPU -------------------------------------------------------------------------------------

class Numba:
    """An array that has only __cuda_array_interface__, of a column or of an array of a library."""

    def __init__(self, array, **changes):
        self.owner = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


def of_torch(values):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(values.astype({"uint32": "int32", "uint64": "int64"}[values.dtype.name])).cuda().view(
        getattr(torch, values.dtype.name))


def of_cupy(values):
    return pytest.importorskip("cupy").asarray(values)


def of_jax(values):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.device_put(values, jax.devices("gpu")[0])


def of_interface(values):
    return Numba(pytest.importorskip("cupy").asarray(values))


PRODUCERS = [of_torch, of_cupy, of_jax, of_interface]


@needs_gpu
@pytest.mark.parametrize("make", PRODUCERS)
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("n", [0, 1, 1000, 1 << 20])
def test_gpu_arrays_of_other_libraries(make, dtype, n):
    values = numpy.random.default_rng(1).integers(0, 1 << 31, n).astype(dtype)
    array = make(values)
    sums = sluice.scan(array, inclusive=True)
    number = getattr(array, "owner", array).__dlpack_device__()[1]  # JAX may make another GPU the current one
    assert isinstance(sums, sluice.Column) and sums.device == f"cuda:{number}"
    assert numpy.array_equal(host(sums), numpy.cumsum(values, dtype=dtype))
    assert numpy.array_equal(host(sluice.sort(array)), numpy.sort(values))
    assert zlib.decompress(host(sluice.deflate(array)).tobytes()) == values.tobytes()
    if n > 0:
        flags = sluice.compact(pytest.importorskip("cupy").asarray(values % 3 == 0))
        assert numpy.array_equal(host(flags), numpy.flatnonzero(values % 3 == 0))


@needs_gpu
def test_gpu_sort_of_pairs_and_out():
    torch = pytest.importorskip("torch")
    keys = torch.randint(0, 1000, (1 << 18,), dtype=torch.int32, device="cuda").view(torch.uint32)
    index = torch.arange(len(keys), dtype=torch.int32, device="cuda")
    out = (torch.empty_like(keys), torch.empty_like(index))
    assert sluice.sort(keys, index, out=out) is not None
    expected = torch.sort(keys.view(torch.int32), stable=True)
    assert torch.equal(out[0].view(torch.int32), expected.values)
    assert torch.equal(out[1].long(), expected.indices)
    sums = torch.empty_like(keys)
    assert sluice.scan(keys, out=sums) is sums
    assert torch.equal(sums.view(torch.int32)[1:], torch.cumsum(keys.view(torch.int32), 0)[:-1].int())
    room = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
    packed = sluice.deflate(keys, out=room)
    assert zlib.decompress(host(packed).tobytes()) == host(keys.view(torch.int32)).tobytes()


@needs_gpu
def test_gpu_streams_are_ordered():
    """Work of three streams, of which each waits for the one before by the protocols only."""
    torch = pytest.importorskip("torch")
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(first):
            array = torch.zeros(1 << 22, dtype=torch.int32, device="cuda")
            torch.cuda._sleep(2_000_000)
            array += 1  # queued behind the pause
            sums = sluice.scan(array, stream=second)  # of the current stream, first; runs on second
        with torch.cuda.stream(torch.cuda.Stream()):
            tensor = torch.from_dlpack(sums)  # waits for second
            total = tensor[-1].item()
        assert total == (1 << 22) - 1
        again = sluice.scan(array, stream=second, inclusive=True)
        view = torch.as_tensor(Numba(again), device="cuda")
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        assert view[-1].item() == 1 << 22


@needs_gpu
def test_gpu_calls_with_a_stream_do_not_wait():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    array = torch.ones(1000, dtype=torch.int32, device="cuda")
    out = torch.empty_like(array)
    sluice.scan(array, out=out, stream=stream)
    stream.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(2_000_000_000)
    sluice.scan(array, out=out, stream=stream.cuda_stream)
    assert not stream.query()
    stream.synchronize()
    assert out[-1].item() == 999


@needs_gpu
def test_gpu_batches_in_torch_cupy_jax_without_a_copy():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    expected = [b for b in sluice.stream(SLAB)]
    for batch, right in zip(sluice.stream(SLAB, arrays="device", device="cuda"), expected):
        column = batch["x"]
        address = column.__cuda_array_interface__["data"][0]
        assert column.__dlpack_device__() == (2, 0) and column.__cuda_array_interface__["stream"] is None
        tensor = torch.from_dlpack(column)
        assert tensor.data_ptr() == address and tensor.is_cuda
        array = cupy.asarray(column)
        assert array.data.ptr == address
        assert cupy.from_dlpack(column).data.ptr == address
        del batch, column
        gc.collect()
        assert numpy.array_equal(host(tensor), right["x"]) and numpy.array_equal(host(array), right["x"])


@needs_gpu
@pytest.mark.parametrize("name", ["jax.dlpack", "numba.cuda"])
def test_gpu_batches_in_jax_and_numba(name):
    other = pytest.importorskip(name)
    take = other.from_dlpack if name == "jax.dlpack" else lambda column: other.as_cuda_array(column).copy_to_host()
    for batch in sluice.stream(SLAB, arrays="device", device="cuda"):
        assert numpy.array_equal(numpy.asarray(take(batch["x"])), host(batch["x"]))


@needs_gpu
def test_gpu_memory_is_not_used_while_a_kernel_reads_it():
    """A view is dropped while kernels that read it are queued; later batches must not overwrite it."""
    torch = pytest.importorskip("torch")
    expected = [float((b["x"].astype("float64") ** 2).sum()) for b in sluice.stream(SLAB, particles=50000)]
    sums, stream = [], torch.cuda.Stream()
    for batch in sluice.stream(SLAB, arrays="device", device="cuda", particles=50000):
        with torch.cuda.stream(stream):
            tensor = torch.from_dlpack(batch["x"])
            torch.cuda._sleep(3_000_000)
            sums.append((tensor.double() ** 2).sum())
        del batch, tensor
    assert numpy.allclose([s.item() for s in sums], expected, rtol=1e-12)


@needs_gpu
def test_gpu_column_members():
    batch = next(sluice.stream(SLAB, arrays="device", device="cuda"))
    column = batch["x"]
    for error, call in [(TypeError, lambda: numpy.asarray(column)), (BufferError, lambda: memoryview(column)),
                        (TypeError, lambda: column[0]), (BufferError, batch.__arrow_c_array__)]:
        with pytest.raises(error, match="to_host"):
            call()
    assert not hasattr(column, "__array_interface__")
    assert len(column[2:5]) == 3 and numpy.array_equal(host(column[2:5]), host(column)[2:5])
    with pytest.raises(ValueError, match="stream: 0"):
        column.__dlpack__(stream=0)
    for stream in (None, -1, 1, 2):
        assert "dltensor" in repr(column.__dlpack__(stream=stream))
    assert "dltensor_versioned" in repr(column.__dlpack__(stream=1, max_version=(1, 1)))
    assert numpy.array_equal(numpy.from_dlpack(column, device="cpu"), host(column))


@needs_gpu
def test_gpu_refusals():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    array = torch.zeros(1000, dtype=torch.int32, device="cuda")
    number = array.device.index  # JAX may have made another GPU than the first the current one
    for message, call in [
            ("gaps between its items", lambda: sluice.scan(array[::2])),
            ("items of float32; convert", lambda: sluice.scan(array.float())),
            ("must have one", lambda: sluice.scan(array.view(10, 100))),
            (f"out: the array is in memory of the host, but must be on device cuda:{number}",
             lambda: sluice.scan(array, out=numpy.zeros(1000, numpy.int32))),
            ("must have 1000 of int32", lambda: sluice.scan(array, out=torch.zeros(999, dtype=torch.int32, device="cuda"))),
            ("is not where the array is", lambda: sluice.scan(array, device=f"cuda:{number + 1}")),
            ("is not where the array is", lambda: sluice.scan(array, device="emulated")),
            ("backend", lambda: sluice.scan(array, backend="cpu")),
            ("shape (n,) and items of uint8",
             lambda: sluice.deflate(array, out=torch.zeros(4000, dtype=torch.int32, device="cuda")))]:
        with pytest.raises(sluice.Error, match=re.escape(message)):
            call()
    with pytest.raises(BufferError, match="read-only"):
        sluice.scan(array, out=Numba(cupy.zeros(1000, "int32"), data=(cupy.zeros(1000, "int32").data.ptr, True)))
    if importlib.util.find_spec("jax"):  # its arrays are immutable
        values = of_jax(numpy.ones(1000, numpy.int32))
        with pytest.raises(BufferError, match="read-only"):
            sluice.scan(values, out=values)
        assert numpy.array_equal(numpy.asarray(values), numpy.ones(1000))
    with pytest.raises(ValueError, match="no stream"):
        sluice.scan(numpy.zeros(4, numpy.uint32), stream=1)
    with pytest.raises(TypeError, match="no CUDA stream"):
        sluice.scan(array, stream="default")


def has_two_gpus():
    return GPU and importlib.util.find_spec("torch") and importlib.import_module("torch").cuda.device_count() > 1


needs_gpus = pytest.mark.skipif(not has_two_gpus(), reason="no two GPUs, or no torch")


@needs_gpus
def test_gpus_current_device_stays():
    torch = pytest.importorskip("torch")
    for current in (0, 1):
        torch.cuda.set_device(current)
        for device in ("cuda:0", "cuda:1"):
            sluice.scan(numpy.ones(100, numpy.uint32), device=device)
            assert torch.cuda.current_device() == current
        for device in (0, 1):
            array = torch.ones(100, dtype=torch.int32, device=device)
            sums = sluice.scan(array)
            assert sums.device == f"cuda:{device}" and host(sums)[-1] == 99
            assert torch.cuda.current_device() == current
    torch.cuda.set_device(0)


@needs_gpus
def test_gpus_array_of_another_device_than_the_current_one():
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    torch.cuda.set_device(1)
    array = cupy.ones(1 << 20, "int32")
    torch.cuda.set_device(0)
    for made in (array, Numba(array)):
        sums = sluice.scan(made)
        assert sums.device == "cuda:1" and host(sums)[-1] == (1 << 20) - 1


@needs_gpus
def test_gpus_default_stream_of_another_device_waits():
    """Contents that a stream of the second GPU makes, for its default stream, while the first one is current."""
    torch, cupy = pytest.importorskip("torch"), pytest.importorskip("cupy")
    array = torch.ones(1 << 20, dtype=torch.int32, device="cuda:1")
    with torch.cuda.device(1):
        stream = torch.cuda.Stream()
    torch.cuda.set_device(0)
    sluice.scan(array, stream=stream)
    for take in (torch.from_dlpack, lambda c: torch.as_tensor(Numba(c), device="cuda:1"), cupy.from_dlpack):
        torch.cuda.synchronize(1)
        with torch.cuda.device(1), torch.cuda.stream(stream):
            torch.cuda._sleep(200_000_000)
        sums = sluice.scan(array, stream=stream, inclusive=True)
        assert int(take(sums)[-1]) == 1 << 20


@needs_gpu
def test_gpu_memory_is_level():
    """A thousand runs leave the memory of the device as it was after a few."""
    torch = pytest.importorskip("torch")
    for i in range(200):
        for batch in sluice.stream(SLAB, arrays="device", device="cuda"):
            tensor = torch.from_dlpack(batch["x"])
        del batch, tensor
        if i == 20:
            before = torch.cuda.mem_get_info()[0]
    assert before - torch.cuda.mem_get_info()[0] < 32 << 20
