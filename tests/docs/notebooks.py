#!/usr/bin/env python3
"""notebooks.py - runs the notebooks of docs/notebooks and looks at their figures.

    notebooks.py SOURCE [FILE.ipynb...]

The code cells of a notebook run in order in one process, in a temporary folder, as in Jupyter but without
it: sluice, numpy and matplotlib are enough. Each notebook must draw figures that are not empty, show the
results that end its cells, and contain no stored outputs. With SLUICE_ONE_IN=N, one in N of them runs,
which SLUICE_SHARE selects. Exit code: 0 if all run, 77 if a module is not installed.
"""
import ast
import glob
import importlib.util
import io
import json
import os
import sys
import tempfile
import time

MODULES = ("sluice", "numpy", "matplotlib")
CELLS, BYTES = 5, 64 << 10  # at least and at most, of a notebook


def cells_of(path):
    """The code cells of a notebook, which must be as this folder should have it."""
    with open(path, encoding="utf-8") as f:
        notebook = json.load(f)
    assert os.path.getsize(path) <= BYTES, f"has more than {BYTES} bytes"
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5), "is not in version 4.5 of the format"
    cells = notebook["cells"]
    assert len(cells) >= CELLS and cells[0]["cell_type"] == "markdown", f"has fewer than {CELLS} cells, or no introduction"
    for cell in cells:
        assert cell["cell_type"] in ("code", "markdown") and cell["id"], "has a cell of another type, or without an id"
        assert not cell.get("outputs") and cell.get("execution_count") is None, \
            "stores outputs: clear them before the commit (jupyter nbconvert --clear-output)"
    return ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]


def run_cell(source, name, names):
    """Runs a cell. An expression at its end is shown as HTML or text, as Jupyter does."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    value = last and eval(compile(ast.Expression(last.value), name, "eval"), names)
    html = getattr(value, "_repr_html_", lambda: "<table>")()
    assert "<table>" in html and repr(value), "the HTML of the result has no table"


def run(path):
    from matplotlib import pyplot
    pyplot.close("all")
    pyplot.show = lambda *a, **k: None  # figures stay open until they are checked
    start, name, names = time.monotonic(), os.path.basename(path), {"__name__": "__main__"}
    for i, source in enumerate(cells_of(path)):
        run_cell(source, f"{name}, code cell {i + 1}", names)
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures, "draws no figure"
    for figure in figures:
        assert figure.axes and all(axes.has_data() for axes in figure.axes), f"figure {figure.number} is empty"
        figure.savefig(io.BytesIO(), dpi=80)
    print(f"{name}: {i + 1} code cells, {len(figures)} figures, {time.monotonic() - start:.1f} s")


def main():
    missing = [m for m in MODULES if importlib.util.find_spec(m) is None]
    if missing:
        print(f"SKIP: the notebooks need the modules {', '.join(missing)}")
        sys.exit(77)
    import matplotlib
    matplotlib.use("Agg")
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "docs", "notebooks", "*.ipynb")))
    one_in = min(int(os.environ.get("SLUICE_ONE_IN", 1)), len(paths))
    paths = sys.argv[2:] or paths[int(os.environ.get("SLUICE_SHARE", 0)) % one_in::one_in]
    for path in map(os.path.abspath, paths):
        with tempfile.TemporaryDirectory(prefix="sluice-notebook-") as folder:
            os.chdir(folder)
            run(path)
            os.chdir("/")


main()
