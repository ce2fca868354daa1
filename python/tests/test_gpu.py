"""Arrays in the memory of a GPU, with what is installed of torch, CuPy, JAX and numba. test_device.py tests both devices."""
import gc
import importlib.util
import pickle
import re
import zlib

import numpy
import pytest

import sluice
from conftest import GPU, SLAB, host

pytestmark = pytest.mark.skipif(not GPU, reason="no GPU, or a build without CUDA")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def two(torch):
    """torch, with two GPUs of which the first is the current one."""
    if torch.cuda.device_count() < 2:
        pytest.skip("no two GPUs")
    yield torch
    torch.cuda.set_device(0)


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
    return Numba(of_cupy(values))


# --- primitives and filter ------------------------------------------------------------------------

@pytest.mark.parametrize("make", [of_torch, of_cupy, of_jax, of_interface])
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("n", [0, 1, 1000, 1 << 20])
def test_arrays_of_other_libraries(make, dtype, n):
    values = numpy.random.default_rng(1).integers(0, 1 << 31, n).astype(dtype)
    array = make(values)
    sums = sluice.scan(array, inclusive=True)
    number = getattr(array, "owner", array).__dlpack_device__()[1]  # JAX may make another GPU the current one
    assert isinstance(sums, sluice.Column) and sums.device == f"cuda:{number}"
    assert numpy.array_equal(host(sums), numpy.cumsum(values, dtype=dtype))
    assert numpy.array_equal(host(sluice.sort(array)), numpy.sort(values))
    assert zlib.decompress(host(sluice.deflate(array)).tobytes()) == values.tobytes()
    if n > 0:
        assert numpy.array_equal(host(sluice.compact(of_cupy(values % 3 == 0))), numpy.flatnonzero(values % 3 == 0))


def test_sort_of_pairs_and_out(torch):
    keys = torch.randint(0, 1000, (1 << 18,), dtype=torch.int32, device="cuda").view(torch.uint32)
    index = torch.arange(len(keys), dtype=torch.int32, device="cuda")
    out = (torch.empty_like(keys), torch.empty_like(index))
    assert sluice.sort(keys, index, out=out) is not None
    expected = torch.sort(keys.view(torch.int32), stable=True)
    assert torch.equal(out[0].view(torch.int32), expected.values) and torch.equal(out[1].long(), expected.indices)
    sums = torch.empty_like(keys)
    assert sluice.scan(keys, out=sums) is sums
    assert torch.equal(sums.view(torch.int32)[1:], torch.cumsum(keys.view(torch.int32), 0)[:-1].int())
    packed = sluice.deflate(keys, out=torch.empty(1 << 20, dtype=torch.uint8, device="cuda"))
    assert zlib.decompress(host(packed).tobytes()) == host(keys.view(torch.int32)).tobytes()


def test_filter_of_other_libraries(torch, cupy):
    random = numpy.random.default_rng(3)
    values = {"x": random.normal(size=50000), "energy": random.random(50000).astype("f4"),
              "pdg": random.choice(numpy.array([22, 2112]), 50000), "mine": random.random((50000, 3))}
    condition, key = "abs(x) < 5 mm and pdg == neutron and ekin < 0.5 keV", ["energy:float"]
    right = sluice.filter(values, condition, key=key)
    for move in (lambda a: torch.from_numpy(a).cuda(), cupy.asarray):
        made = sluice.filter({name: move(a) for name, a in values.items()}, condition, key=key)
        assert made.n == right.n and numpy.array_equal(host(made.index), right.index)
        assert all(numpy.array_equal(host(made[name]), right[name]) for name in right)
        assert type(made["mine"]) is type(move(values["mine"]))
    strided = {"x": cupy.asarray(values["x"])[::2], "energy": torch.from_numpy(values["energy"]).cuda()[::2]}
    made = sluice.filter(strided, "x > 0 cm and ekin > 0.2 keV")
    assert made.n == sluice.filter({n: host(a) for n, a in strided.items()}, "x > 0 cm and ekin > 0.2 keV").n
    values["x"][17] = 1e300
    with pytest.raises(sluice.Error, match=r"x.17. is 1e.300, which is not finite"):
        sluice.filter({"x": cupy.asarray(values["x"])}, "x > 0 cm")


