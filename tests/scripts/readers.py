#!/usr/bin/env python3
"""readers.py SLUICE SOURCE [DEVICE] - checks that other programs read the files of a run, and of sluice convert, correctly.

SLUICE is the program, SOURCE the root of the repository, DEVICE the device of the run (default: cpu). The run is written in every
format. Each of h5py, openpmd_validator, openpmd_viewer, vtk and mcpl (with mcpltool) that is installed for this Python reads it;
missing packages are printed. Exit code: 0 if all values are right, 77 (skipped) without numpy or without any of the packages.
To install all of them:

    python3 -m venv v && v/bin/pip install h5py openPMD-validator openPMD-viewer vtk mcpl
    v/bin/python tests/scripts/readers.py build/release/sluice .
"""
import csv
import glob
import gzip
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

PACKAGES = ("h5py", "openpmd_validator", "openpmd_viewer", "vtk", "mcpl")
FORMATS = {"openpmd": ".h5", "npz": ".npz", "csv.gz": ".csv.gz", "csv": ".csv", "mcpl": ".mcpl", "mcpl.gz": ".mcpl.gz"}
PATHS = {"id": "id", "x": "position/x", "y": "position/y", "z": "position/z", "u": "direction/x", "v": "direction/y",
         "w": "direction/z", "energy": "energy", "weight": "weighting", "time": "time", "pixel": "pixel", "fate": "fate"}
KINDS = {"id": "u8", "pixel": "u4", "fate": "u1"}
PARTICLES, BATCH = 20000, 7000
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"

if importlib.util.find_spec("numpy") is None or not any(map(importlib.util.find_spec, PACKAGES)):
    print("skipped: this Python has no numpy, or none of", *PACKAGES)
    sys.exit(77)

import numpy as np


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def csv_of(name):
    """The expected values: a text file, read by the csv module of Python."""
    with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="ascii", newline="") as f:
        names, *rows = csv.reader(f)
    kinds = {name: KINDS.get(name, "f4") for name in names}
    return {name: np.array([float(row[k]) if kinds[name] == "f4" else int(row[k]) for row in rows], kinds[name])
            for k, name in enumerate(names)}


def same(found, expected, what):
    assert set(found) == set(expected), (what, sorted(found))
    for name, values in expected.items():
        assert np.asarray(found[name], values.dtype).tobytes() == values.tobytes(), (what, name)


def near(found, expected, bits, what):
    """Equal to this number of bits, relative to the largest value: MCPL rounds."""
    assert found.shape == expected.shape and np.abs(found - expected).max() <= 2.0 ** -bits * np.abs(expected).max(), what


def check_numpy(name, expected):
    with np.load(name, allow_pickle=False) as f:
        same({key: f[key] for key in f.files if key != "about"}, expected, name)
        about = json.loads(f["about"].item())
    assert about["run"] == "demo" and about["units"]["energy"] == "keV", about


def check_h5py(name, expected):
    import h5py
    found = {}
    with h5py.File(name, "r") as f:
        iteration, = f["data"].values()
        species = iteration["particles/photons"]
        for key, path in PATHS.items():
            item = species[path]
            found[key] = item[:] if isinstance(item, h5py.Dataset) else np.repeat(item.attrs["value"], item.attrs["shape"][0])
    same(found, expected, name)


def check_openpmd_validator(name):
    output = run(sys.executable, "-m", "openpmd_validator.check_h5", "-i", name)
    assert "Result: 0 Errors" in output, output


def check_openpmd_viewer(folder, expecteds):
    from openpmd_viewer import OpenPMDTimeSeries
    series = OpenPMDTimeSeries(folder, check_all_files=True)
    assert list(series.iterations) == list(range(len(expecteds))) and series.avail_species == ["photons"]
    for number, expected in enumerate(expecteds):
        x, u, pixel = series.get_particle(["x", "direction/x", "pixel"], species="photons", iteration=number)
        assert np.allclose(x, expected["x"].astype("f8") * 0.01, rtol=1e-6) and np.array_equal(u, expected["u"])
        assert np.array_equal(pixel, expected["pixel"])


