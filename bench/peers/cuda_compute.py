#!/usr/bin/env python3
"""Scan and sort of arrays in the memory of a GPU, called from Python: sluice against cuda.compute and its C library.

    PYTHONPATH=build/cuda/python python3 bench/peers/cuda_compute.py [--n N,N] [--only scan,sort] [--csv FILE]

The arrays are tensors of torch, with out= and stream=, so that a call queues its work and returns. Needs a GPU, the
package sluice of a build with CUDA, and torch. cuda.compute (package cuda-cccl) is called on the same tensors with a
prepared object and temporary memory; without the package, its rows are missing. A time is that between two events
on the stream around many calls, for each call; so it has the time of Python where that is longer than the work of the
device. The figures of the C library are those of sluice-bench, whose arrays are its own. Every result is compared with
torch's before anything is timed.
"""
import inspect

import common

CALLS_BYTES, CALLS_MOST = 1 << 33, 1000
JOBS = ("scan u32", "scan u64", "sort u32 keys", "sort u32 pairs", "sort u64 keys")


class Job:
    """One job on tensors of n items."""

    def __init__(self, torch, name, n):
        self.torch, self.name, self.n = torch, name, n
        self.primitive, kind = name.split()[:2]
        self.pairs = name.endswith("pairs")
        signed, self.dtype = {"u32": (torch.int32, torch.uint32), "u64": (torch.int64, torch.uint64)}[kind]
        self.signed = signed
        most = 100 if self.primitive == "scan" else torch.iinfo(signed).max
        torch.manual_seed(1)
        self.keys = torch.randint(0, most, (n,), dtype=signed, device="cuda").view(self.dtype)
        self.out = torch.empty_like(self.keys)
        self.index = torch.arange(n, dtype=torch.int32, device="cuda").view(torch.uint32) if self.pairs else None
        self.index_out = torch.empty_like(self.index) if self.pairs else None
        self.calls = max(3, min(CALLS_MOST, CALLS_BYTES // (8 * n)))

    def check(self, program):
        """Raises WrongAnswer unless the outputs are those of torch; clears them."""
        torch, keys = self.torch, self.keys.view(self.signed)
        if self.primitive == "scan":
            expected = torch.zeros_like(keys)
            expected[1:] = torch.cumsum(keys, 0, dtype=self.signed)[:-1]
        else:
            expected, order = torch.sort(keys, stable=True)
            if self.pairs and not torch.equal(self.index_out.view(torch.int32), order.int()):
                raise common.WrongAnswer(f"{self.name} by {program}: the values are not those of torch")
        if not torch.equal(self.out.view(self.signed), expected):
            raise common.WrongAnswer(f"{self.name} by {program}: the result is not that of torch")
        self.out.view(self.signed).zero_()

    def milliseconds(self, stream, call):
        """Milliseconds of the stream for each call."""
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        call()
        stream.synchronize()
        begin.record(stream)
        for _ in range(self.calls):
            call()
        end.record(stream)
        end.synchronize()
        return begin.elapsed_time(end) / self.calls


def by_sluice(sluice, job, stream):
    if job.primitive == "scan":
        return lambda: sluice.scan(job.keys, out=job.out, stream=stream)
    if job.pairs:
        out = (job.out, job.index_out)
        return lambda: sluice.sort(job.keys, job.index, out=out, stream=stream)
    return lambda: sluice.sort(job.keys, out=job.out, stream=stream)


def by_cuda_compute(np, compute, job, stream):
    """A call of a prepared object. Versions name the arguments of a call differently and order them differently."""
    zero = np.zeros(1, np.uint32 if job.dtype.itemsize == 4 else np.uint64)
    arguments = {"d_in": job.keys, "d_out": job.out, "op": compute.OpKind.PLUS, "init_value": zero, "h_init": zero,
                 "d_in_keys": job.keys, "d_out_keys": job.out, "d_in_values": job.index, "order": None,
                 "d_out_values": job.index_out, "num_items": job.n, "stream": stream}
    if job.primitive == "scan":
        prepared = compute.make_exclusive_scan(job.keys, job.out, compute.OpKind.PLUS, zero)
    else:
        prepared = compute.make_radix_sort(job.keys, job.out, job.index, job.index_out, compute.SortOrder.ASCENDING)
    names = inspect.signature(prepared.__call__).parameters
    chosen = {name: arguments[name] for name in names if name in arguments}
    temporary = next(name for name in names if name.startswith("temp"))
    size = prepared(**{**chosen, temporary: None})
    memory = job.torch.empty(max(1, int(size)), dtype=job.torch.uint8, device="cuda")
    return lambda: prepared(**{**chosen, temporary: memory})


def by_library(options, job):
    """Milliseconds of the C library for the same job, by sluice-bench."""
    kind = job.name.split()[1]
    rows = common.bench_rows(options, "--only", f"{job.primitive}/shared", "--n", str(job.n), "--type", kind, "--sort",
                             "pairs" if job.pairs else "keys", "--bits", kind[1:], backend="shared")
    if len(rows) != 1:
        raise common.WrongAnswer(f"{job.name}: sluice-bench printed {len(rows)} rows, expected 1")
    return float(rows[0]["ms_median"])


def compare_job(options, report, job, libraries):
    torch, np, sluice, compute = libraries
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    calls = {"sluice": by_sluice(sluice, job, stream)}
    if compute:
        calls["cuda.compute"] = by_cuda_compute(np, compute, job, stream)
    for name, call in calls.items():
        call()
        stream.synchronize()
        job.check(name)
    programs = {name: lambda call=call: job.milliseconds(stream, call) for name, call in calls.items()}
    programs["C library"] = lambda: by_library(options, job)
    times = common.alternate(programs, options.repeat)
    for name, values in times.items():
        report.row(f"{job.name}, n {job.n}", name, "per call", "ms", values,
                   times["sluice"] if name != "sluice" else None, higher_is_better=False)


def compare(options, report):
    common.require_program(options.sluice, "the program sluice")
    torch = common.require("torch", "torch")
    np = common.require("numpy", "numpy")
    sluice = common.require("sluice", "sluice-particles")
    try:
        compute = common.require("cuda.compute", "cuda-cccl")
        peer = f"cuda-cccl {common.package_version('cuda-cccl')}"
    except common.NotRun:
        compute, peer = None, "without cuda-cccl, which is not installed"
    if not torch.cuda.is_available():
        raise common.NotRun("torch finds no CUDA GPU")
    report.origin("device", torch.cuda.get_device_name())
    report.origin("driver", common.driver_version())
    report.origin("peer", f"{peer}; torch {torch.__version__}")
    for name in JOBS:
        for n in options.n if name.split()[0] in options.only else ():
            compare_job(options, report, Job(torch, name, n), (torch, np, sluice, compute))


def primitives(text):
    found = text.split(",")
    if not set(found) <= {"scan", "sort"}:
        raise common.argparse.ArgumentTypeError(f"'{text}' is not a list of scan and sort, such as scan,sort")
    return found


def main():
    parser = common.options_of(__doc__, "--bench")
    parser.add_argument("--n", type=common.positives, default=[1 << 20, 1 << 22, 1 << 24, 1 << 27], metavar="LIST",
                        help="numbers of items (default 2^20, 2^22, 2^24, 2^27)")
    parser.add_argument("--only", type=primitives, default=["scan", "sort"], metavar="LIST",
                        help="scan, sort, or both (the default)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
