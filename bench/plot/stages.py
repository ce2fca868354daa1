#!/usr/bin/env python3
"""stages.py - measures the time per particle of each stage on one core.

    python3 bench/plot/stages.py [--repeat 5] [--sluice build/release/sluice] CONFIG... > results.csv

Each configuration runs --repeat times with one thread. The CSV contains the median, the least and the
largest time of each stage, the machine and the command. The script stops if a run fails one of its
checks, so no time of a wrong answer is printed. --table prints the medians as a Markdown table to stderr.

--baseline PROGRAM runs another version of sluice in turn with this one. The CSV then also contains its
median and the median of the ratios of each pair of runs; more than 1 means that this version is faster.
"""
import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

COMPUTE = ["generate", "advance", "mark", "compact", "sort", "write"]
STAGES = COMPUTE + ["compress", "assemble", "commit"]


def run(sluice, config, folder):
    """Runs config on one thread and returns its run.json."""
    command = [sluice, "run", config, "--device", "cpu", "--threads", "1", "--json", "--force", "--out", folder]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def sample(result):
    """Nanoseconds per particle of each stage, and rates derived from them."""
    n = result["times"]["particles"]
    ns = {s: result["times"]["thread_seconds"][s] * 1e9 / n for s in STAGES}
    computing = sum(ns[s] for s in COMPUTE)
    ns["M particles/s and core before compression"] = 1e3 / computing
    ns["M particles/s and core, files written"] = 1e3 / sum(ns[s] for s in STAGES)
    steps, collisions = (result["tallies"][k] / n for k in ("steps", "collisions"))
    if steps:
        ns["M flights/s and core, advance"] = 1e3 * steps / ns["advance"]
        ns["M collisions/s and core, advance"] = 1e3 * collisions / ns["advance"]
        ns["M collisions/s and core before compression"] = 1e3 * collisions / computing
    ns["M particles/s, whole run"] = 1e-6 * n / result["times"]["wall_seconds"]
    return ns


def compare(quantity, values, baseline):
    """Median of the baseline, and of how many times as fast this version is in each pair of runs."""
    ratios = [v / b if "/" in quantity else b / v for v, b in zip(values, baseline) if v and b]
    return [f"{statistics.median(baseline):.3f}", f"{statistics.median(ratios):.3f}" if ratios else ""]


def main():
    arguments = argparse.ArgumentParser(description="Measures the time per particle of each stage on one core.")
    arguments.add_argument("--repeat", type=int, default=5, help="runs per configuration")
    arguments.add_argument("--sluice", default="build/release/sluice", help="the program")
    arguments.add_argument("--baseline", metavar="PROGRAM", help="another version of the program, run in turn")
    arguments.add_argument("--table", action="store_true", help="print the medians to stderr")
    arguments.add_argument("configs", nargs="+", help="YAML configurations")
    a = arguments.parse_args()
    folder = tempfile.mkdtemp()
    table = {}
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["config", "quantity", "median", "least", "largest", "runs", "processor", "loops",
                  "compiler", "version", "command"] + ["baseline_median", "times_as_fast"] * bool(a.baseline))
    for config in a.configs:
        name = os.path.splitext(os.path.basename(config))[0]
        results, baseline = [], []
        for _ in range(a.repeat):
            results.append(run(a.sluice, config, os.path.join(folder, name)))
            if a.baseline:
                baseline.append(sample(run(a.baseline, config, os.path.join(folder, name))))
        samples = [sample(r) for r in results]
        machine = results[0]["machine"]
        for quantity in samples[0]:
            values = [s[quantity] for s in samples]
            table.setdefault(quantity, {})[name] = statistics.median(values)
            out.writerow([name, quantity if "/" in quantity else f"ns a particle, {quantity}",
                          f"{statistics.median(values):.3f}", f"{min(values):.3f}",
                          f"{max(values):.3f}", a.repeat, machine["processor"], machine["loops"],
                          machine["compiler"], results[0]["version"],
                          f"{a.sluice} run {config} --threads 1"] +
                         (compare(quantity, values, [b[quantity] for b in baseline]) if baseline else []))
    if a.table:
        names = [os.path.splitext(os.path.basename(c))[0] for c in a.configs]
        print("| | " + " | ".join(names) + " |\n| --- |" + " ---: |" * len(names), file=sys.stderr)
        for quantity, row in table.items():
            cells = [f"{row[n]:.1f}" if n in row else "" for n in names]
            print(f"| {quantity} | " + " | ".join(cells) + " |", file=sys.stderr)
    shutil.rmtree(folder)


main()