def test_refusals(torch, cupy):
    array = torch.zeros(1000, dtype=torch.int32, device="cuda")
    number = array.device.index  # JAX may have made another GPU than the first the current one
    for message, call in [
            ("gaps between its items", lambda: sluice.scan(array[::2])),
            ("items of int16", lambda: sluice.scan(array.short())),
            ("must have one", lambda: sluice.scan(array.view(10, 100))),
            (f"out: the array is in memory of the host, but must be on device cuda:{number}",
             lambda: sluice.scan(array, out=numpy.zeros(1000, numpy.int32))),
            ("must have 1000 of int32", lambda: sluice.scan(array, out=array[:999].clone())),
            ("is not where the array is", lambda: sluice.scan(array, device=f"cuda:{number + 1}")),
            ("is not where the array is", lambda: sluice.scan(array, device="emulated")),
            ("backend", lambda: sluice.scan(array, backend="cpu")),
            ("shape (n,) and items of uint8", lambda: sluice.deflate(array, out=array.clone()))]:
        with pytest.raises(sluice.Error, match=re.escape(message)):
            call()
    zeros = cupy.zeros(1000, "int32")
    immutable = [of_jax(numpy.ones(1000, numpy.int32))] if importlib.util.find_spec("jax") else []
    for out in (Numba(zeros, data=(zeros.data.ptr, True)), *immutable):
        with pytest.raises(BufferError, match="read-only"):
            sluice.scan(array, out=out)
    assert all(numpy.array_equal(numpy.asarray(values), numpy.ones(1000)) for values in immutable)
    with pytest.raises(ValueError, match="no stream"):
        sluice.scan(numpy.zeros(4, numpy.uint32), stream=1)
    with pytest.raises(TypeError, match="no CUDA stream"):
        sluice.scan(array, stream="default")


# --- streams of CUDA ------------------------------------------------------------------------------

