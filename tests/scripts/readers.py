#!/usr/bin/env python3
"""readers.py SLUICE SOURCE [DEVICE] - checks that other programs read the files of a run, and of sluice convert, correctly.

SLUICE is the program, SOURCE the root of the repository, DEVICE the device of the runs (default: cpu). Runs and a table of any
values are written in every format. numpy, h5py, csv, an XML parser and scripts/load_run.py read them, and those of
openpmd_validator, openpmd_viewer, vtk and mcpl (with mcpltool) that are installed for this Python; missing packages are printed.
Exit code: 0 if all values are right, 77 (skipped) without numpy or h5py. To install all of them:

    python3 -m venv v && v/bin/pip install h5py openPMD-validator openPMD-viewer vtk mcpl
    v/bin/python tests/scripts/readers.py build/release/sluice .
"""
import csv
import glob
import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

try:
    import h5py
    import numpy as np
except ImportError as e:
    print(f"SKIP: {e}; run apt-get install python3-h5py")
    sys.exit(77)

SLUICE, SOURCE = map(os.path.abspath, sys.argv[1:3])
DEVICE = sys.argv[3] if len(sys.argv) > 3 else "cpu"
sys.dont_write_bytecode = True
sys.path[0] = os.path.join(SOURCE, "scripts")  # in place of this folder, whose packaging.py is no package
import load_run

PACKAGES = ("openpmd_validator", "openpmd_viewer", "vtk", "mcpl")
HAS = {name for name in PACKAGES if importlib.util.find_spec(name)}
TABLES = {"openpmd": ".h5", "npz": ".npz", "csv.gz": ".csv.gz", "csv": ".csv"}
FORMATS = {**TABLES, "mcpl": ".mcpl", "mcpl.gz": ".mcpl.gz"}
KINDS = {"id": "u8", "fate": "u1", "pdg": "i4", **dict.fromkeys(
    ("pixel", "userflags", "steps", "collisions", "collisions_1", "collisions_2", "collisions_3"), "u4")}
LISTS = os.path.join(SOURCE, "tests/stages/formats/mcpl/reference")
PARTICLES, BATCH = 20000, 7000


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


COLUMNS = {c["name"]: c for c in json.loads(run(SLUICE, "list", "--json"))["columns"]}


def run_of(config, out, *settings):
    """Runs a configuration, the name of one of data/configs or a dict; returns the folder, which is made in the working one."""
    if isinstance(config, dict):
        with open(out + ".json", "w", encoding="utf-8") as f:
            json.dump(config, f)
        config = out + ".json"
    run(SLUICE, "run", config if config.endswith(".json") else os.path.join(SOURCE, "data/configs", config + ".yaml"),
        "--device", DEVICE, "--quiet", "--out", out, *(word for s in settings for word in ("--set", s)))
    return out


def convert(*inputs, to):
    run(SLUICE, "convert", *inputs, "--to", to)
    return to


def config_of(folder):
    """The configuration as files of batches have it: more particles can be added to a run later."""
    return re.sub(r"  particles: .*\n", "", json_of(folder + "/run.json")["config"], count=1)


def json_of(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f) if path.endswith("json") else [json.loads(line) for line in f]


def csv_of(name):
    """The expected values: a text file, read by the csv module of Python."""
    with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="ascii", newline="") as f:
        names, *rows = csv.reader(f)
    kinds = {name: KINDS.get(name, "f4") for name in names}
    return {name: np.array([float(row[k]) if kinds[name] == "f4" else int(row[k]) for row in rows], kinds[name])
            for k, name in enumerate(names)}


def same(found, expected, what):
    """The same columns in the same order, types and bits."""
    assert list(found) == list(expected), (what, list(found))
    for name, values in expected.items():
        assert found[name].dtype == values.dtype and found[name].tobytes() == values.tobytes(), (what, name)


def near(found, expected, bits, what):
    """Equal to this number of bits, relative to the largest value: MCPL rounds."""
    assert found.shape == expected.shape and np.abs(found - expected).max() <= 2.0 ** -bits * np.abs(expected).max(), what


# --- npz ------------------------------------------------------------------------------------------

