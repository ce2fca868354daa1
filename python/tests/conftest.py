"""What the tests of the package share. SLUICE is the program, SLUICE_SOURCE the root of the repository."""
import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import threading
import time

import numpy
import pytest

import sluice

SOURCE = pathlib.Path(os.environ.get("SLUICE_SOURCE", pathlib.Path(__file__).parents[2]))
PROGRAM = os.environ.get("SLUICE", str(SOURCE / "build/release/sluice"))
PROGRAM = [PROGRAM] if os.path.exists(PROGRAM) else [sys.executable, "-m", "sluice"]  # the package that pip installed

SLAB = """\
run:    {name: slab, seed: 1234, particles: 6000, batch: 1000}
model:  {slab: {mu_a: 10 /cm, mu_s: 90 /cm, g: 0.75, thickness: 0.02 cm}}
keep:   transmitted
key:    [w:16]
tallies: [z:10:0 cm..0.02 cm:absorbed]
output: {columns: [id, x, y, u, v, w, time, collisions]}
"""

# Histories of minutes, so that a run is interrupted while it computes.
SLOW = """\
run:    {name: slow, seed: 1, particles: 1e9, batch: 1e6}
model:  {slab: {mu_a: 0.001 /cm, mu_s: 1e5 /cm, g: 0.9, thickness: 10 cm}}
keep:   transmitted
transport: {max_steps: 1e6}
"""

ENDLESS = dict(particles=1e9, tallies=[])  # of short histories


def has_gpu():
    try:
        sluice.scan(numpy.zeros(4, numpy.uint32), device="cuda")
        return True
    except sluice.Error:
        return False


GPU = has_gpu()
DEVICES = ["emulated", *["cuda"] * GPU]


def share(variants, least=1):
    """One in SLUICE_ONE_IN of the variants, but at least that many; SLUICE_SHARE, the number of the commit, selects them."""
    variants, n = list(variants), int(os.environ.get("SLUICE_ONE_IN", 1))
    n = max(1, min(n, len(variants) // least))
    return variants[int(os.environ.get("SLUICE_SHARE", 0)) % n::n]


def host(array):
    """An array of any library, or a column, as an array of NumPy."""
    if isinstance(array, sluice.Column):
        return numpy.asarray(array.to_host())
    for method in ("cpu", "get"):  # torch, CuPy
        array = getattr(array, method, lambda: array)()
    return numpy.asarray(array)


class Only:
    """An array as of torch: DLPack without the buffer protocol."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def c_struct(name, /, **members):
    return type(name, (ctypes.Structure,), {"_fields_": list(members.items())})


def without(*keys):
    """SLAB without the lines of these keys."""
    return "".join(line for line in SLAB.splitlines(True) if line.split(":")[0] not in keys)


def refused(call, name="USAGE", *texts):
    """The message of a call that raises sluice.Error with this status."""
    with pytest.raises(sluice.Error) as caught:
        call()
    assert caught.value.status.name == name
    assert all(text in str(caught.value) for text in texts), str(caught.value)
    return str(caught.value)


def same_columns(made, expected, names=None):
    """The same bits in all columns, or in these."""
    for name in names or expected:
        assert numpy.array_equal(made[name], expected[name]), name


def use_memory_again():
    """Memory that were freed would be used by these runs."""
    gc.collect()
    for seed in range(5):
        sluice.run(SLAB, seed=seed).survivors["x"]


def in_threads(calls):
    threads = [threading.Thread(target=call) for call in calls]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def busy_seconds():
    """Processor time of this process per core: unlike the time of day, it does not grow with other work on the machine."""
    return time.process_time() / len(os.sched_getaffinity(0))


def cli(*arguments, cwd, **options):
    """Runs the program."""
    done = subprocess.run([*PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files_of(directory):
    """Name -> bytes of all files of a run but those that contain times."""
    return {p.name: p.read_bytes() for p in pathlib.Path(directory).iterdir()
            if p.name not in ("run.json", "LOCK")}


@pytest.fixture
def config(tmp_path):
    """A file with SLAB."""
    path = tmp_path / "slab.yaml"
    path.write_text(SLAB)
    return path
