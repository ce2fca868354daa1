"""scan, compact, expand, sort and deflate: every backend of the host and of the emulated device."""
import ctypes
import gc
import gzip
import itertools
import json
import threading
import zlib

import numpy
import pytest

import sluice
from conftest import SLAB, Only, c_struct, cli, refused

PRIMITIVES = {"scan": sluice.scan, "compact": sluice.compact, "expand": sluice.expand, "sort": sluice.sort, "deflate": sluice.deflate}
DEVICES = [None, "emulated"]
SIZES = [0, 1, 33, 1001, 4099]


def numbers(n, dtype, seed=1):
    info = numpy.iinfo(dtype)
    return numpy.random.default_rng(seed).integers(info.min, info.max, n, dtype, endpoint=True)


def test_every_backend_can_be_named():
    """Those that the program lists, except those of CUDA alone; what they compute is the same."""
    for listed in json.loads(cli("list", "--json", cwd="."))["backends"]:
        call, name, packs = PRIMITIVES[listed["primitive"]], listed["name"], listed["primitive"] == "deflate"
        array = numbers(700, "uint8" if listed["primitive"] == "compact" else "uint32")
        for device in {"cpu", "emulated"} & set(listed["runs_on"]):
            made, right = call(array, backend=name, device=None if device == "cpu" else device), call(array)
            assert numpy.array_equal(*(zlib.decompress(m) if packs else m for m in (made, right))), listed


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["uint32", "uint64", "int32", "int64"])
def test_scan(dtype, device):
    for n in SIZES:
        array = numbers(n, dtype)
        before = array.copy()
        sums = sluice.scan(array, inclusive=True, device=device)
        assert sums.dtype == dtype and numpy.array_equal(sums, numpy.cumsum(array, dtype=dtype))
        out = numpy.full(n, 7, dtype)
        assert sluice.scan(array, device=device, out=out) is out
        assert numpy.array_equal(out[1:], sums[:-1]) and not out[:1].any() and numpy.array_equal(array, before)
        assert sluice.scan(array, inclusive=True, device=device, out=array) is array and numpy.array_equal(array, sums)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_floats(dtype):
    """The bits of the stated tree, for numbers of all sizes and for those that cancel."""
    random = numpy.random.default_rng(3)
    for n in SIZES:
        sizes = (random.normal(size=n) * 2.0 ** random.integers(-120, 120, n)).astype(dtype)
        for array in (sizes, random.permutation(numpy.r_[sizes, -sizes])):
            level = numpy.append(array, array[:0].sum())
            while len(level) > 1:
                level = numpy.add.accumulate(numpy.pad(level, (0, -len(level) % 16)).reshape(-1, 16), axis=1)[:, -1]
            made, sums, out = sluice.sum(array), sluice.scan(array, inclusive=True), numpy.full(1, 7, dtype)
            assert made.shape == () and made.dtype == sums.dtype == dtype and (sums[-1:] == made).all()
            assert made.tobytes() == (level + 0).tobytes()
            for backend in ("naive", "work_efficient", "tiled", "shared"):
                assert sluice.sum(array, device="emulated", backend=backend, out=out) is out and out[0].tobytes() == made.tobytes()
                assert sluice.scan(array, inclusive=True, device="emulated", backend=backend).tobytes() == sums.tobytes()
    refused(lambda: sluice.sum(numpy.arange(3)), "USAGE", "items of int64, but float32 or float64 are needed; the order")
    refused(lambda: sluice.sum(array, out=array[:2]), "USAGE", "out: the array has 2 items")


