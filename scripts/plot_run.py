#!/usr/bin/env python3
"""plot_run.py - draws the tallies of a run as SVG and PNG.

    python3 scripts/plot_run.py RUN_DIR [--out DIR] [--slice AXIS:INDEX]... [--linear] [--volume FILE]

Draws the fates; each histogram, with one line per fate and with error bars; from a histogram of steps the fraction of
particles that are alive after k steps; and each grid or score of one axis as a line, of two axes as a map for each fate, all
per volume of the cells. Grids and scores of three or four axes, such as [fluence_track, voxel], are drawn as maps of slices:
by default the middle one across each of the first three axes, else those of --slice. Of the model voxels, the same slices
of the volume are drawn, and the outlines of its labels over those of the tallies.

Numbers come from run.json, whatever the format of the output files; rows of more than 4096 cells are read from NAME.tallies,
which needs h5py, and labels from the file of the volume. The names of the pictures begin with the name of the run. They are
written to DIR (default: RUN_DIR), and their names are printed. Exit code: 0, or 1 with a message.
"""
import argparse
import gzip
import json
import math
import os
import re
import sys

try:
    import matplotlib
    import numpy
except ImportError as e:
    sys.exit("plot_run.py: %s (needed to draw); install it for this Python: pip install matplotlib, or python3-matplotlib of Debian" % e)

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection

try:
    import h5py
except ImportError:
    h5py = None

SIZE = (6.4, 4.2)


def fates_that_occur(fates):
    """The fates that at least one particle, or some weight, has."""
    return {name: f for name, f in fates.items() if f["count"] > 0 or f["weight_fraction"] > 0}


def draw_fates(run, axes):
    fates = fates_that_occur(run["tallies"]["fates"])
    shares = [f["weight_fraction"] for f in fates.values()]
    errors = [f["standard_error"] for f in fates.values()]
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


def draw_map(run, grid, fate, fixed, options, axes):
    """
    The logarithm of the density, which often differs by orders of magnitude. Empty cells are white. fixed has the number of
    the cell on each axis that is fixed; of the others, the first two are drawn, and the mean is taken over the rest.
    """
    columns = [a["column"] for a in grid["axes"]]
    free = [k for k, column in enumerate(columns) if column not in fixed]
    mean = cells_of(run, grid, fate, options.run)[tuple(fixed.get(column, slice(None)) for column in columns)]
    for k in reversed(free[2:]):
        mean = numpy.average(mean, free.index(k), numpy.diff(edges_of_axis(grid["axes"][k])))
    first, second = (grid["axes"][k] for k in (free[:2] if fixed else free[1::-1]))
    empty = not (mean > 0).any()
    mean = mean if empty else numpy.where(mean > 0, mean, math.nan)
    cells = axes.pcolormesh(edges_of_axis(first), edges_of_axis(second), mean.T if fixed else mean,
                            norm="linear" if options.linear or empty else "log", shading="flat")
    axes.figure.colorbar(cells, label=density_label(grid))
    axes.set(xlabel=label_of(first), ylabel=label_of(second), xscale=scale_of(first), yscale=scale_of(second),
             title="%s: %s, %s%s" % (run["name"], grid["name"], fate, "".join(", %s:%d" % item for item in fixed.items())))
    if not fixed:
        return
    show_depth(first, second, axes)
    if options.labels is not None and options.labels.shape == tuple(a["bins"] for a in grid["axes"][:3]):
        draw_outlines(slice_of_labels(options, fixed), edges_of_axis(first), edges_of_axis(second), axes)


def show_depth(first, second, axes):
    """z increases downwards, as the depth in tissue, and lengths have one scale."""
    if first["unit"] == second["unit"]:
        axes.set_aspect("equal")
    if second["column"] == "z":
        axes.invert_yaxis()


def cells_of(run, grid, fate, folder):
    """The density in the cells of a row, an array or a data set of the file of tallies."""
    if "counts" in grid["fates"][fate]:
        return numpy.array(grid["fates"][fate]["density"], "f8").reshape([a["bins"] for a in grid["axes"]])
    return h5py.File(os.path.join(folder, run["name"] + ".tallies"), "r")[grid["name"]][fate]["density"]


