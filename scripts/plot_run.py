#!/usr/bin/env python3
"""plot_run.py - draws the tallies of a run as SVG and PNG.

    python3 scripts/plot_run.py RUN_DIR [--out DIR]

Draws the fates; each histogram, with one line per fate and with error bars; from a histogram of steps the fraction of
particles that are alive after k steps; and each grid or score of one axis as a line, of two axes as a map for each fate, all per volume of the cells. Grids of
three axes, and rows of more than 4096 cells, which run.json omits, are named and not drawn. All numbers come from run.json, so only matplotlib is needed, whatever the format of the
output files. The names of the pictures begin with the name of the run. They are written to DIR (default: RUN_DIR), and their
names are printed. Exit code: 0, or 1 with a message.
"""
import argparse
import json
import math
import os
import sys

try:
    import matplotlib
except ImportError as e:
    sys.exit("plot_run.py: %s (needed to draw); run apt-get install python3-matplotlib" % e)

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SIZE = (6.4, 4.2)


def fates_that_occur(fates):
    """The fates that at least one particle, or some weight, has."""
    return {name: f for name, f in fates.items() if f["count"] > 0 or f["weight_fraction"] > 0}


def draw_fates(run, axes):
    fates = fates_that_occur(run["tallies"]["fates"])
    shares = [f["weight_fraction"] for f in fates.values()]
    errors = [f["standard_error_over_batches"] or f["standard_error"] for f in fates.values()]
    bars = axes.bar(range(len(fates)), shares, yerr=errors, capsize=4, color="tab:blue", alpha=0.7)
    axes.bar_label(bars, labels=["%.5f" % s for s in shares], padding=2, fontsize=8)
    axes.set_xticks(range(len(fates)))
    axes.set_xticklabels(list(fates))
    axes.set(ylabel="fraction of all", title="%s: %s particles" % (run["name"], format(run["tallies"]["particles"], ",")))
    axes.margins(y=0.15)


def edges_of(histogram):
    lo, hi, bins = histogram["from"], histogram["to"], histogram["bins"]
    return [lo + (hi - lo) * i / bins for i in range(bins + 1)]


def label_of(histogram):
    return histogram["column"] + (" (%s)" % histogram["unit"] if histogram["unit"] else "")


def rows_that_occur(histogram):
    return {name: row for name, row in histogram["fates"].items() if any(row["counts"])}


def density(row, key="density"):
    """Values per particle and volume; nan where a bin has no volume, and errors of one batch."""
    return [math.nan if v is None else v for v in row[key]]


def density_label(tally):
    return "per particle" + (" (%s)" % tally["density_unit"] if tally["density_unit"] != "1" else " and unit")


def draw_line(run, tally, axes):
    """A histogram, or a grid of one axis."""
    axis = tally.get("axes", [tally])[0]
    edges = edges_of_axis(axis)
    for name, row in rows_that_occur(tally).items():
        outside = row["under"] + row["over"]
        line = axes.stairs(density(row), edges, label=name + (" (%d outside)" % outside if outside else ""))
        if any(e is not None for e in row["density_error"]):
            axes.errorbar([(a + b) / 2 for a, b in zip(edges, edges[1:])], density(row), yerr=density(row, "density_error"),
                          fmt="none", ecolor=line.get_edgecolor(), elinewidth=0.8)
    axes.set(xlabel=label_of(axis), xscale=scale_of(axis), ylabel=density_label(tally),
             title="%s: %s" % (run["name"], tally.get("name", axis["column"])))
    if "axes" not in tally:
        axes.set_ylim(0, None)
    if rows_that_occur(tally):
        axes.legend()


def alive(run, histogram):
    """
    Returns lists of step numbers k, of the fraction of particles alive after k steps, and of its standard error. A particle is
    alive after k steps if it has more than k steps in all. Returns None if the histogram omits a fate that occurs.
    """
    rows, n = histogram["fates"].values(), run["tallies"]["particles"]
    if sum(row["under"] + row["over"] + sum(row["counts"]) for row in rows) != n:
        return None
    left = n - sum(row["under"] for row in rows)
    steps, shares, errors = [], [], []
    for i, edge in enumerate(edges_of(histogram)):
        if edge >= 1:
            share = left / n
            steps.append(edge - 1)
            shares.append(share)
            errors.append(math.sqrt(share * (1 - share) / n))
        if i < histogram["bins"]:
            left -= sum(row["counts"][i] for row in rows)
    return steps, shares, errors