def check_npz(name, expected, **facts):
    """The values, what the file says of its origin, and the header of each array: padded to a multiple of 64 bytes."""
    with np.load(name, allow_pickle=False) as f:
        assert f.files[-1] == "about"
        same({key: f[key] for key in f.files[:-1]}, expected, name)
        about = json.loads(f["about"].item())
    assert about["units"] == {column: COLUMNS[column]["unit"] for column in expected}
    assert {key: about[key] for key in facts} == facts, about
    with zipfile.ZipFile(name) as archive:
        for column, values in expected.items():
            array = archive.read(column + ".npy")
            size = 10 + int.from_bytes(array[8:10], "little")
            assert array[:8] == b"\x93NUMPY\x01\x00" and size % 64 == 0
            text = f"{{'descr': '{values.dtype.str}', 'fortran_order': False, 'shape': ({len(values)},), }}"
            assert array[10:size] == text.ljust(size - 11).encode() + b"\n"


# --- openPMD --------------------------------------------------------------------------------------
# What is expected is written down by hand, from the standard: powers of length, mass and time, and the unit in SI.

NUMBER, LENGTH = ((0, 0, 0), 1), ((1, 0, 0), 0.01)
UNITS = {"cm": LENGTH, "ns": ((0, 0, 1), 1e-9), "keV": ((2, 1, -2), 1.602176634e-16)}
ROOT = {"openPMD": "1.1.0", "basePath": "/data/%T/", "particlesPath": "particles/", "software": "Sluice",
        "softwareVersion": run(SLUICE, "--version").split()[1]}


def check_attributes(holder, kind, **expected):
    """Scalar attributes of that type; texts have a fixed length and are ASCII."""
    for name, value in expected.items():
        if kind == "text":
            stored = holder.attrs.get_id(name).get_type()
            assert stored.get_class() == h5py.h5t.STRING and not stored.is_variable_str(), name
            assert stored.get_cset() == h5py.h5t.CSET_ASCII and holder.attrs[name].decode() == value, name
        else:
            found = holder.attrs[name]
            assert found.dtype == kind and found.shape == () and found == value, (name, found)


def check_record(record, unit):
    assert record.attrs["unitDimension"].dtype == "<f8"
    assert tuple(record.attrs["unitDimension"]) == unit[0] + (0, 0, 0, 0)
    check_attributes(record, "<f8", timeOffset=0)


def values_of(component, n):
    """The values of a component, which may be stored once for all particles."""
    if isinstance(component, h5py.Dataset):
        size = component.dtype.itemsize
        assert n == 0 or component.chunks[0] * size <= 1 << 20 and component.compression == "gzip"
        assert n == 0 or component.shuffle == (size > 1)
        return component[:]
    assert len(component) == 0 and component.attrs["shape"].dtype == "<u8" and list(component.attrs["shape"]) == [n]
    return np.repeat(component.attrs["value"], n)


def check_patches(patches, expected, axes, n):
    assert list(patches["numParticles"][:]) == [n] and list(patches["numParticlesOffset"][:]) == [0]
    for name in ("offset", "extent"):
        check_record(patches[name], LENGTH)
        assert sorted(patches[name]) == axes
    for axis in axes:
        low, extent = patches["offset"][axis][0], patches["extent"][axis][0]
        check_attributes(patches["offset"][axis], "<f8", unitSI=0.01)
        values = expected[axis].astype("f8") if n else np.zeros(1)
        if not np.all(np.isfinite(values)):
            continue
        assert low == values.min() and (low + extent > values.max() or n == 0)
        above = np.nextafter(np.float32(values.max()), np.float32(np.inf)) - low
        assert extent <= max(above, np.nextafter(values.max() - low, np.inf)) and (n or extent == 0)


def check_species(species, expected, digests):
    n = len(next(iter(expected.values())))
    axes = sorted(a for a in "xyz" if a in expected)
    found = {}
    for name in expected:
        path, unit = COLUMNS[name]["openpmd"], UNITS.get(COLUMNS[name]["unit"], NUMBER)
        check_record(species[path.split("/")[0]], unit)
        check_attributes(species[path], "<f8", unitSI=unit[1])
        if digests:
            check_attributes(species[path], "<u8", sluiceDigest=int(digests[name], 16))
        found[name] = values_of(species[path], n)
    same(found, expected, species.file.filename)
    records = {COLUMNS[name]["openpmd"].split("/")[0] for name in expected}
    assert set(species) == records | {"position", "positionOffset"} | ({"particlePatches"} if axes else set()), set(species)
    check_record(species["positionOffset"], LENGTH)
    assert sorted(species["positionOffset"]) == (axes or ["x"])
    for component in species["positionOffset"].values():
        assert not values_of(component, n).any() and component.attrs["unitSI"] == 0.01
    if axes:
        check_patches(species["particlePatches"], expected, axes, n)
    else:
        assert np.isnan(species["position/x"].attrs["value"]) and len(values_of(species["position/x"], n)) == n


