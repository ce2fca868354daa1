#!/usr/bin/env python3
"""load_run.py SLUICE SOURCE - tests scripts/load_run.py and the table of names in docs/output-formats.md.

A run in every format that the script reads must give the same arrays, with the names of sluice list; the table must have
each column with its unit and its openPMD name. Exit code: 0 if all is right, 77 (skipped) without numpy or h5py.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import h5py  # noqa: F401 (only whether it is there)
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e}; run apt-get install python3-h5py")
    sys.exit(77)

SLUICE, SOURCE = sys.argv[1:]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
import load_run

columns = json.loads(subprocess.run([SLUICE, "list", "--json"], check=True, capture_output=True).stdout)["columns"]


def test_names():
    renamed = {c["openpmd"]: c["name"] for c in columns if c["openpmd"] != c["name"]}
    assert load_run.OPENPMD == renamed, renamed


def test_table_in_docs():
    with open(os.path.join(SOURCE, "docs", "output-formats.md"), encoding="utf-8") as file:
        text = file.read()
    rows = [[re.findall("`([^`]+)`", cell) or [cell.strip()] for cell in line.strip("|").split("|")]
            for line in text.split("## Names of the columns")[1].split("\n\n")[2].splitlines()[2:]]
    found = [(name, row[1][0], name if row[2][0] == "the same" else row[2][k]) for row in rows
             for k, name in enumerate(row[0])]
    assert sorted(found) == sorted((c["name"], c["unit"], c["openpmd"]) for c in columns), found


def run(work, config, form, *words):
    out = os.path.join(work, f"{os.path.basename(config)}.{form}{len(words)}")
    subprocess.run([SLUICE, "run", os.path.join(SOURCE, "data", "configs", config), "--out", out, "--quiet", "--device", "cpu",
                    "--set", f"output.format={form}", "--set", "check={}", *words], check=True)
    return out


def test_formats(work, config, *words):
    folders = [run(work, config, form, "--set", "run.particles=2000", "--set", "run.batch=700", *words)
               for form in ("openpmd", "npz", "csv.gz", "csv")]
    first, *others = map(load_run.load, folders)
    assert len(first) > 8 and "w" in first and len(first["x"]) > 0
    for other in others:
        assert list(other) == list(first)
        assert all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(first.values(), other.values()))
    some = load_run.load(folders[0], ["w", "x"])
    assert list(some) == ["w", "x"] and np.array_equal(some["w"], first["w"])
    return folders[0]


def test_joined(work, config, *words):
    """The joined file of each format has the survivors of all batches, sorted over the run."""
    for form, suffix in (("openpmd", "h5"), ("npz", "npz"), ("csv.gz", "csv.gz"), ("csv", "csv")):
        folder = run(work, config, form, "--set", "run.particles=300000", "--set", "run.batch=40000", "--set",
                     "output.order=run", "--set", "output.columns=[id, x, y, energy, weight]", *words)
        batches, joined = load_run.load(folder), load_run.load(os.path.join(folder, f"demo.{suffix}"))
        order = np.lexsort((batches["id"], batches["y"]))
        assert len(order) > 100000 and set(joined) == set(batches)
        assert all(np.array_equal(joined[name], batches[name][order]) for name in batches)
        assert list(load_run.load(os.path.join(folder, f"demo.{suffix}"), ["y"])) == ["y"]
    refused("no column q; the columns are id, x, y, energy, weight", os.path.join(folder, "demo.csv"), "q")
    refused("run.json is not openPMD, npz or csv", os.path.join(folder, "run.json"))


def refused(text, *words):
    result = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "scripts", "load_run.py"), *words], capture_output=True,
                            text=True, check=False)
    assert result.returncode == 1 and text in result.stderr, (result.returncode, result.stderr)


with tempfile.TemporaryDirectory() as work:
    test_names()
    test_table_in_docs()
    folder = test_formats(work, "demo.yaml")
    test_formats(work, "vandehulst_implicit.yaml", "--set", "keep=reflected")
    test_joined(work, "demo.yaml", "--set", "key=[y:float]")
    refused("no column q; the columns are id, x, y, z", folder, "q")
    refused("has no manifest.jsonl", work)
    refused("sluice convert --to FILE.npz", run(work, "beer_lambert.yaml", "mcpl", "--set", "run.particles=100",
                                                "--set", "output.mcpl={energy: 2 eV}"))
    shown = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "scripts", "load_run.py"), folder, "energy"],
                           capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"energy +float32 +\d+  59\.5 \.\. 59\.5\n", shown), shown
print("scripts/load_run.py reads all formats")
