#!/usr/bin/env python3
"""rounded_sums.py - the errors of particle filters whose prefix sums of weights are rounded, for docs/models.md.

    python3 bench/plot/rounded_sums.py build/release/sluice 20 24 25 26 > results.csv

For each K, filters of 2^K particles follow the first four flows of the Nile and resample in each step. Sums of float32 are
those of NumPy, one by one or in tiles of 4096 first, as parallel scans add them. Sums of integers are those of sluice.
"""
import json, os, platform, shlex, subprocess, sys, tempfile

import numpy

FLOWS, EXACT = (1120, 1160, 963, 1210), -25.852753035  # the log likelihood by a Kalman filter
CONFIG = ("{run: {particles: %d, batch: %d, seed: 1}, output: {format: none}, model: {smc: {state_space: local_level, mean: 1000,"
          " variance: 1e5, sigma2_eta: 1469.1, sigma2_eps: 15099, observations: y.csv, columns: y, resample_below: 1}}}")

def in_tiles(weights):
    sums = numpy.cumsum(weights.reshape(-1, 4096), axis=1, dtype="f4")
    sums[1:] += numpy.cumsum(sums[:, -1], dtype="f4")[:-1, None]
    return sums.ravel()

def of_floats(n, add):
    """The log likelihood, and the share of particles that are copied in the last step."""
    numbers, likelihood = numpy.random.default_rng(1), 0
    x = numpy.float32(1000) + numpy.float32(1e5 ** 0.5) * numbers.standard_normal(n, dtype="f4")
    for t, flow in enumerate(FLOWS):
        x += numpy.float32(1469.1 ** 0.5) * numbers.standard_normal(n, dtype="f4") if t else numpy.float32(0)
        log = (x - numpy.float32(flow)) ** 2 * numpy.float32(-0.5 / 15099)
        sums = add(numpy.exp(log - log.max()))
        likelihood += float(log.max()) + numpy.log(float(sums[-1]) / n) - 0.5 * numpy.log(2 * numpy.pi * 15099)
        slots = ((numpy.arange(n) + numbers.random()) * (float(sums[-1]) / n)).astype("f4")
        copied = numpy.minimum(numpy.searchsorted(sums, slots, "right"), n - 1)
        x = x[copied]
    return likelihood, f"{(1 + numpy.count_nonzero(numpy.diff(copied))) / n:.4f}"

def of_integers(n):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("y.csv", "\n".join(["y", *map(str, FLOWS)])), ("c.yaml", CONFIG % (n, n))):
            open(f"{folder}/{name}", "w").write(text)
        subprocess.run([os.path.abspath(sys.argv[1]), "run", "c.yaml", "--device", "cpu", "--quiet", "--out", "o"], cwd=folder, check=True)
        return json.load(open(f"{folder}/o/run.json"))["filter"]["log_likelihood"], ""

version = subprocess.run([sys.argv[1], "version"], check=True, capture_output=True, text=True).stdout.split()
print(f"# numpy {numpy.__version__}, Python {platform.python_version()}; {' '.join(version[:4])}\n# command: {shlex.join(sys.argv)}")
print("particles,sums,error_of_log_likelihood,copied")
for n in [2 ** int(k) for k in sys.argv[2:]]:
    for name, found in (("float32 one by one", lambda: of_floats(n, lambda w: numpy.cumsum(w, dtype="f4"))),
                        ("float32 in tiles", lambda: of_floats(n, in_tiles)), ("integers", lambda: of_integers(n))):
        likelihood, copied = found()
        print(f"{n},{name},{likelihood - EXACT:.5f},{copied}", flush=True)