def check_openpmd(name, expected, series, config=None, digests=None, number=0, species="photons", **facts):
    """series is the name in the files of a series; a joined file has none."""
    with h5py.File(name, "r") as f:
        check_attributes(f, "text", **ROOT, iterationEncoding="fileBased" if series else "groupBased",
                         iterationFormat=f"{series}_%06T.h5" if series else "/data/%T/")
        check_attributes(f, "<u8", **facts)
        check_attributes(f, "<u4", openPMDextension=0)
        assert set(f) <= {"data", "sluiceConfig", "sluiceMerged"} and not {"date", "author", "machine"} & set(f.attrs)
        assert config is None or f["sluiceConfig"][()].decode() == config
        iteration, = f["data"].values()
        assert iteration.name == f"/data/{number}" and list(iteration["particles"]) == [species]
        check_attributes(iteration, "<f8", time=0, dt=0, timeUnitSI=1)
        check_species(iteration["particles"][species], expected, digests)


def check_xdmf(name, expecteds, columns):
    """The arrays that the grids name are there, with the type and the length that they state."""
    kinds = {"Float": ["f4"], "UInt": ["u4"], "Int": ["u8", "i4"], "UChar": ["u1"]}
    collection = xml.etree.ElementTree.parse(name).getroot().find("Domain/Grid")
    grids = collection.findall("Grid")
    assert collection.get("CollectionType") == "Temporal"
    assert [int(grid.find("Time").get("Value")) for grid in grids] == list(range(len(expecteds)))
    for grid, expected in zip(grids, expecteds):
        topology = grid.find("Topology")
        assert topology.get("TopologyType") == "Polyvertex"
        assert [a.get("Name") for a in grid.findall("Attribute")] == columns
        items = grid.findall("Geometry/DataItem") + grid.findall("Attribute/DataItem")
        assert [i.text.split("/photons/")[1] for i in items[:3]] == ["position/x", "position/y", "position/z"]
        for item, column in zip(items, ["x", "y", "z", *columns]):
            file, path = item.text.split(":")
            with h5py.File(os.path.join(os.path.dirname(name), file), "r") as f:
                same({column: f[path][:]}, {column: expected[column]}, path)
                n = len(expected[column])
                assert n == int(item.get("Dimensions")) == int(topology.get("NumberOfElements"))
                assert f[path].dtype.str[1:] in kinds[item.get("NumberType")]
                assert f[path].dtype.itemsize == int(item.get("Precision"))


def check_openpmd_viewer(folder, names, expecteds):
    """Files in a folder of their own: the viewer takes each file of a folder for a part of the series."""
    from openpmd_viewer import OpenPMDTimeSeries
    os.mkdir(folder)
    for name in names:
        os.link(name, os.path.join(folder, os.path.basename(name)))
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


# --- tables in every format -----------------------------------------------------------------------

def check_table(name, expected, series, **facts):
    """A file of any format but MCPL, by the reader of its format and by scripts/load_run.py."""
    if name.endswith(".npz"):
        check_npz(name, expected)
    elif name.endswith(".h5"):
        check_openpmd(name, expected, series, **facts)
        if "openpmd_validator" in HAS:
            assert "Result: 0 Errors" in run(sys.executable, "-m", "openpmd_validator.check_h5", "-i", name), name
    else:
        same(csv_of(name), expected, name)
    same(load_run.load(name, list(expected)), expected, name)


