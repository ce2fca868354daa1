"""What the tests of the package share. SLUICE is the program, SLUICE_SOURCE the root of the repository."""
import os
import pathlib
import subprocess
import time

import pytest

SOURCE = pathlib.Path(os.environ.get("SLUICE_SOURCE", pathlib.Path(__file__).parents[2]))
PROGRAM = os.environ.get("SLUICE", str(SOURCE / "build/release/sluice"))

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


def busy_seconds():
    """Processor time of this process per core: unlike the time of day, it does not grow with other work on the machine."""
    return time.process_time() / len(os.sched_getaffinity(0))


def cli(*arguments, cwd, **options):
    """Runs the program."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, **options)
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
