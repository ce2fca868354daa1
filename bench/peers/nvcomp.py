#!/usr/bin/env python3
"""DEFLATE on a GPU: nvCOMP against sluice on the nine columns of the reference batch.

    python3 bench/peers/nvcomp.py [--n N] [--algorithms 0,1,2,4,5] [--repeat N] [--csv FILE]

Needs a CUDA GPU and the Python package nvidia-nvcomp-cu13 or nvidia-nvcomp-cu12 with the library of nvCOMP 6.
sluice runs data/configs/reference.yaml with N particles and gives the columns. Each chunk of 1 MiB is split into
byte planes, as both programs compress it. nvCOMP compresses chunks of 64 KiB of them, all in one call of its
batched interface, to raw DEFLATE streams that stay apart; its time is that on the device. Every stream is inflated
with zlib and compared before anything is timed. The figures of sluice are those of
"sluice-bench primitives --only deflate" for the same columns, in chunks of 1 MiB; it inflates all of them too.
A row of nvCOMP is the median of three calls in each round.
"""
import array
import ctypes
import os
import statistics
import zipfile
import zlib

import common

CHUNK, SPLIT, ITEM = 1 << 16, 1 << 20, 4
COLUMNS = ("x", "y", "z", "u", "v", "w", "energy", "time", "pixel")


# --- the data -------------------------------------------------------------------------------------

def byte_planes(column):
    """The bytes of a column of 4-byte items; each chunk of 1 MiB is split into its four byte planes."""
    planes = bytearray()
    for at in range(0, len(column), SPLIT):
        part = column[at:at + SPLIT]
        for k in range(ITEM):
            planes += part[k::ITEM]
    return planes


def columns_of(options):
    """The byte planes of each column of the survivors, from an npz file that is not compressed."""
    common.run(common.sluice_words(
        options, "reference", "--device", options.device, "--deflate", "store",
        sets=(f"run.particles={options.n}", f"run.batch={options.n}", "output.format=npz", "check={}")))
    columns = []
    with zipfile.ZipFile(os.path.join(options.work, "run", "reference_000000.npz")) as archive:
        for name in COLUMNS:
            data = archive.read(name + ".npy")
            header = 10 + int.from_bytes(data[8:10], "little")
            columns.append(byte_planes(data[header:]))
    return columns


# --- the driver ------------------------------------------------------------------------------------

