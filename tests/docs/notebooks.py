#!/usr/bin/env python3
"""notebooks.py - runs the notebooks of docs/notebooks and looks at their figures.

    notebooks.py SOURCE [--figures FOLDER] [FILE.ipynb...]

The code cells of a notebook run in order in one process, in a temporary folder, as in Jupyter but without
it: sluice, numpy and matplotlib are enough. Each notebook must draw figures that are not empty, show the
results that end its cells, and contain no stored outputs. --figures writes the figures to FOLDER/NAME-N.png.
Exit code: 0 if all run, 77 if a module is not installed.
"""
import ast
import contextlib
import importlib.util
import io
import json
import os
import sys
import tempfile
import time
import traceback

MODULES = ("sluice", "numpy", "matplotlib")
CELLS, BYTES = 5, 64 << 10  # at least and at most, of a notebook


def read(path):
    """The cells of a notebook. Raises ValueError if it is no notebook as this folder should have it."""
    with open(path, encoding="utf-8") as f:
        notebook = json.load(f)
    if os.path.getsize(path) > BYTES:
        raise ValueError(f"has more than {BYTES} bytes")
    if (notebook["nbformat"], notebook["nbformat_minor"]) != (4, 5):
        raise ValueError("is not in version 4.5 of the format")
    for cell in notebook["cells"]:
        if cell["cell_type"] not in ("code", "markdown") or not cell["id"]:
            raise ValueError("has a cell of another type, or without an id")
        if cell["cell_type"] == "code" and (cell["outputs"] or cell["execution_count"] is not None):
            raise ValueError("stores outputs: clear them before the commit (jupyter nbconvert --clear-output)")
    if len(notebook["cells"]) < CELLS or notebook["cells"][0]["cell_type"] != "markdown":
        raise ValueError(f"has fewer than {CELLS} cells, or none that introduces it")
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def run_cell(source, name, names):
    """Runs a cell. An expression at its end is shown as HTML or text, as Jupyter does."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    html = getattr(value, "_repr_html_", None)
    if html is not None and "<table>" not in html():
        raise ValueError("the HTML of the result has no table")
    if value is not None:
        print(repr(value))


def check_figures(pyplot, name, folder):
    """Draws the open figures. Returns their number; raises ValueError for one in which nothing is drawn."""
    numbers = pyplot.get_fignums()
    for number in numbers:
        figure = pyplot.figure(number)
        if not all(axes.has_data() for axes in figure.axes) or not figure.axes:
            raise ValueError(f"figure {number} is empty")
        figure.savefig(os.path.join(folder, f"{name}-{number}.png") if folder else io.BytesIO(), dpi=80)
    return len(numbers)


def run(path, figures):
    """Runs a notebook. Returns the number of its cells and of its figures."""
    from matplotlib import pyplot
    pyplot.close("all")
    pyplot.show = lambda *a, **k: None  # figures stay open until they are checked
    name = os.path.basename(path)
    cells, names = read(path), {"__name__": "__main__"}
    for i, source in enumerate(cells):
        run_cell(source, f"{name}, code cell {i + 1}", names)
    drawn = check_figures(pyplot, name[:-len(".ipynb")], figures)
    if drawn == 0:
        raise ValueError("draws no figure")
    return len(cells), drawn


def run_in_folder(path, figures):
    """Runs a notebook in a temporary folder. Prints what it did, or what it printed and why it failed."""
    start, output = time.monotonic(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="sluice-notebook-") as folder:
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(output):
                cells, drawn = run(path, figures)
        except Exception:
            print(output.getvalue())
            print(f"{path}: {traceback.format_exc(limit=-2)}", file=sys.stderr)
            return False
        finally:
            os.chdir("/")
    print(f"{os.path.basename(path)}: {cells} code cells, {drawn} figures, {time.monotonic() - start:.1f} s")
    return True


def main():
    words = sys.argv[1:]
    figures = None
    if "--figures" in words:
        at = words.index("--figures")
        figures = os.path.abspath(words[at + 1])
        os.makedirs(figures, exist_ok=True)
        del words[at:at + 2]
    if not words:
        sys.exit(__doc__)
    missing = [m for m in MODULES if importlib.util.find_spec(m) is None]
    if missing:
        print(f"SKIP: the notebooks need the modules {', '.join(missing)}")
        sys.exit(77)
    import matplotlib
    matplotlib.use("Agg")
    folder = os.path.join(os.path.abspath(words[0]), "docs", "notebooks")
    paths = [os.path.abspath(w) for w in words[1:]] or [
        os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.endswith(".ipynb")]
    results = [run_in_folder(path, figures) for path in paths]
    print(f"{len(results)} notebooks, {results.count(False)} failed")
    sys.exit(0 if results and all(results) else 1)


if __name__ == "__main__":
    main()