@pytest.mark.parametrize("device", DEVICES)
def test_compact(device):
    for n in SIZES:
        flags, out = numbers(n, "uint8") % 3, numpy.zeros(n, numpy.uint32)
        for made, more in ((flags, {}), (flags != 0, {}), (flags, dict(out=out))):
            indices = sluice.compact(made, device=device, **more)
            assert indices.dtype == numpy.uint32 and numpy.array_equal(indices, numpy.flatnonzero(flags))
        assert n == 0 or indices.base is out


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["uint32", "int64"])
def test_expand(dtype, device):
    for n in SIZES:
        counts = (numbers(n, "uint8") % 4 * (numbers(n, "uint8", 2) % 3 == 0)).astype(dtype)
        right, ends = numpy.repeat(numpy.arange(n), counts), numpy.cumsum(counts, dtype=dtype)
        out, slots = numpy.zeros(len(right), numpy.uint32), len(right)
        for runs, form in ((counts, "counts"), (ends, "ends"), (ends - counts, "starts")):
            made = sluice.expand(runs, slots, form=form, device=device, out=out)
            assert made is out and numpy.array_equal(out, right)
            if n > 0:
                more = sluice.expand(runs, slots + 9, form=form, device=device)
                assert numpy.array_equal(more[:slots], right) and (more[slots:] == n - 1).all()
    refused(lambda: sluice.expand(counts[:0], 3, device=device), "USAGE", "no run")
    with pytest.raises(ValueError, match="ends"):
        sluice.expand(counts, form="sizes")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_sort(dtype, device):
    for n in SIZES:
        keys, index = numbers(n, dtype) // 5 * 5, numpy.arange(n, dtype=numpy.uint32)
        order = numpy.argsort(keys >> 3 & 255, kind="stable")
        out = numpy.empty_like(keys), numpy.empty_like(index)
        made = sluice.sort(keys, index, begin_bit=3, end_bit=11, out=out, device=device)
        assert made[0] is out[0] and made[1] is out[1]
        assert numpy.array_equal(made[1], order) and numpy.array_equal(made[0], keys[order])
        made = sluice.sort(keys, index.astype(numpy.float32), device=device)
        assert numpy.array_equal(made[1], numpy.argsort(keys, kind="stable"))
        assert numpy.array_equal(made[0], numpy.sort(keys)) and numpy.array_equal(made[0], sluice.sort(keys, device=device))
        assert numpy.array_equal(index, numpy.arange(n))