class Cuda:
    """The first GPU and a stream, by libcuda.so.1; memory is freed with free_all(). A call that fails raises OSError."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise common.NotRun(f"there is no NVIDIA driver ({e})") from e
        if self.library.cuInit(0) != 0:
            raise common.NotRun("there is no CUDA GPU that the driver can use")
        device, context, self.stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), ctypes.c_uint(0))
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, ctypes.c_int(256), device)
        self.name = name.value.decode()
        self.memory = []

    def call(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code != 0:
            raise OSError(f"{function} failed with CUDA error {code}")

    def allocate(self, size):
        """The address of new memory of the device."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        self.memory.append(address)
        return address.value

    def upload(self, data):
        """The address of new memory with a copy of the bytes."""
        address = self.allocate(len(data))
        source = (ctypes.c_char * len(data)).from_buffer(data)
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), source, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = bytearray(size)
        to = (ctypes.c_char * size).from_buffer(data)
        self.call("cuMemcpyDtoH_v2", to, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data

    def free_all(self):
        for address in self.memory:
            self.call("cuMemFree_v2", address)
        self.memory = []

    def seconds(self, work):
        """Calls work(), which queues calls in the stream; the seconds that they take on the device."""
        begin, end = self.events
        elapsed = ctypes.c_float()
        self.call("cuEventRecord", begin, self.stream)
        work()
        self.call("cuEventRecord", end, self.stream)
        self.call("cuEventSynchronize", end)
        self.call("cuEventElapsedTime", ctypes.byref(elapsed), begin, end)
        return elapsed.value / 1e3


# --- nvCOMP ---------------------------------------------------------------------------------------

class CompressOptions(ctypes.Structure):
    _fields_ = [("algorithm", ctypes.c_int), ("reserved", ctypes.c_char * 60)]


def load_nvcomp():
    """The library nvCOMP of the Python package, and its version."""
    library = common.require("nvidia.libnvcomp", "nvidia-nvcomp-cu13 (or -cu12)").load_library()
    if library is None:
        raise common.NotRun("the library libnvcomp.so.6 of the Python package cannot be loaded")
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    properties = (ctypes.c_uint32 * 2)()  # its version, and that of the CUDA runtime
    library.nvcompGetProperties(properties)
    version = properties[0]
    if version // 1000 != 6:
        raise common.NotRun(f"nvCOMP has version {version}, and this script calls that of 6000 to 6999")
    prefix = "nvcompBatchedDeflateCompress"
    getattr(library, prefix + "GetMaxOutputChunkSize").argtypes = [size, CompressOptions, pointer]
    getattr(library, prefix + "GetTempSize").argtypes = [size, size, CompressOptions, pointer, size, pointer]
    getattr(library, prefix + "Async").argtypes = [pointer, pointer, size, size, pointer, size, pointer, pointer,
                                                   CompressOptions, pointer, pointer]
    return library, f"{version // 1000}.{version // 100 % 10}.{version % 100}"


def succeed(function, *arguments):
    code = function(*arguments)
    if code != 0:
        raise OSError(f"{function.__name__} failed with nvCOMP status {code}")


class Compression:
    """All chunks of all columns on the device, and memory for their streams."""

    def __init__(self, device, library, columns, algorithms):
        self.device, self.library = device, library
        self.data = bytearray().join(columns)
        ends = [0]
        for column in columns:
            ends.append(ends[-1] + len(column))
        self.chunks = [(at, min(CHUNK, end - at)) for begin, end in zip(ends, ends[1:])
                       for at in range(begin, end, CHUNK)]
        self.room, self.temp_bytes = self.sizes(algorithms)
        base, out = device.upload(self.data), device.allocate(self.room * len(self.chunks))
        self.out = out
        self.temp = device.allocate(self.temp_bytes)
        self.inputs = self.words(base + at for at, _ in self.chunks)
        self.input_bytes = self.words(size for _, size in self.chunks)
        self.outputs = self.words(out + k * self.room for k in range(len(self.chunks)))
        self.output_bytes = device.allocate(8 * len(self.chunks))
        self.statuses = device.allocate(4 * len(self.chunks))

    def words(self, values):
        return self.device.upload(bytearray(array.array("Q", values).tobytes()))

    def sizes(self, algorithms):
        """Bytes of the largest stream, in whole 256 bytes, and of scratch memory, for any of the algorithms."""
        room = temp = 0
        for algorithm in algorithms:
            value = ctypes.c_size_t()
            opts = CompressOptions(algorithm)
            succeed(self.library.nvcompBatchedDeflateCompressGetMaxOutputChunkSize, CHUNK, opts, ctypes.byref(value))
            room = max(room, (value.value + 255) // 256 * 256)
            succeed(self.library.nvcompBatchedDeflateCompressGetTempSize, len(self.chunks), CHUNK, opts,
                    ctypes.byref(value), len(self.data), self.device.stream)
            temp = max(temp, value.value)
        return room, temp

    def queue(self, algorithm):
        succeed(self.library.nvcompBatchedDeflateCompressAsync, self.inputs, self.input_bytes, CHUNK,
                len(self.chunks), self.temp, self.temp_bytes, self.outputs, self.output_bytes,
                CompressOptions(algorithm), self.statuses, self.device.stream)

    def check(self, algorithm):
        """Compresses, inflates every stream and compares it; returns the ratio."""
        self.device.seconds(lambda: self.queue(algorithm))
        n = len(self.chunks)
        if any(array.array("I", bytes(self.device.download(self.statuses, 4 * n)))):
            raise common.WrongAnswer(f"nvCOMP, algorithm {algorithm}: a chunk has a status other than success")
        sizes = array.array("Q", bytes(self.device.download(self.output_bytes, 8 * n)))
        for k, (at, size) in enumerate(self.chunks):
            stream = self.device.download(self.out + k * self.room, sizes[k])
            if zlib.decompress(stream, -15, size) != self.data[at:at + size]:
                raise common.WrongAnswer(f"nvCOMP, algorithm {algorithm}: chunk {k} does not inflate to its input")
        return len(self.data) / sum(sizes)

    def gb_per_s(self, algorithm):
        self.queue(algorithm)
        times = [self.device.seconds(lambda: self.queue(algorithm)) for _ in range(3)]
        return 1e-9 * len(self.data) / statistics.median(times)


# --- sluice ---------------------------------------------------------------------------------------

def run_bench(options, size):
    """GB/s and ratio of all columns in one job, by backend; the columns must have the given size."""
    rows = common.bench_rows(options, "--only", "deflate", "--n", str(options.n), "--device", options.device,
                             column="all")
    for row in rows:
        if int(row["bytes"]) != size:
            raise common.WrongAnswer(f"sluice-bench compressed {row['bytes']} bytes of columns, and nvCOMP {size}")
    # The emulated device is not timed.
    return {row["backend"]: (float(row["gb_per_s"] or "nan"), float(row["ratio"])) for row in rows}


def compare(options, report):
    library, version = load_nvcomp()
    device = Cuda()
    columns = columns_of(options)
    job = Compression(device, library, columns, options.algorithms)
    report.origin("device", device.name)
    report.origin("driver", common.driver_version())
    report.origin("peer", f"nvCOMP {version}, chunks of 64 KiB of byte planes of 1 MiB; sluice: chunks of 1 MiB")
    report.origin("columns", f"{len(columns)} of {len(columns[0]) // ITEM} survivors, {len(job.data)} bytes")
    ratios = {a: job.check(a) for a in options.algorithms}
    programs = {"sluice": lambda: run_bench(options, len(job.data))}
    for a in options.algorithms:
        programs[a] = lambda a=a: job.gb_per_s(a)
    results = common.alternate(programs, options.repeat)
    device.free_all()
    backends = {name: [round_[name] for round_ in results["sluice"]] for name in results["sluice"][0]}
    for name, values in backends.items():
        report.row("deflate", f"sluice {name}, ratio {values[0][1]:.3f}", "input", "GB/s", [v[0] for v in values])
    for a in options.algorithms:
        for name, values in backends.items():
            report.row("deflate", f"nvCOMP algorithm {a}, ratio {ratios[a]:.3f}; against {name}", "input", "GB/s",
                       results[a], [v[0] for v in values])


def algorithms(text):
    found = [int(word) if word in "012345" and len(word) == 1 else -1 for word in text.split(",")]
    if min(found) < 0:
        raise common.argparse.ArgumentTypeError(f"'{text}' is not a list of numbers from 0 to 5, such as 0,1,2")
    return found


def main():
    parser = common.options_of(__doc__, "--bench", "--device")
    parser.add_argument("--algorithms", type=algorithms, default=[0, 1, 2, 3, 4, 5], metavar="LIST",
                        help="algorithms of nvCOMP (default 0,1,2,3,4,5; 3 is 2 in version 6)")
    parser.add_argument("--n", type=common.positive, default=1 << 25, metavar="N",
                        help="particles, of which half survive (default 2^25)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