def draw_alive(run, curve, axes):
    steps, shares, errors = curve
    axes.errorbar(steps, shares, yerr=errors, fmt=".-", markersize=3, linewidth=0.8, elinewidth=0.8)
    axes.set(xlabel="steps", ylabel="fraction alive", title="%s: particles alive after k steps" % run["name"])
    if any(0 < s < 1 for s in shares):
        axes.set_yscale("log", nonpositive="mask")


def edges_of_axis(axis):
    lo, hi, bins = axis["from"], axis["to"], axis["bins"]
    if axis.get("spacing") == "edges":
        return axis["edges"]
    if axis.get("spacing") == "log":
        return [lo * (hi / lo) ** (i / bins) for i in range(bins + 1)]
    return edges_of(axis)


def scale_of(axis):
    return "log" if axis.get("spacing") == "log" else "linear"


def draw_map(run, grid, fate, axes):
    """The logarithm of the density, which often differs by orders of magnitude. Empty cells are white."""
    first, second = grid["axes"]
    mean, n = density(grid["fates"][fate]), second["bins"]
    rows = [[v if v > 0 else math.nan for v in mean[i * n:(i + 1) * n]] for i in range(first["bins"])]
    cells = axes.pcolormesh(edges_of_axis(second), edges_of_axis(first), rows, norm="log", shading="flat")
    axes.figure.colorbar(cells, label=density_label(grid))
    axes.set(xlabel=label_of(second), ylabel=label_of(first), xscale=scale_of(second), yscale=scale_of(first),
             title="%s: %s, %s" % (run["name"], grid["name"], fate))


def save_grid(run, out, grid):
    """Draws a grid, or says why not. deposit(r,z) makes NAME_deposit_r_z, and (r,z) makes NAME_grid_r_z."""
    picture = "%s_%s" % (run["name"], (grid["name"] if grid["name"][0] != "(" else "grid" + grid["name"])
                         .replace("(", "_").replace(",", "_").replace(")", ""))
    rows = grid["fates"].values()
    if len(grid["axes"]) > 2 or any("counts" not in row for row in rows):
        print("plot_run.py: %s is not drawn: it has %s; NAME.tallies has its cells" % (
            grid["name"], "three axes" if len(grid["axes"]) > 2 else "more than 4096 cells"), file=sys.stderr)
    elif len(grid["axes"]) == 1:
        save(picture, out, draw_line, run, grid)
    else:
        for fate in rows_that_occur(grid):
            save("%s_%s" % (picture, fate), out, draw_map, run, grid, fate)


def save(name, out, draw, *data):
    figure, axes = plt.subplots(figsize=SIZE, constrained_layout=True)
    draw(*data, axes)
    for kind in ("svg", "png"):
        path = os.path.join(out, "%s.%s" % (name, kind))
        figure.savefig(path, dpi=120)
        print(path)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description="draws the tallies of a run as SVG and PNG")
    parser.add_argument("run", help="the folder of the run")
    parser.add_argument("--out", help="the folder of the pictures (default: the folder of the run)")
    options = parser.parse_args()
    try:
        with open(os.path.join(options.run, "run.json")) as f:
            run = json.load(f)
    except (OSError, ValueError) as e:
        sys.exit("plot_run.py: %s; %s is not the folder of a run; name the folder given to sluice run --out" % (e, options.run))
    out = options.out or options.run
    os.makedirs(out, exist_ok=True)
    save(run["name"] + "_fates", out, draw_fates, run)
    count = {}  # histograms of each column so far: a column may have several
    for histogram in run["tallies"].get("histograms", []):
        column = histogram["column"]
        count[column] = count.get(column, 0) + 1
        number = "_%d" % count[column] if count[column] > 1 else ""
        save("%s_%s%s" % (run["name"], column, number), out, draw_line, run, histogram)
        curve = alive(run, histogram) if column == "steps" else None
        if curve:
            save("%s_alive%s" % (run["name"], number), out, draw_alive, run, curve)
    for grid in run["tallies"].get("grids", []):
        save_grid(run, out, grid)


if __name__ == "__main__":
    main()