def check_vtk(name, expecteds):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
    from vtkmodules.vtkIOXdmf2 import vtkXdmfReader
    reader = vtkXdmfReader()
    reader.SetFileName(name)
    reader.UpdateInformation()
    times = reader.GetExecutive().GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
    assert list(times) == list(range(len(expecteds))), times
    for time, expected in zip(times, expecteds):
        reader.UpdateTimeStep(time)
        grid = reader.GetOutputDataObject(0)
        points = vtk_to_numpy(grid.GetPoints().GetData())
        assert np.array_equal(points, np.stack([expected[axis] for axis in "xyz"], 1))
        for column in ("energy", "pixel", "u"):
            assert np.array_equal(vtk_to_numpy(grid.GetPointData().GetArray(column)), expected[column]), column


def check_mcpl(name, expected, generated):
    import mcpl
    f = mcpl.MCPLFile(name, blocklength=PARTICLES)
    p = f.read_block()
    assert f.nparticles == len(expected["x"]) and f.stat_sum == {"sluice_generated": generated}, f.stat_sum
    for axis in "xyz":
        assert np.array_equal(getattr(p, axis).astype("f4"), expected[axis]), (name, axis)
    for axis, column in (("ux", "u"), ("uy", "v"), ("uz", "w")):
        near(getattr(p, axis), expected[column].astype("f8"), 18, (name, axis))
    near(p.ekin * 1e3, expected["energy"].astype("f8"), 22, name)
    near(p.time * 1e6, expected["time"].astype("f8"), 22, name)
    assert np.array_equal(p.userflags, expected["pixel"]) and np.all(p.pdgcode == 22)
    assert np.array_equal(np.broadcast_to(p.weight, expected["weight"].shape), expected["weight"])


def check_mcpltool(tool, work):
    """mcpltool --merge writes the bytes of sluice convert and of output.joined; sluice reads what mcpltool --extract writes."""
    merged = os.path.join(work, "merged.mcpl")
    run(tool, "--merge", merged, *sorted(glob.glob(os.path.join(work, "mcpl", "demo_*.mcpl"))))
    with open(merged, "rb") as a, open(os.path.join(work, "all_mcpl.mcpl"), "rb") as b, \
            open(os.path.join(work, "mcpl", "demo.mcpl"), "rb") as c:
        merged = a.read()
        assert merged == b.read() and merged == c.read()
    extracted = os.path.join(work, "extracted.mcpl")
    run(tool, "--extract", "-l100", os.path.join(work, "all_mcpl.mcpl"), extracted)
    extracted += ".gz"  # mcpltool appends the suffix
    run(sys.argv[1], "info", extracted)
    run(sys.argv[1], "convert", extracted, "--to", os.path.join(work, "extracted.npz"))
    with np.load(os.path.join(work, "extracted.npz")) as f:
        assert len(f["x"]) == 100


