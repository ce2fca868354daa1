#!/usr/bin/env python3
"""A particle filter: JAX, CUB and the Python package particles against sluice.

    python3 bench/peers/smc.py [--device cuda|cpu] [--sizes N,N] [--peers jax cub particles] [--csv FILE]

The work is the bootstrap filter of data/configs/smc/nile.yaml, with systematic resampling after each observation.

- On a GPU (--device cuda), sluice runs several filters at the same time, and one at a time. With --device cpu it
  uses all cores, as JAX does.
- JAX runs a filter in float32 with lax.scan, cumsum and searchsorted: one at a time, and on a GPU by vmap as many as
  have 2^22 particles together. Of two methods of searchsorted the faster one is timed. If BlackJAX is installed, its
  systematic resampling is used in a second filter.
- CUB is cub/smc.cu, compiled with nvcc; it runs one filter at a time.
- particles runs on one core, up to 2^20 particles, and is compared with sluice on one core.

A program that cannot run is skipped, and a line says why. Times are seconds per filter: for sluice those of the loop
over filters (wall_seconds in run.json), for JAX those of compiled calls until the results are ready, for CUB and
particles those of the host around the filters. "whole command" is sluice from start to end, divided by the number of
filters. "compilation" is that of JAX. Ratios are those of rates, to the first program of sluice.

"error" is the log likelihood of a round less the exact one, by a Kalman filter. Its standard deviation is near
12/sqrt(N) for N particles. The bound is 6 of these, and 0.05 for the rounding of float32 sums (the deviation of 2^16
particles): 0.12 for N = 2^20. A program with an error above the bound is marked WRONG and gets no times; the exit code
is then 1.
"""
import functools
import itertools
import json
import math
import os
import re
import shutil
import sys

import common

SEEDS, PEERS = itertools.count(1), ("jax", "cub", "particles")
UNITS = {"log likelihood": "", "error": "", "rate": "G particle-steps/s"}  # others are in seconds
CONFIG = os.path.join(common.ROOT, "data", "configs", "smc", "nile.yaml")
TABLE = os.path.join(common.ROOT, "data", "reference", "nile.csv")
with open(CONFIG, encoding="utf-8") as file, open(TABLE, encoding="utf-8") as table:
    VALUES = dict(re.findall(r"^    (sigma2_\w+|variance): (\S+)", file.read(), re.M))
    FLOWS = [float(flow) for flow in re.findall(r"^\d+,(\S+)", table.read(), re.M)]
FIRST, MOVE, NOISE = (float(VALUES[key]) for key in ("variance", "sigma2_eta", "sigma2_eps"))  # variances


def kalman():
    """The exact log likelihood."""
    mean, variance, likelihood = 0.0, FIRST, 0.0
    for flow in FLOWS:
        total = variance + NOISE
        likelihood -= 0.5 * (math.log(2 * math.pi * total) + (flow - mean) ** 2 / total)
        mean, variance = mean + variance / total * (flow - mean), variance * NOISE / total + MOVE
    return likelihood


# --- programs: each function returns one that returns seconds by quantity, and the log likelihood --

def sluice(options, report, n, filters, *words):
    command = common.sluice_words(options, CONFIG, *words, sets=(
        f"model.smc.observations={TABLE}", f"run.batch={n}", f"run.particles={n * filters}"))

    def program():
        whole, _, shown = common.clocks(lambda: common.run([*command, "--set", f"run.seed={next(SEEDS)}"]))
        result = json.loads(shown)
        report.origin("device", result["machine"].get("device", {}).get("name") or report.about["device"])
        return {"filter": result["times"]["wall_seconds"] / filters, "whole command": whole / filters,
                "log likelihood": result["filter"]["log_likelihood"]}
    return program