def test_sort_by_threads():
    """Even and uneven keys: all threads give the same words. A device has none to choose."""
    for keys in (numbers(700001, "uint32"), numbers(700001, "uint32") >> 9 & numbers(700001, "uint32")):
        made = sluice.sort(keys, numpy.arange(keys.size, dtype=numpy.uint32), threads=3)
        assert numpy.array_equal(made[1], numpy.argsort(keys, kind="stable"))
        assert numpy.array_equal(made[0], sluice.sort(keys, threads=2))
    with pytest.raises(sluice.Error, match="threads=2"):
        sluice.sort(keys[:9], device="emulated", threads=2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_the_number_of_items_in_an_array(dtype, device):
    """Below, at and above the size of the arrays; nothing after these items is written."""
    n, keys, flags = 1001, numbers(1001, "uint32"), numbers(1001, "uint8") % 3
    for count in (0, 1, 700, n, n + 5):
        used, more = min(count, n), dict(device=device, n_on_device=numpy.array([count], dtype))
        out, index = numpy.full(n, 7, numpy.uint32), numpy.full(n, 7, numpy.uint32)
        sums = sluice.scan(keys, out=out.copy(), **more)
        assert numpy.array_equal(sums[:used], sluice.scan(keys[:used])) and (sums[used:] == 7).all()
        made = sluice.sort(keys, numpy.arange(n, dtype=numpy.uint32), out=(out, index), **more)
        assert numpy.array_equal(made[1][:used], numpy.argsort(keys[:used], kind="stable"))
        assert (out[used:] == 7).all() and (index[used:] == 7).all() and numpy.array_equal(out[:used], keys[index[:used]])
        kept, n_out = numpy.flatnonzero(flags[:used]), numpy.zeros(1, numpy.uint32)
        assert numpy.array_equal(sluice.compact(flags, **more), kept)
        all_indices = sluice.compact(flags, n_out=n_out, **more)
        assert len(all_indices) == n and n_out[0] == len(kept) and numpy.array_equal(all_indices[:len(kept)], kept)


@pytest.mark.parametrize("device", DEVICES)
def test_deflate(device):
    for n in [0, 1, 5000 if device else 70_000]:  # the emulated device takes long
        data = (numbers(n, "uint32") % 1000).tobytes()
        for array in (data, bytearray(data), numpy.frombuffer(data, numpy.uint32).reshape(-1, 1)):
            made = sluice.deflate(array, device=device)
            assert isinstance(made, bytes) and zlib.decompress(made) == data
        assert gzip.decompress(sluice.deflate(data, wrapper="gzip", device=device)) == data
        raw = sluice.deflate(data, wrapper="raw", device=device)
        out = bytearray(len(raw) + 1000)
        part = sluice.deflate(data, wrapper="raw", device=device, out=out)
        assert zlib.decompress(raw, -15) == data and part == raw and part.obj is out
    assert len(sluice.deflate(data, level=9)) < len(sluice.deflate(data, level=1, backend="store"))


def test_arrays_of_other_libraries():
    values = numbers(500, "uint32")
    assert numpy.array_equal(sluice.scan(Only(values)), sluice.scan(values))
    assert numpy.array_equal(sluice.compact((values % 2).astype(bool).tolist()), numpy.flatnonzero(values % 2))
    survivors = sluice.run(SLAB).survivors
    assert numpy.array_equal(sluice.sort(survivors.column("id")), numpy.sort(survivors["id"]))
    for items in (values.tolist(), []):
        assert numpy.array_equal(sluice.scan((ctypes.c_uint32 * len(items))(*items)), sluice.scan(values[:len(items)]))
    square = ((ctypes.c_double * 3) * 2)((1, 2, 3), (4, 5, 6))
    assert zlib.decompress(sluice.deflate(square)) == bytes(square)
    out = sluice.scan(memoryview(values), out=memoryview(bytearray(2000)).cast("I"))
    assert out.tolist() == sluice.scan(values).tolist()


def test_refusals():
    u4, u8, flags = numbers(9, "uint32"), numbers(9, "uint64"), numbers(9, "uint8")
    for message, call in [
            ("items of uint16, but uint32 or uint64, int32, int64, float32 or", lambda: sluice.scan(numpy.zeros(3, numpy.uint16))),
            ("but uint32 or uint64", lambda: sluice.sort(numpy.zeros(3, numpy.int32))),
            ("convert them to bool or uint8", lambda: sluice.compact(u4)),
            ("2 dimensions", lambda: sluice.scan(u4.reshape(3, 3))),
            ("gaps", lambda: sluice.scan(u4[::2])),
            ("gaps", lambda: sluice.deflate(u4[::2])),
            ("no array", lambda: sluice.scan(3)),
            ("out: the array has 8 items of uint32, but must have 9", lambda: sluice.scan(u4, out=u4[:8])),
            ("must have 9 of uint64", lambda: sluice.scan(u8, out=u4.copy())),
            ("values: the array has 8 items", lambda: sluice.sort(u4, u4[:8])),
            ("items of 4 bytes", lambda: sluice.sort(u4, u8)),
            ("overlap", lambda: sluice.sort(u4, out=u4)),
            ("bits 3 to 33", lambda: sluice.sort(u4, begin_bit=3, end_bit=33)),
            ("n_on_device: the array must have one item", lambda: sluice.scan(u4, n_on_device=u4)),
            ("uint64 are needed", lambda: sluice.scan(u4, n_on_device=numpy.zeros(1, "i4"))),
            ("n_out: the array must have one item of uint32", lambda: sluice.compact(flags, n_out=u8[:1].copy())),
            ("too few", lambda: sluice.deflate(b"abc" * 99, out=bytearray(3))),
            ("level", lambda: sluice.deflate(b"abc", level=99)),
            ("no scan backend 'fast'", lambda: sluice.scan(u4, backend="fast")),
            ("fast", lambda: sluice.scan(u4, backend="fast", device="emulated")),
            ("leave device out", lambda: sluice.scan(u4, backend="cpu", device="emulated")),
            ("device", lambda: sluice.compact(flags, backend="tiled")),
            ("leave it out for the host", lambda: sluice.scan(u4, device="cpu"))]:
        refused(call, "USAGE", message)
    for call in (lambda: sluice.deflate(b"abc", wrapper="zip"), lambda: sluice.deflate(b"a", stream=1), lambda: sluice.expand([-1]),
                 lambda: sluice.sort(u4, begin_bit=-1), lambda: sluice.sort(u4, u4, out=u4), lambda: sluice.sum(numpy.ma.masked_all(3))):
        with pytest.raises(ValueError):
            call()


# --- arrays of other libraries that are wrong ------------------------------------------------------

NUMBERS, DELETER = ctypes.POINTER(ctypes.c_int64), ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Tensor = c_struct("DLTensor", data=ctypes.c_void_p, device_type=ctypes.c_int32, device_id=ctypes.c_int32, ndim=ctypes.c_int32,
                  code=ctypes.c_uint8, bits=ctypes.c_uint8, lanes=ctypes.c_uint16, shape=NUMBERS, strides=NUMBERS,
                  byte_offset=ctypes.c_uint64)
Managed = c_struct("DLManagedTensor", tensor=Tensor, ctx=ctypes.c_void_p, deleter=DELETER)
Versioned = c_struct("DLManagedTensorVersioned", major=ctypes.c_uint32, minor=ctypes.c_uint32, ctx=ctypes.c_void_p,
                     deleter=DELETER, flags=ctypes.c_uint64, tensor=Tensor)


class Capsule:
    """Exports 8 numbers of uint32 by DLPack; changes are members of the struct."""

    def __init__(self, place=(1, 0), flags=None, shape=(8,), strides=None, **changes):
        self.values = numpy.arange(8, dtype=numpy.uint32)
        self.place, self.deleted = place, 0
        numbers = [None if n is None else (ctypes.c_int64 * 8)(*n) for n in (shape, strides)]
        tensor = Tensor(self.values.ctypes.data, *place, len(shape or ()), 1, 32, 1, *numbers, 0)
        for member, value in changes.items():
            setattr(tensor, member, value)
        deleter = DELETER(self._delete)
        self.struct = Managed(tensor, None, deleter) if flags is None else \
            Versioned(1, 0, None, deleter, flags, tensor)
        self.name = b"dltensor" if flags is None else b"dltensor_versioned"
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(ctypes.addressof(self.struct), self.name, None)

    def _delete(self, _):
        self.deleted += 1

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return self.place


def is_named(array, name):
    return ctypes.pythonapi.PyCapsule_IsValid(ctypes.py_object(array.capsule), name) == 1


CALLS = sluice.scan, sluice.sort, sluice.deflate, lambda a: sluice.filter({"x": a}, "x > 1 cm")


@pytest.mark.parametrize("flags", [None, 0])
def test_a_capsule_is_consumed_once(flags):
    array = Capsule(flags=flags)
    assert sluice.scan(array).tolist() == [0, 0, 1, 3, 6, 10, 15, 21]
    other = Capsule((2, 0), flags)  # which another library has consumed
    name = b"used_" + other.name  # the capsule has no copy
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(other.capsule), name)
    for used, call in itertools.product((array, other), CALLS):
        with pytest.raises(BufferError, match="consumed before"):
            call(used)
    assert (array.deleted, other.deleted) == (1, 0)
    assert is_named(array, name) and is_named(other, name)


