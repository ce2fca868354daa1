#!/usr/bin/env python3
"""Photons in a slab: MCML (Wang, Jacques, Zheng 1995) against sluice on one core, at equal statistical error.

    python3 bench/peers/mcml.py --program PATH [--config NAME]... [--repeat N] [--csv FILE]

PATH is MCML, compiled from its published source (1.2.2 or another version that reads files of version 1.0):
    cc -O3 -march=native -o mcml mcmlmain.c mcmlio.c mcmlgo.c mcmlnr.c -lm

Each measured run of MCML consists of --runs independent runs in one input file, with a grid of one cell.
From their scatter follows the variance of one photon for reflected, transmitted and absorbed. sluice runs the
same slab on one thread and writes no survivors: once analogue (whole particles are absorbed), once with implicit
capture, which is what MCML does. The variance of one particle is p (1 - p), or that of 512 small batches. Times
are processor times of whole processes. "time to 1e-4" is the processor time to a standard error of 1e-4 of that
fraction. All fractions must agree with the published ones to within 5 standard errors. MCML 1.2.2 with its own
generator, ran3, does not agree for isotropic_099: 1e7 photons transmit 0.08524, published is 0.08476. With drand48
in its function RandomNum() it agrees.
"""
import json
import os
import re
import statistics
import time

import common

FRACTIONS = {"reflected": r"#Diffuse reflectance|#Specular reflectance", "transmitted": r"#Transmittance",
             "absorbed": r"#Absorbed fraction"}
ERROR = 1e-4
SMALL_BATCH = 8192
LAST_START = [0]


def write_input(path, slab, runs, photons):
    """An input file of MCML: runs times the same slab, each with one cell of z, r and angle."""
    depth = slab["thickness"]
    lines = ["1.0", str(runs)]
    for k in range(runs):
        lines += [f"{k}.mco A", str(photons), f"{depth:.9g} {depth:.9g}", "1 1 1", "1", f"{slab['n_above']:.9g}",
                  f"{slab['n']:.9g} {slab['mu_a']:.9g} {slab['mu_s']:.9g} {slab['g']:.9g} {depth:.9g}",
                  f"{slab['n_below']:.9g}"]
    with open(path, "w", encoding="ascii") as f:
        f.write("\n".join(lines) + "\n")


def read_output(path):
    """The fractions of an output file; the reflected one with the specular part."""
    with open(path, encoding="ascii", errors="replace") as f:
        text = f.read()
    found = {}
    for name, label in FRACTIONS.items():
        values = re.findall(r"^([-+0-9.eE]+)\s*(?:%s)" % label, text, re.M)
        if len(values) != (2 if name == "reflected" else 1):
            raise common.WrongAnswer(f"{path} has no line {label} as MCML 1.2 writes it")
        found[name] = sum(map(float, values))
    return found


def run_mcml(program, folder, runs):
    """Runs the input file in the folder; processor seconds and the fractions of each run.

    MCML seeds its generator with the second of the clock, so a run never starts in the same second as the last.
    """
    while int(time.time()) == LAST_START[0]:
        time.sleep(0.02)
    LAST_START[0] = int(time.time())
    seconds = common.clocks(lambda: common.run([program, "slab.mci"], cwd=folder))[1]
    return seconds, [read_output(os.path.join(folder, f"{k}.mco")) for k in range(runs)]


def run_sluice(words):
    """Runs sluice; processor seconds and the fates of its run.json."""
    _, seconds, shown = common.clocks(lambda: common.run(words))
    return seconds, json.loads(shown)["tallies"]["fates"]


def variances_of_mcml(results, photons):
    """The variance of one photon for each fraction, from the scatter of independent runs."""
    return {name: statistics.variance([r[name] for r in results]) * photons for name in FRACTIONS}


def variances_of_sluice(words, implicit, published):
    """The variance of one particle: p (1 - p) of an analogue fraction; else from the scatter of batches."""
    if not implicit:
        return {name: p * (1 - p) for name, p in published.items()}
    _, fates = run_sluice([*words, "--set", f"run.particles={512 * SMALL_BATCH}", "--set",
                           f"run.batch={SMALL_BATCH}"])
    return {name: fates[name]["standard_error_over_batches"] ** 2 * 512 * SMALL_BATCH for name in FRACTIONS}