def test_runs():
    """A run in every format, each converted to every format: the same values and facts."""
    for form in FORMATS:
        run_of("demo", form, f"run.particles={PARTICLES}", f"run.batch={BATCH}", f"output.format={form}",
               "output.columns=[]", "output.joined=true")
    batches = [csv_of(name) for name in sorted(glob.glob("csv.gz/demo_*.csv.gz"))]
    everything = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    for k, (batch, line) in enumerate(zip(batches, json_of("openpmd/manifest.jsonl"), strict=True)):
        facts = {key: line[key] for key in ("batch", "first_id", "generated")}
        check_openpmd(f"openpmd/demo_{k:06d}.h5", batch, "demo", config_of("openpmd"), line["digests"], k, sluiceSeed=1,
                      sluiceBatch=k, sluiceFirstId=facts["first_id"], sluiceGenerated=facts["generated"])
        check_npz(f"npz/demo_{k:06d}.npz", batch, **facts, run="demo", seed=1, species="photons", software="Sluice",
                  rules_version=json_of("npz/run.json")["rules_version"], config=config_of("npz"))
    for form, suffix in TABLES.items():
        check_table(f"{form}/demo{suffix}", everything, None)
        same(load_run.load(form), everything, form)
        for to in TABLES.values():
            check_table(convert(form, to=f"all_{form}{to}"), everything, "demo")
    check_xdmf("openpmd/demo.xdmf", batches, [c for c in everything if c not in "xyz" and c != "weight"])
    if "openpmd_viewer" in HAS:
        check_openpmd_viewer("series", glob.glob("openpmd/demo_*.h5"), batches)
        check_openpmd_viewer("alone", ["all_npz.h5"], [everything])
    if "vtk" in HAS:
        check_vtk("openpmd/demo.xdmf", batches)
    if "mcpl" in HAS:
        test_mcpl(batches, everything)


def text_of(value):
    """A number as the program prints it: the least digits, with an exponent if it is large or small."""
    text = np.format_float_scientific(value, trim="-", exp_digits=1).replace("+", "")
    plain = np.isfinite(value) and -5 < int(text.split("e")[1]) < 9
    return np.format_float_positional(value, trim="-") if plain else text


def any_values(random, kind, n):
    """Any integers; real numbers of three digits, which have only one shortest text, and special ones."""
    if kind != "f4":
        return random.integers(0, 255, n * 8, "u1", True).view(kind)[:n]
    values = (random.integers(-999, 1000, n) * random.choice([1e-30, 1e-9, 1, 1e30], n)).astype("f4")
    values[:6] = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3.4028235e38], "f4")[:n]
    return values


def test_tables():
    """All columns with any values, many particles without positions, and none: a CSV file, converted."""
    random = np.random.default_rng(int(os.environ.get("SLUICE_SHARE", 0)))
    for columns, n in ((COLUMNS, 1000), (["id", "pixel"], 300000), (COLUMNS, 0)):
        table = {name: any_values(random, KINDS.get(name, "f4"), n) for name in columns}
        with open("table.csv", "w", encoding="ascii") as f:
            rows = zip(*(map(text_of if v.dtype == "f4" else str, v) for v in table.values()))
            f.write("\n".join(map(",".join, [table, *rows])) + "\n")
        for suffix in TABLES.values():
            check_table(convert("table.csv", to="same" + suffix), table, "same", species="particles")
            os.remove("same" + suffix)


def test_constants():
    """Columns that are stored once for all particles, and a run without positions, which has no .xdmf file."""
    for settings in ([], ["keep=absorbed", "check={}"], ["output.columns=[z, weight]"]):
        settings = ["run.particles=2000", "run.batch=2000", *settings]
        expected = csv_of(glob.glob(run_of("beer_lambert", "c", *settings, "output.format=csv") + "/*_000000.csv")[0])
        for form in ("npz", "openpmd"):
            folder = run_of("beer_lambert", "c_" + form, *settings, f"output.format={form}")
            check_table(glob.glob(f"{folder}/*_000000.*")[0], expected, "beer_lambert")
            assert form == "npz" or os.path.exists(folder + "/beer_lambert.xdmf") == ("x" in expected)
            run("rm", "-r", folder)
        run("rm", "-r", "c")


def test_texts():
    """A configuration with characters that JSON and YAML escape."""
    name = 'a "b\\c" \u00e4.mcpl'
    os.symlink(os.path.join(LISTS, "example.mcpl"), name)
    for form, config in (("npz", lambda f: json.loads(np.load(f)["about"].item())["config"]),
                         ("openpmd", lambda f: h5py.File(f)["sluiceConfig"][()].decode())):
        out = run_of({"run": {"name": "t"}, "model": {"list": {"files": [name]}}, "keep": "listed", "output": {"format": form}},
                     "texts_" + form)
        assert config(f"{out}/t_000000{FORMATS[form]}") == config_of(out) and r"\u00e4" in config_of(out), out