LIES = [dict(ndim=-1), dict(ndim=65), dict(ndim=2 ** 31 - 1), dict(shape=None, ndim=1), dict(shape=(-8,)),
        dict(shape=(2, -4)), dict(shape=(2 ** 62,)), dict(shape=(2 ** 40, 2 ** 40)), dict(shape=(0, 2 ** 62, 8)),
        dict(strides=(2 ** 62,)), dict(data=None), dict(bits=24), dict(bits=0), dict(bits=128), dict(lanes=2),
        dict(code=5), dict(code=255), dict(device_type=4), dict(device_id=1, device_type=2)]


def test_capsules_that_describe_no_array():
    for place, lie, call in itertools.product([(1, 0), (2, 0)], LIES, CALLS):
        array = Capsule(place, 0, **lie)
        with pytest.raises(BufferError, match="__dlpack"):
            call(array)
        assert array.deleted == (not is_named(array, array.name))


def test_capsules_with_gaps():
    assert "gaps" in refused(lambda: sluice.scan(Capsule(strides=(-1,))))
    assert sluice.scan(Capsule(shape=(0,), data=None)).tolist() == []
    array = Only(numpy.arange(8, dtype=numpy.uint32)[::2])
    assert sluice.filter({"x": array}, "x > 2 cm").index.tolist() == [2, 3]


