#!/usr/bin/env python3
"""Changes the absorption of regions after a run of the model slab_paths or voxels_paths, without running it again.

	scripts/change_absorption.py DIR REGION=CHANGE [REGION=CHANGE...]

DIR is the folder of a finished run with output.format csv or csv.gz. CHANGE is what is added to the
absorption coefficient of the region, in 1/cm; it may be negative. Example: 2=0.5 adds 0.5 /cm to the
layers of region 2.

A history with the path L in a region has the probability exp(-mu_a L) of surviving absorption there,
so a change of mu_a by d multiplies the weight of the history by exp(-d L). The scattering
coefficients stay as they are. The script prints the fraction of all weight that each fate of the
survivors has before and after the change, with standard errors. It leaves absorbed particles out:
their histories do not end by leaving. The error grows with |d L|: a large
change rests on few histories, and needs a separate run.

Exit code 2: wrong arguments; 3: the run does not fit.
"""
import csv
import gzip
import json
import math
import os
import sys


# The numbers in the column fate (stages/particle/fates.def) of histories that absorption has not ended.
FATES = {"1": "reflected", "2": "transmitted", "4": "max_steps", "5": "hit", "13": "specular"}


def fail(code, text):
    print(f"change_absorption.py: {text}", file=sys.stderr)
    sys.exit(code)


def parse_changes(words):
    """The change per region, in 1/cm."""
    changes = {}
    for word in words:
        region, _, value = word.partition("=")
        try:
            change = float(value)
        except ValueError:
            change = math.nan
        if region not in ("1", "2", "3") or not math.isfinite(change):
            fail(2, f"'{word}' is not REGION=CHANGE; write a region from 1 to 3 and a number in 1/cm, such as 2=0.5")
        if region in changes:
            fail(2, f"region {region} is given twice; remove one of them")
        changes[region] = change
    return changes


def read_run(folder):
    """The contents of run.json, of a finished run."""
    path = os.path.join(folder, "run.json")
    try:
        with open(path, encoding="utf-8") as f:
            run = json.load(f)
    except (OSError, ValueError) as e:
        fail(3, f"{path} cannot be read: {e}; give the folder of a finished run")
    if run.get("model") not in ("slab_paths", "voxels_paths"):
        fail(3, f"{folder} is a run of model {run.get('model')}, which has no paths; run the model slab_paths or voxels_paths")
    return run


def survivors(folder):
    """The rows of all survivor files, as dictionaries."""
    names = sorted(n for n in os.listdir(folder) if n.endswith((".csv", ".csv.gz")))
    if not names:
        fail(3, f"{folder} has no survivor files in csv or csv.gz; run it with output.format: csv.gz")
    for name in names:
        path = os.path.join(folder, name)
        with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as f:
            yield from csv.DictReader(line for line in f if not line.startswith("#"))


def check_columns(row, run, changes):
    for region in changes:
        if f"path_{region}" not in row:
            fail(3, f"the files lack the column path_{region}; add it to output.columns")
    if "fate" not in row:
        fail(3, "the files lack the column fate; add it to output.columns")
    if "weight" not in row and "absorption: analogue" not in run["config"]:
        fail(3, "the files lack the column weight; add it to output.columns")


class Sum:
    """The mean and its standard error of a value that is 0 for particles not added."""

    def __init__(self):
        self.sum = self.squares = 0.0

    def add(self, value):
        self.sum += value
        self.squares += value * value

    def of(self, n):
        mean = self.sum / n
        return mean, math.sqrt(max(self.squares / n - mean * mean, 0) / n)


def main():
    if len(sys.argv) < 3:
        fail(2, "needs a folder and at least one REGION=CHANGE; see the first lines of this file")
    changes = parse_changes(sys.argv[2:])
    folder = sys.argv[1]
    run = read_run(folder)
    before, after, checked = {}, {}, False
    for row in survivors(folder):
        if not checked:
            check_columns(row, run, changes)
            checked = True
        fate = FATES.get(row["fate"])
        if fate is None:
            continue
        weight = float(row.get("weight", 1))
        factor = math.exp(-sum(d * float(row[f"path_{region}"]) for region, d in changes.items()))
        before.setdefault(fate, Sum()).add(weight)
        after.setdefault(fate, Sum()).add(weight * factor)
    particles = run["tallies"]["particles"]
    print("fate             before        +-         after         +-")
    for fate in sorted(before):
        print(f"{fate:14s} %.6f  %.6f      %.6f   %.6f" % (*before[fate].of(particles), *after[fate].of(particles)))


if __name__ == "__main__":
    main()