def test_merged():
    """Two runs with different seeds, merged: the sums of their counts, in npz, HDF5 and MCPL."""
    runs = [run_of("demo", f"seed{seed}", f"run.particles={PARTICLES}", f"run.seed={seed}", "output.columns=[]") for seed in (1, 2)]
    with np.load(convert(*runs, to="seeds.npz")) as f:
        about, ids = json.loads(f["about"].item()), f["id"]
    assert [r["seed"] for r in about["merged"]["runs"]] == [1, 2] and about["generated"] == 2 * PARTICLES
    assert len(np.unique(ids)) == len(ids) == about["merged"]["fates"]["hit"] == about["merged"]["survivors"]
    with h5py.File(convert(*runs, to="seeds.h5"), "r") as f:
        assert json.loads(f["sluiceMerged"][()]) == about["merged"] and f.attrs["sluiceGenerated"] == 2 * PARTICLES
    if "mcpl" in HAS:
        import mcpl
        f = mcpl.MCPLFile(convert(*runs, to="seeds.mcpl"))
        assert f.nparticles == len(ids) and f.stat_sum == {"sluice_generated": 2 * PARTICLES}
        text, = [c for c in f.comments if c.startswith("Survivors of merged runs ")]
        assert json.loads(text[len("Survivors of merged runs "):]) == about["merged"]


def test_names():
    """load_run.py and docs/output-formats.md have the names and units of sluice list."""
    assert load_run.OPENPMD == {c["openpmd"]: name for name, c in COLUMNS.items() if c["openpmd"] != name}
    with open(os.path.join(SOURCE, "docs/output-formats.md"), encoding="utf-8") as file:
        text = file.read()
    rows = [[re.findall("`([^`]+)`", cell) or [cell.strip()] for cell in line.strip("|").split("|")]
            for line in text.split("## Names of the columns")[1].split("\n\n")[2].splitlines()[2:]]
    found = [(name, row[1][0], name if row[2][0] == "the same" else row[2][k]) for row in rows for k, name in enumerate(row[0])]
    assert sorted(found) == sorted((name, c["unit"], c["openpmd"]) for name, c in COLUMNS.items()), found


def test_load_run():
    """The command of load_run.py: what it prints, and what it refuses."""
    run_of("beer_lambert", "list", "run.particles=100", "output.format=mcpl", "output.mcpl={energy: 2 eV}")
    for code, text, *words in [
            (0, r"^energy +float32 +[\d,]+  26\.\d+ \.\. 59\.5\n$", "openpmd", "energy"),
            (1, "no column q; the columns are id, x, y, z", "openpmd", "q"),
            (1, "no column q; the columns are id, x, y, z", "csv/demo.csv", "q"),
            (1, "run.json is not openPMD, npz or csv", "openpmd/run.json"), (1, "has no manifest.jsonl", "."),
            (1, "sluice convert --to FILE.npz", "list")]:
        done = subprocess.run([sys.executable, "-B", os.path.join(SOURCE, "scripts/load_run.py"), *words], capture_output=True,
                              text=True, check=False)
        assert done.returncode == code and re.search(text, done.stdout + done.stderr), (words, done)


# --- the reference implementation of MCPL ---------------------------------------------------------

def check_mcpl(name, expected, generated):
    import mcpl
    f = mcpl.MCPLFile(name, blocklength=PARTICLES)
    p = f.read_block()
    assert f.nparticles == len(expected["x"]) and f.stat_sum == {"sluice_generated": generated}, f.stat_sum
    for axis in "xyz":
        assert np.array_equal(getattr(p, axis).astype("f4"), expected[axis]), (name, axis)
    for axis, column, factor, bits in (("ux", "u", 1, 18), ("uy", "v", 1, 18), ("uz", "w", 1, 18), ("ekin", "energy", 1e3, 22),
                                       ("time", "time", 1e6, 22)):
        near(getattr(p, axis) * factor, expected[column].astype("f8"), bits, (name, axis))
    assert np.array_equal(p.userflags, expected["pixel"]) and np.all(p.pdgcode == 22)
    assert np.array_equal(np.broadcast_to(p.weight, expected["weight"].shape), expected["weight"])


def records_of(name):
    """The records of a file as bytes."""
    import mcpl
    with (gzip.open if name.endswith(".gz") else open)(name, "rb") as f:
        content = f.read()
    return content[len(content) - mcpl.MCPLFile(name).nparticles * int.from_bytes(content[40:44], "little"):]