def test_streams_are_ordered(torch):
    """Work of three streams, of which each waits for the one before by the protocols only."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(first):
            array = torch.zeros(1 << 22, dtype=torch.int32, device="cuda")
            torch.cuda._sleep(2_000_000)
            array += 1  # queued behind the pause
            sums = sluice.scan(array, stream=second)  # of the current stream, first; runs on second
        with torch.cuda.stream(torch.cuda.Stream()):
            assert torch.from_dlpack(sums)[-1].item() == (1 << 22) - 1  # waits for second
        again = sluice.scan(array, stream=second, inclusive=True)
        view = torch.as_tensor(Numba(again), device="cuda")
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        assert view[-1].item() == 1 << 22


def test_survivors_are_sorted_without_a_wait_for_their_number(torch):
    stream, keys = torch.cuda.Stream(), torch.arange(1 << 16, 0, -1, dtype=torch.int32, device="cuda")
    flags, out = (keys % 3 == 0).to(torch.uint8), [torch.zeros_like(keys) for _ in range(4)]
    index, n_out, made = (a.view(torch.uint32) for a in (out[0], out[1][:1], out[2]))
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(2_000_000_000)
    sluice.compact(flags, out=index, n_out=n_out, stream=stream)
    sluice.sort(index, keys, begin_bit=2, out=(made, out[3]), n_on_device=n_out, stream=stream)
    assert not stream.query()
    stream.synchronize()
    kept, made = numpy.flatnonzero(flags.cpu().numpy()), out[2].cpu().numpy()
    assert out[1][0].item() == len(kept) and not made[len(kept):].any()
    assert numpy.array_equal(made[:len(kept)], kept[numpy.argsort(kept >> 2, kind="stable")])


def test_calls_with_a_stream_do_not_wait(torch):
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


# --- batches --------------------------------------------------------------------------------------

def test_batches_in_torch_and_cupy_without_a_copy(torch, cupy):
    for batch, right in zip(sluice.stream(SLAB, arrays="device", device="cuda"), list(sluice.stream(SLAB)), strict=True):
        column = batch["x"]
        address = column.__cuda_array_interface__["data"][0]
        assert column.__dlpack_device__() == (2, 0) and column.__cuda_array_interface__["stream"] is None
        tensor, array = torch.from_dlpack(column), cupy.asarray(column)
        assert tensor.data_ptr() == array.data.ptr == cupy.from_dlpack(column).data.ptr == address and tensor.is_cuda
        del batch, column
        gc.collect()
        assert numpy.array_equal(host(tensor), right["x"]) and numpy.array_equal(host(array), right["x"])


@pytest.mark.parametrize("name", ["jax.dlpack", "numba.cuda"])
def test_batches_in_jax_and_numba(name):
    other = pytest.importorskip(name)
    take = other.from_dlpack if name == "jax.dlpack" else lambda column: other.as_cuda_array(column).copy_to_host()
    for batch in sluice.stream(SLAB, arrays="device", device="cuda"):
        assert numpy.array_equal(numpy.asarray(take(batch["x"])), host(batch["x"]))


def test_memory_is_not_used_while_a_kernel_reads_it(torch):
    """A view is dropped while kernels that read it are queued; later batches must not overwrite it."""
    expected = [float((b["x"].astype("float64") ** 2).sum()) for b in sluice.stream(SLAB, particles=50000)]
    sums, stream = [], torch.cuda.Stream()
    for batch in sluice.stream(SLAB, arrays="device", device="cuda", particles=50000):
        with torch.cuda.stream(stream):
            tensor = torch.from_dlpack(batch["x"])
            torch.cuda._sleep(3_000_000)
            sums.append((tensor.double() ** 2).sum())
        del batch, tensor
    assert numpy.allclose([s.item() for s in sums], expected, rtol=1e-12)


def test_column_members():
    batch = next(sluice.stream(SLAB, arrays="device", device="cuda"))
    column = batch["x"]
    for error, call in [(TypeError, lambda: numpy.asarray(column)), (TypeError, lambda: column[0]),
                        (TypeError, batch.__arrow_c_array__), (TypeError, lambda: pickle.dumps(column))]:
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


def test_memory_is_level(torch):
    """A thousand runs leave the memory of the device as it was after a few."""
    for i in range(200):
        for batch in sluice.stream(SLAB, arrays="device", device="cuda"):
            tensor = torch.from_dlpack(batch["x"])
        del batch, tensor
        if i == 20:
            before = torch.cuda.mem_get_info()[0]
    assert before - torch.cuda.mem_get_info()[0] < 32 << 20


# --- two GPUs -------------------------------------------------------------------------------------

def test_current_device_stays(two):
    for current in (0, 1):
        two.cuda.set_device(current)
        for device in (0, 1):
            sluice.scan(numpy.ones(100, numpy.uint32), device=f"cuda:{device}")
            assert two.cuda.current_device() == current
            sums = sluice.scan(two.ones(100, dtype=two.int32, device=device))
            assert sums.device == f"cuda:{device}" and host(sums)[-1] == 99
            assert two.cuda.current_device() == current


def test_array_of_another_device_than_the_current_one(two, cupy):
    two.cuda.set_device(1)
    array = cupy.ones(1 << 20, "int32")
    two.cuda.set_device(0)
    for made in (array, Numba(array)):
        sums = sluice.scan(made)
        assert sums.device == "cuda:1" and host(sums)[-1] == (1 << 20) - 1


def test_default_stream_of_another_device_waits(two, cupy):
    """Contents that a stream of the second GPU makes, for its default stream, while the first one is current."""
    array = two.ones(1 << 20, dtype=two.int32, device="cuda:1")
    with two.cuda.device(1):
        stream = two.cuda.Stream()
    two.cuda.set_device(0)
    sluice.scan(array, stream=stream)
    for take in (two.from_dlpack, lambda c: two.as_tensor(Numba(c), device="cuda:1"), cupy.from_dlpack):
        two.cuda.synchronize(1)
        with two.cuda.device(1), two.cuda.stream(stream):
            two.cuda._sleep(200_000_000)
        sums = sluice.scan(array, stream=stream, inclusive=True)
        assert int(take(sums)[-1]) == 1 << 20