def check_filtered(sluice, source, work, tool):
    """Filters MCPL files: the sums of weights, the comments, blobs and stat:sum must match the reference implementation."""
    import mcpl
    lists = [os.path.join(source, "tests/stages/formats/mcpl/reference", name) for name in
             ("ref_statsum.mcpl.gz", "reffile_2.mcpl", "ref_statsum.mcpl.gz", "reffile_6.mcpl")]
    for n, inputs in enumerate((lists[::2], lists)):
        out, config = os.path.join(work, f"filtered{n}"), os.path.join(work, f"filtered{n}.json")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"run": {"name": "t", "device": DEVICE, "batch": 60}, "model": {"list": {"files": inputs}},
                       "keep": "weight > 2", "output": {"format": "mcpl", "joined": True}}, f)
        run(sluice, "run", config, "--quiet", "--out", out)
        files = [mcpl.MCPLFile(name, blocklength=PARTICLES) for name in inputs]
        joined = mcpl.MCPLFile(os.path.join(out, "t.mcpl"))
        blocks = [f.read_block() for f in files]
        weights = np.concatenate([np.broadcast_to(b.weight, len(b)).astype("f4").astype("f8") for b in blocks])
        with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
            tallies = json.load(f)["tallies"]
        assert abs(tallies["weight"] - weights.sum()) < 1e-12 * abs(weights).sum()
        assert abs(tallies["survivors_weight"] - weights[weights > 2].sum()) < 1e-12 * abs(weights).sum()
        assert joined.nparticles == (weights > 2).sum() == tallies["survivors"]
        for key in {key for f in files for key in f.stat_sum}:
            values = [f.stat_sum.get(key) for f in files]
            assert joined.stat_sum[key] == (None if None in values else sum(values)), (key, joined.stat_sum)
        for f in files:
            assert {c for c in f.comments if not c.startswith("stat:sum:")} <= set(joined.comments)
            assert f.blobs.items() <= joined.blobs.items()
        if os.path.exists(tool):
            merged = os.path.join(work, f"merged{n}.mcpl")
            run(tool, "--merge", merged, *sorted(glob.glob(os.path.join(out, "t_*.mcpl"))))
            assert mcpl.MCPLFile(merged).nparticles == joined.nparticles
            near(np.array([x or -1 for x in mcpl.MCPLFile(merged).stat_sum.values()]),
                 np.array([x or -1 for x in joined.stat_sum.values()]), 40, "sums of batches")


def records_of(name):
    """The records of a file as bytes, and its header without the records."""
    import mcpl
    with (gzip.open if name.endswith(".gz") else open)(name, "rb") as f:
        content = f.read()
    n, size = mcpl.MCPLFile(name).nparticles, int.from_bytes(content[40:44], "little")
    return content[len(content) - n * size:]


def check_extracted(sluice, source, work, tool):
    """A run that filters copies the records that mcpltool --extract copies."""
    for name, code in (("example.mcpl", 2112), ("miscphys.mcpl.gz", 22), ("reffile_2.mcpl", 2112)):
        list_name = os.path.join(source, "tests/stages/formats/mcpl/reference", name)
        out, config = os.path.join(work, "kept_" + name), os.path.join(work, "kept.json")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"run": {"name": "t", "device": DEVICE, "batch": 100}, "model": {"list": {"files": [list_name]}},
                       "keep": f"pdg == {code}", "output": {"format": "mcpl.gz", "joined": True}}, f)
        run(sluice, "run", config, "--quiet", "--out", out)
        extracted = os.path.join(work, "extracted_" + name.split(".", maxsplit=1)[0] + ".mcpl")
        run(tool, "--extract", f"-p{code}", list_name, extracted)
        kept = records_of(os.path.join(out, "t.mcpl.gz"))
        assert kept and kept == records_of(extracted + ".gz"), name


def check_merged(sluice, source, work):
    """Two runs with different seeds, merged: the sums of their counts, in npz, HDF5 and MCPL."""
    config = os.path.join(source, "data", "configs", "demo.yaml")
    for seed in ("1", "2"):
        run(sluice, "run", config, "--device", DEVICE, "--quiet", "--out", os.path.join(work, "seed" + seed), "--set",
            f"run.particles={PARTICLES}", "--set", f"run.seed={seed}", "--set", "output.columns=[]")
    for suffix in (".npz", ".h5", ".mcpl"):
        run(sluice, "convert", os.path.join(work, "seed1"), os.path.join(work, "seed2"), "--to", os.path.join(work, "seeds" + suffix))
    with np.load(os.path.join(work, "seeds.npz")) as f:
        about, ids = json.loads(f["about"].item()), f["id"]
    assert [r["seed"] for r in about["merged"]["runs"]] == [1, 2] and about["generated"] == 2 * PARTICLES
    assert len(np.unique(ids)) == len(ids) == about["merged"]["fates"]["hit"] == about["merged"]["survivors"]
    if importlib.util.find_spec("h5py"):
        import h5py
        with h5py.File(os.path.join(work, "seeds.h5"), "r") as f:
            assert json.loads(f["sluiceMerged"][()]) == about["merged"] and f.attrs["sluiceGenerated"] == 2 * PARTICLES
    if importlib.util.find_spec("mcpl"):
        import mcpl
        f = mcpl.MCPLFile(os.path.join(work, "seeds.mcpl"))
        assert f.nparticles == len(ids) and f.stat_sum == {"sluice_generated": 2 * PARTICLES}
        text, = [c for c in f.comments if c.startswith("Survivors of merged runs ")]
        assert json.loads(text[len("Survivors of merged runs "):]) == about["merged"]