def slices_of(options, axes):
    """Of the options --slice, those of these axes, as a dict from columns to cells; without them, the middle across each."""
    bins = {a["column"]: a["bins"] for a in axes}
    found = []
    for text in options.slice or list(bins)[:3]:
        fixed = dict(re.findall(r"(\w+)(?::(\d+))?(?:,|$)", text))
        if not set(fixed) <= set(bins) or len(bins) - len(fixed) < 2:
            continue
        found.append({column: int(index or bins[column] // 2) for column, index in fixed.items()})
        for column, index in found[-1].items():
            if index >= bins[column]:
                sys.exit("plot_run.py: --slice %s: the axis %s has the cells 0 to %d; choose one of them" % (
                    text, column, bins[column] - 1))
    options.used |= bool(found)
    return found


def save_grid(run, out, grid, options):
    """Draws a grid, or says why not. deposit(r,z) makes NAME_deposit_r_z, and (r,z) makes NAME_grid_r_z."""
    picture = "%s_%s" % (run["name"], (grid["name"] if grid["name"][0] != "(" else "grid" + grid["name"])
                         .replace("(", "_").replace(",", "_").replace(")", ""))
    large = any("counts" not in row for row in grid["fates"].values())
    if large and (h5py is None or len(grid["axes"]) == 1):
        print("plot_run.py: %s is not drawn: it has more than 4096 cells, which are in %s.tallies; %s" % (
            grid["name"], run["name"], "read them in Python with sluice.open()" if h5py else "install h5py"), file=sys.stderr)
    elif len(grid["axes"]) == 1:
        save(picture, out, draw_line, run, grid)
    else:
        occur = [*fates_that_occur(run["tallies"]["fates"]), "all"] if large else rows_that_occur(grid)
        for fate in [f for f in grid["fates"] if f in occur]:
            for fixed in slices_of(options, grid["axes"]) if len(grid["axes"]) > 2 else [{}]:
                save("_".join([picture, fate, *map("%s%d".__mod__, fixed.items())]), out, draw_map, run, grid, fate, fixed, options)


# --- volumes --------------------------------------------------------------------------------------

def labels_of(path, size, kind):
    """The labels of a volume, by x, y and z; size and kind are those that the configuration states."""
    if path.endswith((".npy", ".npz")):
        found = numpy.load(path, allow_pickle=False)
        return found if path.endswith("npy") else found[next((n for n in ("labels", "vol") if n in found), found.files[0])]
    if path.endswith((".bin", ".raw", ".vol")):
        return numpy.fromfile(path, kind).reshape(size, order="F")
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] == b"\x5c\x01\0\0" else ">"  # NIfTI-1: the size of the header, dim, datatype and vox_offset
    (code,), (at,) = numpy.frombuffer(data, order + "i2", 1, 70), numpy.frombuffer(data, order + "f4", 1, 108)
    shape = numpy.frombuffer(data, order + "i2", 3, 42)
    types = {2: "u1", 4: "i2", 8: "i4", 16: "f4", 64: "f8", 256: "i1", 512: "u2", 768: "u4", 1024: "i8", 1280: "u8"}
    return numpy.frombuffer(data, order + types[code], numpy.prod(shape, dtype=int), int(at)).reshape(shape, order="F")


def find_labels(run, path):
    """The labels of the run, None if it has no volume; and the axes of the volume."""
    keys = dict(re.findall(r"^    (file|size|type|voxel): (.+)$", run["config"], re.M))
    path = path or keys.get("file", "").strip('"')
    if not path or not re.search(r"^  voxels\w*:$", run["config"], re.M):
        return None, []
    try:
        labels = labels_of(path, json.loads(keys.get("size", "[0]")), keys.get("type", "u1").strip('"'))
    except (OSError, ValueError, KeyError) as e:
        print("plot_run.py: the volume is not drawn: %s; name its file with --volume" % e, file=sys.stderr)
        return None, []
    edges = [float(v) for v in re.findall(r"([0-9.e+-]+) cm", keys["voxel"])] * 3
    return labels, [{"column": column, "unit": "cm", "from": 0, "to": n * edge, "bins": n}
                    for column, n, edge in zip("xyz", labels.shape, edges)]


def slice_of_labels(options, fixed):
    return options.labels[tuple(fixed.get(column, slice(None)) for column in "xyz")]


def draw_outlines(labels, first, second, axes):
    """A line between cells of different labels."""
    if labels.ndim != 2:  # the map is a mean over slices
        return
    lines = [[(first[i + 1], second[j]), (first[i + 1], second[j + 1])] for i, j in zip(*numpy.nonzero(labels[1:] != labels[:-1]))]
    lines += [[(first[i], second[j + 1]), (first[i + 1], second[j + 1])]
              for i, j in zip(*numpy.nonzero(labels[:, 1:] != labels[:, :-1]))]
    axes.add_collection(LineCollection(lines, colors="tab:red", linewidths=0.8))


def draw_volume(run, sides, fixed, options, axes):
    """The labels of a slice."""
    first, second = (a for a in sides if a["column"] not in fixed)
    last = int(options.labels.max())
    cells = axes.pcolormesh(edges_of(first), edges_of(second), slice_of_labels(options, fixed).T, shading="flat",
                            cmap=matplotlib.colormaps["viridis"].resampled(last + 1), vmin=-0.5, vmax=last + 0.5)
    axes.figure.colorbar(cells, label="label", ticks=range(last + 1) if last < 20 else None)
    axes.set(xlabel=label_of(first), ylabel=label_of(second),
             title="%s: volume%s" % (run["name"], "".join(", %s:%d" % item for item in fixed.items())))
    show_depth(first, second, axes)


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
    parser.add_argument("--slice", action="append", metavar="AXIS[:INDEX][,AXIS[:INDEX]]",
                        help="of tallies of three or four axes, the slice with this number on the axis, from 0 on: z:30, or z for "
                             "the middle one, or z:30,time:2; without it, the mean over times is drawn. May be repeated")
    parser.add_argument("--linear", action="store_true", help="linear colours; the default is logarithmic")
    parser.add_argument("--volume", metavar="FILE", help="the labels of model voxels (default: the file of the configuration)")
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
    options.labels, sides = find_labels(run, options.volume)
    options.used = False
    for fixed in slices_of(options, sides) if sides else []:
        save("_".join([run["name"], "volume", *map("%s%d".__mod__, fixed.items())]), out, draw_volume, run, sides, fixed, options)
    for grid in run["tallies"].get("grids", []):
        save_grid(run, out, grid, options)
    if options.slice and not options.used:
        sys.exit("plot_run.py: --slice %s: no tally of three or four axes and no volume has these axes; the names are in run.json" %
                 " ".join(options.slice))


if __name__ == "__main__":
    main()
