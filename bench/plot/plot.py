#!/usr/bin/env python3
"""plot.py - draws figures from the CSV files of sluice-bench and stages.py.

    python3 bench/plot/plot.py --out FOLDER FILE.csv...

The columns of a file determine its kind. The script writes these figures into FOLDER, as SVG and as
PNG, if the files contain the data:
    scan-u32, compact-u32, ...   time by n, with the copy and CUB
    share-of-copy                speed of the fastest backends relative to a copy
    block-...                    time by block size, each with its best number of items
    survivors, bits, entropy     time by a property of the input
    stages-..., pipeline         time of a batch by stage
It also writes report.html, which contains all figures and the origin of the tables in one file.
Exit code 77: matplotlib is not installed.
"""
import argparse
import csv
import html
import io
import os
import re
import sys

try:
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("plot.py: matplotlib is not installed, so no figure is drawn; "
          "install python3-matplotlib", file=sys.stderr)
    sys.exit(77)

COLORS = {"copy": "#999999", "CUB": "#000000", "thrust": "#009e73", "shared": "#0072b2",
          "tiled": "#56b4e9", "work_efficient": "#e69f00", "naive": "#cc79a7"}
STAGE_COLORS = ["#0072b2", "#56b4e9", "#009e73", "#f0e442", "#e69f00", "#d55e00", "#cc79a7", "#999999",
                "#444444", "#bbbbbb"]
STAGES = ["generate", "advance", "mark", "compact", "sieve", "sort", "write", "compress", "assemble", "commit"]


