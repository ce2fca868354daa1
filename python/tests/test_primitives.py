"""scan, compact, sort and deflate: every backend of the host and of the emulated device."""
import gc
import gzip
import os
import threading
import zlib

import numpy
import pytest

import sluice
from conftest import SLAB, cli

SIZES = [0, 1, 2, 33, 1000, 4099]
DEVICE = ("naive", "work_efficient", "tiled", "shared")
HOST = {"scan": ["cpu"], "compact": ["cpu", "cpu_scan"], "sort": ["cpu"],
        "deflate": ["store", "zlib", "isal", "libdeflate", "cpu", "cpu_fast"]}
WHERE = {p: [(None, None)] + [(b, None) for b in HOST[p]] + [(None, "emulated")] + [
    (b, "emulated") for b in (("device", "device_fast") if p == "deflate" else DEVICE)] for p in HOST}


def numbers(n, dtype, seed=1):
    info = numpy.iinfo(dtype)
    return numpy.random.default_rng(seed).integers(info.min, info.max, n, dtype, endpoint=True)


@pytest.mark.parametrize("backend, device", WHERE["scan"])
@pytest.mark.parametrize("dtype", ["uint32", "uint64", "int32", "int64"])
def test_scan(backend, device, dtype):
    for n in SIZES:
        array = numbers(n, dtype)
        before = array.copy()
        sums = sluice.scan(array, inclusive=True, backend=backend, device=device)
        assert sums.dtype == dtype and numpy.array_equal(sums, numpy.cumsum(array, dtype=dtype))
        out = numpy.full(n, 7, dtype)
        assert sluice.scan(array, backend=backend, device=device, out=out) is out
        assert numpy.array_equal(out[1:], numpy.cumsum(array, dtype=dtype)[:-1]) and not out[:1].any()
        assert numpy.array_equal(array, before)
        assert sluice.scan(array, inclusive=True, backend=backend, device=device, out=array) is array
        assert numpy.array_equal(array, sums)


@pytest.mark.parametrize("backend, device", WHERE["compact"])
def test_compact(backend, device):
    for n in SIZES:
        flags = numbers(n, "uint8") % 3
        expected = numpy.flatnonzero(flags)
        for made in (flags, flags != 0):
            indices = sluice.compact(made, backend=backend, device=device)
            assert indices.dtype == numpy.uint32 and numpy.array_equal(indices, expected)
        out = numpy.zeros(n, numpy.uint32)
        indices = sluice.compact(flags, backend=backend, device=device, out=out)
        assert numpy.array_equal(indices, expected) and (n == 0 or indices.base is out)


@pytest.mark.parametrize("backend, device", WHERE["sort"])
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_sort(backend, device, dtype):
    for n in SIZES:
        keys = numbers(n, dtype) // 5 * 5
        index = numpy.arange(n, dtype=numpy.uint32)
        assert numpy.array_equal(sluice.sort(keys, backend=backend, device=device), numpy.sort(keys))
        order = numpy.argsort(keys >> 3 & 255, kind="stable")
        out = numpy.empty_like(keys), numpy.empty_like(index)
        made = sluice.sort(keys, index, begin_bit=3, end_bit=11, backend=backend, device=device, out=out)
        assert made[0] is out[0] and made[1] is out[1]
        assert numpy.array_equal(made[1], order) and numpy.array_equal(made[0], keys[order])
        values = index.astype(numpy.float32)
        assert numpy.array_equal(sluice.sort(keys, values, backend=backend, device=device)[1],
                                 numpy.argsort(keys, kind="stable"))
        assert numpy.array_equal(index, numpy.arange(n))


@pytest.mark.parametrize("backend, device", WHERE["deflate"])
def test_deflate(backend, device):
    for n in [0, 1, 70_000]:
        data = (numbers(n, "uint32") % 1000).tobytes()
        for array in (data, bytearray(data), numpy.frombuffer(data, numpy.uint32).reshape(-1, 1)):
            made = sluice.deflate(array, backend=backend, device=device)
            assert isinstance(made, bytes) and zlib.decompress(made) == data
        assert gzip.decompress(sluice.deflate(data, wrapper="gzip", backend=backend, device=device)) == data
        raw = sluice.deflate(data, wrapper="raw", backend=backend, device=device)
        assert zlib.decompress(raw, -15) == data
        out = bytearray(len(raw) + 1000)
        part = sluice.deflate(data, wrapper="raw", backend=backend, device=device, out=out)
        assert part == raw and part.obj is out
    assert len(sluice.deflate(data, level=9)) < len(sluice.deflate(data, level=1, backend="store"))


def test_all_backends_are_tested():
    """Those that the program lists, except those of CUDA alone."""
    listed = cli("list", cwd=".")
    for primitive, where in WHERE.items():
        for backend, _ in where:
            assert backend is None or backend in listed, primitive


def test_arrays_of_other_libraries():
    values = numbers(500, "uint32")

    class Only:  # as torch: DLPack without the buffer protocol
        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
    assert numpy.array_equal(sluice.scan(Only(values)), sluice.scan(values))
    assert numpy.array_equal(sluice.compact((values % 2).astype(bool).tolist()), numpy.flatnonzero(values % 2))
    survivors = sluice.run(SLAB).survivors
    assert numpy.array_equal(sluice.sort(survivors.column("id")), numpy.sort(survivors["id"]))
    out = sluice.scan(memoryview(values), out=memoryview(bytearray(2000)).cast("I"))
    assert out.tolist() == sluice.scan(values).tolist()