class Interface:
    """An array that has only __cuda_array_interface__."""

    def __init__(self, **changes):
        members = {"shape": (8,), "typestr": "<u4", "data": (4096, False), "version": 3, **changes}
        self.__cuda_array_interface__ = {k: v for k, v in members.items() if v is not ...}


class Changing:
    """A number that takes the array apart while it is read."""

    def __init__(self, array):
        self.array = array

    def __index__(self):
        self.array.__cuda_array_interface__.clear()
        gc.collect()
        return 8


def test_interfaces_that_describe_no_array():
    lies = [dict(shape=(-8,)), dict(shape=(2, -4)), dict(shape=(2 ** 62,)), dict(shape=(2 ** 40, 2 ** 40)),
            dict(shape=(2 ** 64,)), dict(shape=(1,) * 65), dict(shape=8), dict(shape=("8",)), dict(data=(0, False)),
            dict(data=(None, False)), dict(data=None), dict(typestr=">u4"), dict(typestr="<u3"),
            dict(typestr="<c8"), dict(typestr="<u40"), dict(typestr=4), dict(strides=()), dict(strides=4),
            dict(strides=(2 ** 63,)), dict(stream=-1), dict(mask=4), dict(shape=...), dict(data=...), dict(typestr=...)]
    for lie in lies:
        for call in (sluice.compact, *CALLS):
            with pytest.raises((BufferError, TypeError)):
                call(Interface(**lie))
    assert "gaps" in refused(lambda: sluice.scan(Interface(strides=(-4,))))
    array = Interface()
    array.__cuda_array_interface__["shape"] = (Changing(array), Changing(array), Changing(array))
    with pytest.raises(BufferError):
        sluice.scan(array)


def test_arrays_without_numbers():
    """Bytes over the address of an object end the process; so each call refuses an out that has no numbers."""
    records = numpy.zeros(200, [("O", "u4"), ("a", "u4")])
    wrong = [numpy.full(200, None), numpy.zeros(200, [("a", "u4"), ("b", "O")]), (ctypes.py_object * 200)(), records,
             numpy.zeros(200, "S4"), numpy.zeros(200, "U1"), numpy.zeros(200, "V4"), numpy.zeros(200, "c8"),
             numpy.zeros(200, "f2"), numpy.zeros(200, ">u4")]
    values, flags = numbers(200, "uint32"), numbers(200, "uint8")
    for array in wrong:
        for call in (lambda: sluice.deflate(values, out=array), lambda: sluice.scan(values, out=array),
                     lambda: sluice.compact(flags, out=array), lambda: sluice.sort(values, out=array),
                     lambda: sluice.sort(values, values, out=(values.copy(), array))):
            assert "the array has " in refused(call)
        for call in (sluice.scan, sluice.compact, sluice.sort, lambda a: sluice.sort(values, a)):
            assert "the array has items of a type that is not a number" in refused(lambda: call(array))
    assert wrong[0].tolist() == [None] * 200 and not records["a"].any()
    for array in wrong[:3]:
        assert "Python objects" in refused(lambda: sluice.deflate(array))
    assert zlib.decompress(sluice.deflate(records)) == records.tobytes()
    with pytest.raises((TypeError, ValueError)):
        sluice.deflate(b"abc", out=numpy.zeros(200, "M8[s]"))


def test_memory_that_is_read_only():
    values = numbers(9, "uint32")
    values.flags.writeable = False
    for out in (values, bytes(40), memoryview(bytes(36)).cast("I")):
        with pytest.raises((BufferError, ValueError), match="read-only|writ"):
            sluice.scan(values, out=out)
        with pytest.raises((BufferError, ValueError), match="read-only|writ"):
            sluice.deflate(values, out=out)
    for make in (lambda: Capsule((2, 0), flags=1), lambda: Interface(data=(4096, True))):
        with pytest.raises(BufferError, match="out: the array is read-only"):
            sluice.scan(make(), out=make())


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
    thread.join(0.2)
    assert thread.is_alive() and len(list(stream)) == 5
    thread.join()
    assert numpy.array_equal(made[0], sluice.scan(values))
    before = sluice.plan(SLAB).device
    sluice.scan(values, device="emulated")
    assert sluice.run(SLAB, device="emulated").survivors.n == sluice.run(SLAB).survivors.n
    assert sluice.plan(SLAB).device == before and "emulated" not in before  # auto is what it was