def list_run(out, inputs, keep, form):
    """Keeps particles of lists in a run; returns its joined list."""
    return run_of({"run": {"name": "t", "batch": 60}, "model": {"list": {"files": inputs}}, "keep": keep,
                   "output": {"format": form, "joined": True}}, out) + f"/t.{form}"


def check_mcpltool(tool):
    """--merge writes the bytes of sluice convert and output.joined; sluice reads what --extract writes, and copies its records."""
    run(tool, "--merge", "merged.mcpl", *sorted(glob.glob("mcpl/demo_*.mcpl")))
    for other in ("all_mcpl.mcpl", "mcpl/demo.mcpl"):
        run("cmp", "merged.mcpl", other)
    run(tool, "--extract", "-l100", "all_mcpl.mcpl", "extracted.mcpl")  # it appends .gz
    run(SLUICE, "info", "extracted.mcpl.gz")
    with np.load(convert("extracted.mcpl.gz", to="extracted.npz")) as f:
        assert len(f["x"]) == 100
    for name, code in (("example.mcpl", 2112), ("miscphys.mcpl.gz", 22), ("reffile_2.mcpl", 2112)):
        kept = records_of(list_run("kept_" + name, [os.path.join(LISTS, name)], f"pdg == {code}", "mcpl.gz"))
        run(tool, "--extract", f"-p{code}", os.path.join(LISTS, name), f"{code}_{name[:7]}.mcpl")
        assert kept and kept == records_of(f"{code}_{name[:7]}.mcpl.gz"), name


def check_filtered(out, inputs, tool):
    """A filtered list: the sums of weights, the comments, blobs and stat:sum must match the reference implementation."""
    import mcpl
    joined = mcpl.MCPLFile(list_run(out, inputs, "weight > 2", "mcpl"))
    files = [mcpl.MCPLFile(name, blocklength=PARTICLES) for name in inputs]
    weights = np.concatenate([np.broadcast_to(b.weight, len(b)).astype("f4").astype("f8") for b in
                              (f.read_block() for f in files)])
    tallies = json_of(out + "/run.json")["tallies"]
    assert abs(tallies["weight"] - weights.sum()) < 1e-12 * abs(weights).sum()
    assert abs(tallies["survivors_weight"] - weights[weights > 2].sum()) < 1e-12 * abs(weights).sum()
    assert joined.nparticles == (weights > 2).sum() == tallies["survivors"]
    for key in {key for f in files for key in f.stat_sum}:
        values = [f.stat_sum.get(key) for f in files]
        assert joined.stat_sum[key] == (None if None in values else sum(values)), (key, joined.stat_sum)
    for f in files:
        assert {c for c in f.comments if not c.startswith("stat:sum:")} <= set(joined.comments)
        assert f.blobs.items() <= joined.blobs.items()
    if tool:
        run(tool, "--merge", out + ".mcpl", *sorted(glob.glob(out + "/t_*.mcpl")))
        merged = mcpl.MCPLFile(out + ".mcpl")
        assert merged.nparticles == joined.nparticles
        near(*(np.array([x or -1 for x in f.stat_sum.values()]) for f in (merged, joined)), 40, "sums of batches")


def test_mcpl(batches, everything):
    for form in ("mcpl", "mcpl.gz"):
        for k, batch in enumerate(batches):
            check_mcpl(f"{form}/demo_{k:06d}.{form}", batch, min(BATCH, PARTICLES - k * BATCH))
        check_mcpl(f"{form}/demo.{form}", everything, PARTICLES)
        for source in FORMATS:
            check_mcpl(convert(source, to=f"all_{source}.{form}"), everything, PARTICLES)
    tool = os.path.join(os.path.dirname(sys.executable), "mcpltool")
    tool = tool if os.path.exists(tool) else None
    if tool:
        check_mcpltool(tool)
    lists = [os.path.join(LISTS, name) for name in
             ("ref_statsum.mcpl.gz", "reffile_2.mcpl", "ref_statsum.mcpl.gz", "reffile_6.mcpl")]
    check_filtered("filtered0", lists[::2], tool)
    check_filtered("filtered1", lists, tool)


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for test in (test_names, test_runs, test_tables, test_constants, test_texts, test_merged, test_load_run):
        test()
    os.chdir(SOURCE)
print("read by numpy, h5py", *sorted(HAS))
if set(PACKAGES) - HAS:
    print("not installed:", *sorted(set(PACKAGES) - HAS))