class Table:
    """A CSV file: its comments, and its rows with numbers converted to float."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, newline="") as f:
            lines = f.read().splitlines()
        self.about = [line[2:] for line in lines if line.startswith("# ")]
        rows = csv.DictReader(line for line in lines if line and not line.startswith("#"))
        self.columns = rows.fieldnames or []
        self.rows = [{k: number(v) for k, v in row.items()} for row in rows]

    def device(self):
        for line in self.about:
            if line.startswith("device: "):
                return line[8:].split(",")[0]
        return ""


def number(text):
    """The text as a float if it is a number, None if it is empty."""
    if text is None or text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def is_aligned(row):
    """Do the arrays of this job begin at aligned addresses?"""
    return not row.get("items_off") and not row.get("items_off_second")


def usual(row):
    """Is this a row of the usual job: all bits, random keys, half survive, no columns, aligned?"""
    bits = 64 if row["type"] == "u64" else 32
    return (row.get("bits") in (None, bits) and row.get("entropy") in (None, 1) and
            row.get("survivors_percent") in (None, 50) and not row.get("columns") and is_aligned(row))


class Figures:
    """Writes figures and keeps their SVG text for the report."""

    def __init__(self, folder):
        self.folder = folder
        self.svg = []
        os.makedirs(folder, exist_ok=True)

    def save(self, figure, name, caption):
        matplotlib.rcParams["svg.hashsalt"] = name
        figure.tight_layout()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        figure.savefig(os.path.join(self.folder, name + ".png"), dpi=150)
        plt.close(figure)
        svg = re.sub(r"[ \t]+$", "", text.getvalue(), flags=re.M)
        with open(os.path.join(self.folder, name + ".svg"), "w") as f:
            f.write(svg)
        self.svg.append((name, caption, svg[svg.index("<svg"):]))


def axes(title, x, y, log_x=True, log_y=True):
    figure, ax = plt.subplots(figsize=(8, 4.4))
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if log_x:
        ax.set_xscale("log", base=2)
    if log_y:
        ax.set_yscale("log")
    ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    return figure, ax


def legend(ax, upwards=False):
    """upwards: the first entry at the bottom, as in stacked bars (matplotlib < 3.7 has no reverse=)."""
    handles, labels = ax.get_legend_handles_labels()
    step = -1 if upwards else 1
    ax.legend(handles[::step], labels[::step], frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def measured(row):
    """The time of a row; of the emulated device, which has no times, its memory accesses."""
    return row["ms_median"] if row["ms_median"] is not None else row.get("sectors")


def label_of(rows):
    timed = any(r["ms_median"] is not None for r in rows)
    return "milliseconds (median)" if timed else "sectors of 32 bytes per item"


def line(ax, name, points, color):
    """points: (x, row). The band shows the quartiles if the rows have them."""
    points = sorted(points, key=lambda p: p[0])
    x = [p[0] for p in points]
    style = {"copy": ":", "CUB": "--"}.get(name, "-")
    ax.plot(x, [measured(p[1]) for p in points], style, marker="o", markersize=3, color=color, label=name)
    if all(p[1].get("ms_lower_quartile") is not None for p in points):
        ax.fill_between(x, [p[1]["ms_lower_quartile"] for p in points],
                        [p[1]["ms_upper_quartile"] for p in points], color=color, alpha=0.2, linewidth=0)


def draw(figures, name, caption, title, x, lines, log_x=True, ticks=()):
    """A figure of times. lines: the points of each line by its name."""
    figure, ax = axes(title, x, label_of([row for points in lines.values() for _, row in points]), log_x)
    for k, (of, points) in enumerate(lines.items()):
        line(ax, of, points, COLORS.get(of, STAGE_COLORS[k]))
    if ticks:
        ax.set_xticks(ticks, [str(t) for t in ticks])
    legend(ax)
    figures.save(figure, name, caption)


def by_backend(rows, x):
    """The points of each backend, in the order of COLORS."""
    groups = {}
    for row in rows:
        groups.setdefault(row["backend"], []).append((row[x], row))
    return dict(sorted(groups.items(), key=lambda g: list(COLORS).index(g[0]) if g[0] in COLORS else 99))


def once(rows, key):
    """The last row for each key: a later file replaces rows of an earlier one."""
    return list({key(row): row for row in rows}.values())


def draw_sizes(cells, device, figures):
    """Time by n, a figure for each primitive and type."""
    cells = once([r for r in cells if usual(r) and not r["tuned"]], lambda r: (r["primitive"], r["backend"],
                                                                              r["type"], r["n"]))
    copies = [(r["n"], r) for r in cells if r["primitive"] == "copy"]
    for primitive in ("scan", "compact", "sort", "sort-keys"):
        for kind in ("u32", "u64"):
            rows = [r for r in cells if r["primitive"] == primitive and r["type"] == kind]
            if len({r["n"] for r in rows}) < 2:
                continue
            sizes = {r["n"] for r in rows}
            copy = [p for p in copies if p[0] in sizes and measured(p[1]) is not None]
            draw(figures, f"{primitive}-{kind}", f"{primitive}, {kind}: time by n; the copy moves n words of 4 bytes",
                 f"{primitive}, {kind}, {device}", "n", {**by_backend(rows, "n"), "copy": copy})
    draw_shares(cells, device, figures)


def draw_shares(cells, device, figures):
    figure, ax = axes(f"speed relative to a copy, {device}", "n", "%", log_y=False)
    for primitive, style in (("scan", "o-"), ("compact", "s-"), ("sort", "^-")):
        for backend in ("shared", "CUB"):
            rows = sorted((r for r in cells if r["primitive"] == primitive and r["backend"] == backend and
                           r["type"] == "u32" and r.get("share_of_copy") is not None), key=lambda r: r["n"])
            ax.plot([r["n"] for r in rows], [100 * r["share_of_copy"] for r in rows],
                    style if backend == "shared" else style.replace("-", "--"), markersize=4,
                    color={"scan": "#0072b2", "compact": "#d55e00", "sort": "#009e73"}[primitive],
                    alpha=1 if backend == "shared" else 0.5, label=f"{primitive}, {backend}")
    if any(len(drawn.get_xdata()) > 1 for drawn in ax.get_lines()):
        legend(ax)
        ax.set_ylim(bottom=0)
        figures.save(figure, "share-of-copy", "least bytes that any algorithm must move, divided by the time, "
                      "relative to the speed of a copy")
    plt.close(figure)


def draw_blocks(cells, device, figures):
    """Time by block size; each with its best number of items per thread."""
    tuned = [r for r in cells if r["tuned"] and r.get("block") is not None and not r.get("columns")]
    for primitive, kind, n in sorted({(r["primitive"], r["type"], r["n"]) for r in tuned}):
        rows = [r for r in tuned if (r["primitive"], r["type"], r["n"]) == (primitive, kind, n)]
        best = once(sorted(rows[::-1], key=measured, reverse=True), lambda r: (r["backend"], r["block"]))
        ticks = sorted({int(r["block"]) for r in rows if int(r["block"]) & (int(r["block"]) - 1) == 0})
        draw(figures, f"block-{primitive}-{kind}", f"{primitive}: time by threads per block, each with its best number "
             "of items per thread", f"{primitive}, {kind}, n={n:.0f}, {device}", "threads per block",
             by_backend(best, "block"), ticks=ticks)


def draw_inputs(cells, device, figures):
    """Time by one property of the input, at the size with the most values of it."""
    for column, primitive, label in (("survivors_percent", "compact", "survivors, %"), ("bits", "sort", "bits"),
                                     ("entropy", "sort", "entropy per bit")):
        rows = [r for r in cells if r["primitive"] == primitive and r["type"] == "u32" and not r["tuned"] and
                is_aligned(r) and not r.get("columns") and r.get(column) is not None and
                (column == "bits" or primitive == "compact" or r["bits"] == 32) and
                (column == "entropy" or primitive == "compact" or r["entropy"] == 1)]
        values = {}
        for r in rows:
            values.setdefault(r["n"], set()).add(r[column])
        n = max(values, key=lambda k: len(values[k]), default=None)
        if n is None or len(values[n]) < 3:
            continue
        rows = once([r for r in rows if r["n"] == n], lambda r: (r["backend"], r[column]))
        draw(figures, column.split("_")[0], f"{primitive} of {n:.0f} items: time by {label}",
             f"{primitive}, n={n:.0f}, {device}", label, by_backend(rows, column), log_x=False)


def bars(title, y, names, parts, figures, name, caption):
    """Stacked bars: parts[stage] is a list with a height for each of names."""
    figure, ax = plt.subplots(figsize=(max(5, 1.2 * len(names) + 2.5), 4.8))
    bottom = [0.0] * len(names)
    for k, stage in enumerate(s for s in STAGES + sorted(set(parts) - set(STAGES)) if s in parts):
        ax.bar(names, parts[stage], bottom=bottom, width=0.65, label=stage,
               color=STAGE_COLORS[k % len(STAGE_COLORS)])
        bottom = [b + h for b, h in zip(bottom, parts[stage])]
    ax.set_title(title)
    ax.set_ylabel(y)
    ax.grid(True, axis="y", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    legend(ax, upwards=True)
    figures.save(figure, name, caption)


def draw_pipeline(table, figures):
    """For each size the modes side by side; and the time of the whole batch by n."""
    rows = [r for r in table.rows if r["way"] != "copy"]
    sizes = sorted({r["n"] for r in rows})
    for n in sizes:
        here = [r for r in rows if r["n"] == n and (r["step"] != "all" or r["ms_median"] is None)]
        ways = list(dict.fromkeys(r["way"] for r in here))
        parts = {s: [sum(measured(r) for r in here if r["way"] == w and r["step"] == s) for w in ways]
                 for s in {r["step"] for r in here}}
        bars(f"{n:.0f} particles, {table.device()}", label_of(here), ways, parts, figures, f"pipeline-{n:.0f}",
             f"stages of a batch of {n:.0f} particles, in each mode")
    if len(sizes) > 1:
        lines = {way: [(r["n"], r) for r in rows if r["way"] == way and r["step"] == "all"]
                 for way in dict.fromkeys(r["way"] for r in rows)}
        draw(figures, "pipeline", "a batch from particles to sorted columns, first launch to last kernel",
             f"particles to sorted columns, {table.device()}", "particles", lines)


def draw_stages(table, figures):
    """stages.py: a bar for each configuration, on one core."""
    start = "ns a particle, "
    rows = [r for r in table.rows if str(r["quantity"]).startswith(start)]
    names = list(dict.fromkeys(r["config"] for r in rows))
    if not names:
        return
    parts = {s: [sum(r["median"] for r in rows if r["config"] == c and r["quantity"] == start + s) for c in names]
             for s in {r["quantity"][len(start):] for r in rows}}
    short = os.path.splitext(table.name)[0]
    bars(short, "ns per particle and core", names, parts, figures, f"stages-{short}",
         f"{short}: one core, {rows[0]['processor']}")


def mark_tuned(rows):
    """Marks rows of jobs that a backend ran with several tunings; elsewhere it used its default."""
    job = lambda r: tuple(r.get(k) for k in ("primitive", "backend", "type", "n", "bits", "entropy",
                                             "survivors_percent", "columns", "column_bytes", "items_off",
                                             "items_off_second"))
    blocks = {}
    for r in rows:
        blocks.setdefault(job(r), set()).add((r.get("block"), r.get("items"), r.get("padding")))
    for r in rows:
        r["tuned"] = len(blocks[job(r)]) > 1


def write_report(tables, figures):
    parts = ["<!doctype html><html lang='en'><meta charset='utf-8'><title>sluice-bench</title><style>"
             "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
             "svg{width:100%;height:auto}pre{background:#f4f4f4;padding:.7em;overflow-x:auto;font-size:12px}"
             "figure{margin:2em 0}figcaption{color:#555}</style><h1>sluice-bench</h1>"]
    for name, caption, svg in figures.svg:
        parts.append(f"<figure id='{html.escape(name)}'>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>")
    parts.append("<h2>Origin of the tables</h2>")
    for table in tables:
        parts.append(f"<h3>{html.escape(table.name)}: {len(table.rows)} rows</h3>"
                     f"<pre>{html.escape(chr(10).join(table.about))}</pre>")
    with open(os.path.join(figures.folder, "report.html"), "w") as f:
        f.write("\n".join(parts) + "\n")


def main():
    arguments = argparse.ArgumentParser(description="Draws figures from the CSV files of sluice-bench.")
    arguments.add_argument("--out", required=True, help="folder for the figures")
    arguments.add_argument("files", nargs="+", help="CSV files of sluice-bench or stages.py")
    a = arguments.parse_args()
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 10, "axes.spines.top": False,
                                "axes.spines.right": False})
    tables = [Table(path) for path in a.files]
    figures = Figures(a.out)
    cells, device = [], ""
    for table in tables:
        if {"primitive", "backend", "ms_median"} <= set(table.columns):
            mark_tuned(table.rows)
            cells += table.rows
            device = table.device()
        elif {"way", "step"} <= set(table.columns):
            draw_pipeline(table, figures)
        elif {"config", "quantity"} <= set(table.columns):
            draw_stages(table, figures)
        elif table.rows:
            sys.exit(f"plot.py: {table.name} has unknown columns ({', '.join(table.columns)}); give CSV files of "
                     "sluice-bench or stages.py")
    if cells:
        draw_sizes(cells, device, figures)
        draw_blocks(cells, device, figures)
        draw_inputs(cells, device, figures)
    write_report(tables, figures)
    print(f"{len(figures.svg)} figures and report.html in {a.out}")


main()