def check(program, published, fractions, variances, n):
    """Raises WrongAnswer unless the fractions of n histories agree with the published ones."""
    for name, expected in published.items():
        common.agree(f"{program}: the fraction {name}", fractions[name], expected, 5 * (variances[name] / n) ** 0.5)


def compare_slab(config, options, report):
    slab, published = common.slab_of(options, config)
    folder = os.path.join(options.work, "mcml-" + common.name_of(config))
    os.makedirs(folder)
    write_input(os.path.join(folder, "slab.mci"), slab, options.runs, options.photons)
    modes = {f"sluice, {mode}": common.sluice_words(
        options, config, "--device", "cpu", "--threads", "1", sets=(
            "keep=max_steps", "tallies=[]", "check={}", "output.columns=[id]", f"model.slab.absorption={mode}",
            "run.batch=auto", f"run.particles={options.particles}")) for mode in ("analogue", "implicit")}
    programs = {name: lambda command=command: run_sluice(command) for name, command in modes.items()}
    programs["MCML"] = lambda: run_mcml(options.program, folder, options.runs)
    variances = {name: variances_of_sluice(command, "implicit" in name, published) for name, command in modes.items()}
    results = common.alternate(programs, options.repeat)

    histories = {name: options.particles for name in modes} | {"MCML": options.runs * options.photons}
    runs = [r for _, several in results["MCML"] for r in several]
    variances["MCML"] = variances_of_mcml(runs, options.photons)
    for name in modes:
        fractions = {fate: v["weight_fraction"] for fate, v in results[name][0][1].items()}
        check(name, published, fractions, variances[name], options.particles)
    check("MCML", published, {name: statistics.fmean(r[name] for r in runs) for name in FRACTIONS},
          variances["MCML"], len(runs) * options.photons)
    add_rows(report, common.name_of(config), published, variances,
             {name: [v[0] / histories[name] for v in values] for name, values in results.items()})


def add_rows(report, work, published, variances, seconds):
    """seconds: processor seconds of one history in each round, by program."""
    *modes, _ = seconds
    for name, values in seconds.items():
        report.row(work, name, "histories", "M/s and core", [1e-6 / v for v in values])
    for fate in published:
        needed = {name: [v * variances[name][fate] / ERROR ** 2 for v in values] for name, values in seconds.items()}
        for name in modes:
            report.row(work, name, f"time to 1e-4, {fate}", "s", needed[name])
        for name in modes:
            report.row(work, f"MCML against {name}", f"time to 1e-4, {fate}", "s", needed["MCML"], needed[name],
                       higher_is_better=False)


def version_of(options):
    """What MCML prints about itself for a file with one photon, such as 1.2.2."""
    folder = os.path.join(options.work, "version")
    os.makedirs(folder)
    slab = {"mu_a": 1, "mu_s": 1, "g": 0, "thickness": 1, "n": 1, "n_above": 1, "n_below": 1}
    write_input(os.path.join(folder, "slab.mci"), slab, 1, 1)
    shown = common.run([options.program, "slab.mci"], cwd=folder)
    found = re.search(r"Version\s+(\d[\w.]*)", shown)
    return found.group(1) if found else "of unknown version"


def compare(options, report):
    if not options.program:
        raise common.NotRun("--program PATH is missing: the program MCML, which you compile from its published source")
    options.program = common.require_program(options.program, "the program MCML")
    report.origin("peer", f"MCML {version_of(options)} ({options.compiled}); {options.runs} runs of "
                          f"{options.photons} photons")
    for config in options.config or ["vandehulst", "isotropic_099"]:
        compare_slab(config, options, report)


def main():
    parser = common.options_of(__doc__, "--config")
    parser.add_argument("--program", metavar="PATH", help="MCML")
    parser.add_argument("--compiled", default="compiler options unknown", metavar="TEXT",
                        help="how MCML was compiled, for the header of the results")
    parser.add_argument("--runs", type=common.positive, default=200, metavar="N",
                        help="independent runs in one run of MCML (default 200)")
    parser.add_argument("--photons", type=common.positive, default=10_000, metavar="N",
                        help="photons of each of them (default 10000)")
    parser.add_argument("--particles", type=common.positive, default=20_000_000, metavar="N",
                        help="particles of a run of sluice (default 2e7)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