def jax_filter(jax, n, method, key):
    """The log likelihoods of the observations. method: of searchsorted, or blackjax."""
    jnp = jax.numpy

    def step(x, inputs):
        flow, (one, two) = inputs
        log_weight = -0.5 / NOISE * (flow - x) ** 2
        top = log_weight.max()
        weight = jnp.exp(log_weight - top)
        if method == "blackjax":
            parent = common.require("blackjax.smc.resampling", "blackjax").systematic(one, weight / weight.sum(), n)
        else:
            sums = jnp.cumsum(weight)
            at = (jnp.arange(n, dtype="float32") + jax.random.uniform(one)) / n * sums[-1]
            parent = jnp.minimum(jnp.searchsorted(sums, at, side="right", method=method), n - 1)
        moved = x[parent] + MOVE ** 0.5 * jax.random.normal(two, (n,))
        return moved, top + jnp.log(weight.mean()) - 0.5 * math.log(2 * math.pi * NOISE)

    keys, flows = jax.random.split(key, (len(FLOWS) + 1, 2)), jnp.array(FLOWS, "float32")
    return jax.lax.scan(step, FIRST ** 0.5 * jax.random.normal(keys[-1, 0], (n,)), (flows, keys[:-1]))[1]


def jax_program(n, together, *methods):
    """Calls of together filters each, by the fastest of the methods, which are those of jax_filter()."""
    jax, calls, found = common.require("jax", "jax"), max(1, (1 << 20) // (n * together)), []

    def call(compiled, compilation=0.0):
        keys = jax.block_until_ready(list(jax.random.split(jax.random.key(next(SEEDS)), (calls, together))))
        seconds, _, out = common.clocks(lambda: jax.block_until_ready([compiled(key) for key in keys]))
        return {"filter": seconds / (calls * together), "compilation": compilation,
                "log likelihood": sum(float(jax.device_get(o).astype("f8").sum(1).mean()) for o in out) / calls}

    for method in methods:
        keys, jitted = jax.random.split(jax.random.key(0), together), jax.jit(jax.vmap(
            functools.partial(jax_filter, jax, n, method)))
        compilation, _, compiled = common.clocks(lambda: jitted.lower(keys).compile())
        found.append((min(call(compiled)["filter"] for _ in range(2)), compiled, compilation))
    return functools.partial(call, *min(found, key=lambda f: f[0])[1:])


def particles_program(n):
    particles = common.require("particles", "particles")
    models, normal = common.require("particles.state_space_models", "particles"), particles.distributions.Normal
    level = type("Level", (models.StateSpaceModel,), {
        "PX0": lambda self: normal(scale=FIRST ** 0.5), "PX": lambda self, t, x: normal(loc=x, scale=MOVE ** 0.5),
        "PY": lambda self, t, last, x: normal(loc=x, scale=NOISE ** 0.5)})

    def program():
        job = particles.SMC(fk=models.Bootstrap(ssm=level(), data=FLOWS), N=n, ESSrmin=2, collect="off")
        return {"filter": common.clocks(job.run)[0], "log likelihood": job.logLt}
    return program


def cub_program(options, report, n):
    path, nvcc = os.path.join(options.work, "smc"), shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.path.exists(path):
        common.run([common.require_program(nvcc, "the compiler nvcc"), "-O3", "-std=c++17", "-arch=native",
                    "--extended-lambda", "-o", path, os.path.join(common.ROOT, "bench", "peers", "cub", "smc.cu")])

    def program():
        words = (n, max(4, (1 << 22) // n), next(SEEDS), FIRST ** 0.5, MOVE ** 0.5, 0.5 / NOISE, *FLOWS)
        seconds, likelihood, version = common.run([path], input=" ".join(map(str, words))).split()
        report.origin("CUB", version)
        return {"filter": float(seconds), "log likelihood": float(likelihood)}
    return program


# --- comparison -----------------------------------------------------------------------------------

def programs_of(options, report, n, where):
    """Functions that make the programs of a size, by name. Those of sluice are first; peers begin as in --peers."""
    ours, jax = functools.partial(sluice, options, report, n), f"JAX {common.package_version('jax')}"
    if where == "1 core":
        return {"sluice": lambda: ours(1, "--device", "cpu", "--threads", "1"),
                f"particles {common.package_version('particles')}": lambda: particles_program(n)}
    filters, many = max(8, (1 << 25) // n), max(1, (1 << 22) // n)
    if where == "CPU":
        return {"sluice": lambda: ours(os.cpu_count(), "--device", "cpu"),
                f"{jax}, 1 at a time": lambda: jax_program(n, 1, "scan"),
                f"{jax}, BlackJAX": lambda: jax_program(n, 1, "blackjax")}
    return {f"sluice, {filters} filters": lambda: ours(filters, "--device", "cuda:0"),
            "sluice, 1 at a time": lambda: ours(filters, "--device", "cuda:0", "--set", "run.slots=1"),
            "CUB, 1 at a time": lambda: cub_program(options, report, n),
            f"{jax}, BlackJAX": lambda: jax_program(n, 1, "blackjax"), **{
                f"{jax}, {k} at a time": lambda k=k: jax_program(n, k, "sort", "scan_unrolled") for k in {1, many}}}


def prepare(made, work, peers):
    """The programs that can run, each after one call; prints a line for every other one."""
    programs = {}
    for name in [name for name in made if re.split("[ ,]", name.lower())[0] in ("sluice", *peers)]:
        try:
            program = made[name]()
            program()
            programs[name] = program
        except Exception as e:  # packages raise their own classes
            print(f"smc.py: skipped: {work}: {name}: {type(e).__name__}: {e}", file=sys.stderr)
    return programs


def add_rows(report, n, work, results):
    exact, bound, ours = kalman(), 6 * 12 / n ** 0.5 + 0.05, None
    for name, rounds in results.items():
        for r in rounds:
            r.update({"rate": 1e-9 * n * len(FLOWS) / r["filter"], "error": r["log likelihood"] - exact})
        right = all(abs(r["error"]) <= bound for r in rounds)
        for quantity in rounds[0] if right else ("log likelihood", "error"):
            report.row(work, name if right else f"{name}, WRONG by more than {bound:.2g}", quantity,
                       UNITS.get(quantity, "s"), [r[quantity] for r in rounds], ours if quantity == "rate" else None)
        ours = [r["rate"] for r in rounds if right] if ours is None else ours  # the first program is sluice


def compare(options, report):
    os.environ.update(JAX_PLATFORMS=options.device, XLA_PYTHON_CLIENT_PREALLOCATE="false")
    parts = [("GPU" if options.device == "cuda" else "CPU", n) for n in options.sizes if options.peers != ["particles"]]
    parts += [("1 core", n) for n in options.sizes if n <= 1 << 20 and "particles" in options.peers]
    for where, n in parts:
        work = f"{n} particles, {len(FLOWS)} steps, {where}"
        programs = prepare(programs_of(options, report, n, where), work, options.peers)
        if {name.startswith("sluice") for name in programs} == {True, False}:
            add_rows(report, n, work, common.alternate(programs, options.repeat))
            report.origin("peer", ", ".join(sorted({row[1].split(",")[0] for row in report.rows} - {"sluice"})))
            if options.csv:
                report.write()  # an interrupted comparison leaves the rows of the sizes before
    if not report.rows:
        raise common.NotRun("a program is missing, as the lines before say")
    if wrong := {f"{row[0]}: {row[1]}" for row in report.rows if "WRONG" in row[1]}:
        report.finish()
        raise common.WrongAnswer("the log likelihood of " + "; ".join(sorted(wrong)))


def main():
    parser = common.options_of(__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="for sluice and JAX (default cuda)")
    parser.add_argument("--sizes", type=common.positives, default=[1 << 16, 1 << 20, 1 << 22, 1 << 24], metavar="LIST",
                        help="numbers of particles of a filter (default 2^16,2^20,2^22,2^24)")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS, help="what to compare with (default all)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