def refused(call, name="USAGE"):
    with pytest.raises(sluice.Error) as caught:
        call()
    assert caught.value.status.name == name
    return str(caught.value)


def test_refusals():
    u4, u8, flags = numbers(9, "uint32"), numbers(9, "uint64"), numbers(9, "uint8")
    assert "items of float64" in refused(lambda: sluice.scan(numpy.zeros(3)))
    assert "items of uint16" in refused(lambda: sluice.sort(numpy.zeros(3, numpy.uint16)))
    assert "convert them to uint32 or uint64" in refused(lambda: sluice.sort(numpy.zeros(3, numpy.int32)))
    assert "convert them to bool or uint8" in refused(lambda: sluice.compact(u4))
    assert "2 dimensions" in refused(lambda: sluice.scan(u4.reshape(3, 3)))
    assert "gaps" in refused(lambda: sluice.scan(u4[::2])) and "gaps" in refused(lambda: sluice.deflate(u4[::2]))
    assert "no array" in refused(lambda: sluice.scan(3))
    assert "out: the array has 8 items of uint32, but must have 9" in refused(lambda: sluice.scan(u4, out=u4[:8]))
    assert "must have 9 of uint64" in refused(lambda: sluice.scan(u8, out=u4.copy()))
    assert "values: the array has 8 items" in refused(lambda: sluice.sort(u4, u4[:8]))
    assert "items of 4 bytes" in refused(lambda: sluice.sort(u4, u8))
    assert "overlap" in refused(lambda: sluice.sort(u4, out=u4))
    assert "bits 3 to 33" in refused(lambda: sluice.sort(u4, begin_bit=3, end_bit=33))
    assert "too few" in refused(lambda: sluice.deflate(b"abc" * 99, out=bytearray(3)))
    assert "level" in refused(lambda: sluice.deflate(b"abc", level=99))
    assert "no scan backend 'fast'" in refused(lambda: sluice.scan(u4, backend="fast"))
    assert "fast" in refused(lambda: sluice.scan(u4, backend="fast", device="emulated"))
    assert "leave device out" in refused(lambda: sluice.scan(u4, backend="cpu", device="emulated"))
    assert "device" in refused(lambda: sluice.compact(flags, backend="tiled"))
    assert "use 'emulated'" in refused(lambda: sluice.scan(u4, device="gpu"))
    for wrong in (dict(wrapper="zip"), dict(stream=1)):
        with pytest.raises(ValueError):
            sluice.deflate(b"abc", **wrong)
    with pytest.raises(ValueError):
        sluice.sort(u4, begin_bit=-1)
    u4.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        sluice.scan(u4, out=u4)

    class OnDevice:
        __cuda_array_interface__ = {"shape": (9,)}
    for call in (sluice.scan, sluice.compact, sluice.sort, sluice.deflate):
        with pytest.raises(BufferError, match="describes no array"):
            call(OnDevice())


def test_a_device_is_used_in_turn():
    """A stream of this thread has the turn; another thread waits for it."""
    values = numbers(100, "uint32")
    stream = sluice.stream(SLAB)
    next(stream)
    assert "open stream" in refused(lambda: sluice.scan(values, device="emulated"))
    assert numpy.array_equal(sluice.scan(values), sluice.scan(values, backend="cpu"))
    made = []
    thread = threading.Thread(target=lambda: made.append(sluice.scan(values, device="emulated")))
    thread.start()
    assert len(list(stream)) == 5
    thread.join()
    assert numpy.array_equal(made[0], sluice.scan(values))
    before = sluice.plan(SLAB).device
    sluice.scan(values, device="emulated")
    assert sluice.run(SLAB, device="emulated").survivors.n == sluice.run(SLAB).survivors.n
    assert sluice.plan(SLAB).device == before and "emulated" not in before  # auto is what it was


def test_threads():
    """The scratch that is kept belongs to one call at a time."""
    keys = [numbers(60_000, "uint64", seed) for seed in range(4)]
    wrong = []

    def work(k):
        for _ in range(10):
            if not numpy.array_equal(sluice.sort(k), numpy.sort(k)):
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in keys]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_lifetimes():
    buffer = bytearray(4000)
    values = numpy.frombuffer(buffer, numpy.uint32)
    sums = sluice.scan(values)
    sluice.compact(values.view(numpy.uint8))
    sluice.sort(values, values.copy())
    sluice.deflate(values)
    refused(lambda: sluice.scan(values, out=values[:3]))
    refused(lambda: sluice.sort(values, values[:3]))
    del values
    gc.collect()
    buffer.append(1)  # fails while somebody exports the buffer
    assert not sums.any()


def test_a_fork_has_scratch_of_its_own():
    keys = numbers(1000, "uint32")
    sluice.sort(keys)
    child = os.fork()
    if child == 0:
        os._exit(0 if numpy.array_equal(sluice.sort(keys), numpy.sort(keys)) else 1)
    assert os.waitpid(child, 0)[1] == 0