def main(sluice, source, work):
    config = os.path.join(source, "data", "configs", "demo.yaml")
    for name in FORMATS:
        mcpl = name.startswith("mcpl")
        run(sluice, "run", config, "--device", DEVICE, "--quiet", "--out", os.path.join(work, name), "--set",
            f"run.particles={PARTICLES}", "--set", f"run.batch={BATCH}", "--set", f"output.format={name}", "--set",
            "output.columns=[]", "--set", f"output.joined={'true' if mcpl else 'false'}")
    for name in FORMATS:
        for suffix in FORMATS.values():
            run(sluice, "convert", os.path.join(work, name), "--to", os.path.join(work, f"all_{name}{suffix}"))
    batches = [csv_of(name) for name in sorted(glob.glob(os.path.join(work, "csv.gz", "demo_*.csv.gz")))]
    everything = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    has = {name: importlib.util.find_spec(name) is not None for name in PACKAGES}
    tables = [name for name in FORMATS if not name.startswith("mcpl")]
    generated = [min(BATCH, PARTICLES - k * BATCH) for k in range(len(batches))]

    for k, batch in enumerate(batches):
        check_numpy(os.path.join(work, "npz", f"demo_{k:06d}.npz"), batch)
    for name in tables:
        check_numpy(os.path.join(work, f"all_{name}.npz"), everything)
        same(csv_of(os.path.join(work, f"all_{name}.csv.gz")), everything, name)
        same(csv_of(os.path.join(work, f"all_{name}.csv")), everything, name)
    if has["h5py"]:
        for k, batch in enumerate(batches):
            check_h5py(os.path.join(work, "openpmd", f"demo_{k:06d}.h5"), batch)
        for name in tables:
            check_h5py(os.path.join(work, f"all_{name}.h5"), everything)
    if has["openpmd_validator"]:
        for name in glob.glob(os.path.join(work, "openpmd", "*_*.h5")) + glob.glob(os.path.join(work, "all_*.h5")):
            check_openpmd_validator(name)
    if has["openpmd_viewer"]:
        check_openpmd_viewer(os.path.join(work, "openpmd"), batches)
        alone = os.path.join(work, "alone")
        os.mkdir(alone)
        os.link(os.path.join(work, "all_npz.h5"), os.path.join(alone, "all.h5"))
        check_openpmd_viewer(alone, [everything])
    if has["vtk"]:
        check_vtk(os.path.join(work, "openpmd", "demo.xdmf"), batches)
    if has["mcpl"]:
        for name in ("mcpl", "mcpl.gz"):
            for k, batch in enumerate(batches):
                check_mcpl(os.path.join(work, name, f"demo_{k:06d}.{name}"), batch, generated[k])
            check_mcpl(os.path.join(work, name, f"demo.{name}"), everything, PARTICLES)
        for name in glob.glob(os.path.join(work, "all_*.mcpl*")):
            check_mcpl(name, everything, PARTICLES)
        tool = os.path.join(os.path.dirname(sys.executable), "mcpltool")
        if os.path.exists(tool):
            check_mcpltool(tool, work)
            check_extracted(sluice, source, work, tool)
        check_filtered(sluice, source, work, tool)
    check_merged(sluice, source, work)
    print("read by numpy", *(name for name in PACKAGES if has[name]))
    if not all(has.values()):
        print("not installed:", *(name for name in PACKAGES if not has[name]))


with tempfile.TemporaryDirectory() as folder:
    main(os.path.abspath(sys.argv[1]), sys.argv[2], folder)
