"""Arrays in place of the files of a list, which start the histories of other models."""
import glob
import os
import tempfile

import numpy
import pytest

import sluice
from conftest import refused, same_columns
from test_lists import particles

MODELS = {
    "slab": {"mu_a": "10 /cm", "mu_s": "90 /cm", "thickness": "20 cm"},
    "rays": {"source": "list", "sky": 1, "objects": [{"sphere": {"center": [0, 0, 0], "radius": "1 cm"}, "reflectance": 0.5}]}}
BEAM = particles(1000)


def config(source, model="slab"):
    section = {"list": source} if model == "rays" else {"source": {"list": source}}
    return {"run": {"name": "s", "seed": 3, "particles": 2000, "batch": 1000}, "model": {model: {**MODELS[model], **section}}, "keep": "steps >= 0", "key": ["w:16"]}


@pytest.mark.parametrize("model", MODELS)
def test_arrays_have_the_bits_of_a_file(tmp_path, model):
    numpy.savez(tmp_path / "beam.npz", **BEAM)
    file, cpu, emulated = (sluice.run(config({name: value, "repeat": 2}, model), device=device).survivors for name, value, device in (
        ("files", [tmp_path / "beam.npz"], "cpu"), ("arrays", BEAM, "cpu"), ("arrays", BEAM, "emulated")))
    same_columns(cpu, file), same_columns(emulated, file)


def test_tables_of_all_kinds():
    """As the value of the list or by overrides; and the functions that take a configuration."""
    records = numpy.rec.fromarrays(list(BEAM.values()), names=list(BEAM))
    for table in (BEAM, {k: v.astype(v.dtype.newbyteorder(">"))[::-1][::-1] for k, v in BEAM.items()}, {**BEAM, "x": BEAM["x"].tolist()}):
        same_columns(*(sluice.run(config({"files": ["other"]}), particles=1000, **{"model.slab.source.list" + leaf: value}).survivors
                       for leaf, value in (("", records), (".arrays", table))))
    run = sluice.run(config({"arrays": BEAM, "repeat": 2}))
    for table in (run, run.survivors, {k: BEAM[k] for k in "xyzuvw"}):
        same_columns(next(sluice.stream(config(table), particles=100)), sluice.run(config(table), particles=100).survivors)
    assert sluice.plan(config(BEAM), particles=10).particles == 10 and sluice.compare(config(BEAM), particles=10).same
    assert sluice.replay(config(BEAM), 1, particles=10)["history"][0]["time"] in BEAM["time"]
    assert numpy.array_equal(sluice.run({"model": {"list": BEAM}, "keep": "x > 0"}).survivors["energy"], BEAM["energy"][BEAM["x"] > 0])


def test_a_run_keeps_its_arrays(tmp_path, monkeypatch):
    """They stay with its files, so that it is verified and resumed; other arrays are another run."""
    out, source, other = tmp_path / "new" / "run", config({"arrays": BEAM, "repeat": 2}), config({"arrays": {**BEAM, "time": BEAM["time"] + 1}, "repeat": 2})
    sluice.run(source, out=out)
    os.remove(out / "s_000001.h5")
    files = glob.glob(f"{out}/arrays_*")
    refused(lambda: sluice.run(other, out=out, resume=True), "OUTPUT_IN_USE", "another configuration")
    refused(lambda: sluice.run(other, out=out), "OUTPUT_IN_USE", "holds a run already")
    same_columns(sluice.run(source, out=out, resume=True).survivors, sluice.run(config({"files": files, "repeat": 2})).survivors)
    assert glob.glob(f"{out}/arrays_*") == files
    monkeypatch.chdir(tmp_path)
    assert sluice.verify(out)["batches"] == 2
    sluice.run(other, out=out, force=True)
    numpy.savez(*glob.glob(f"{out}/arrays_*"), **BEAM)
    refused(lambda: sluice.verify(out), "BAD_INPUT", "was changed")


def test_what_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for table, status, text in [
            ({**BEAM, "y": BEAM["y"][1:]}, "USAGE", "list.arrays.y: the array has 999 items, and x has 1000"),
            ({**BEAM, "y": BEAM["y"].reshape(10, 100)}, "USAGE", "list.arrays.y: the array has the shape (10, 100)"),
            ({**BEAM, "y": BEAM["y"] + 1j}, "USAGE", "list.arrays.y: the array has items of complex"),
            ({k: BEAM[k] for k in "xyu"}, "USAGE", "list.arrays: has no column z, v, w; add arrays"),
            ({k: 0.5 for k in "xyzuvw"}, "USAGE", "give at least one array"),
            ({**BEAM, "x": numpy.where(numpy.arange(1000) == 17, numpy.nan, BEAM["x"])}, "BAD_INPUT", "source.list.arrays: particle 17 cannot start a history: its numbers are not finite")]:
        refused(lambda: sluice.run(config({"arrays": table, "repeat": 2}), out=tmp_path / "out"), status, text)
    for model, text in (({"list": {k: BEAM[k] for k in "xyzuvw"}}, "has no column energy"), ({"slab": {"source": BEAM}}, "has arrays in place of"),
                        ({"smc": {"observations": {"y": [1.0], "t": [1, 2], "day": "a"}}}, "y (1,), t (2,); give"),
                        ({"slab": {"source": {"list": {"arrays": BEAM, "files": ["a"]}}}}, "arrays and files exclude each other")):
        refused(lambda: sluice.run({"model": model}), "USAGE", text)
    sluice.stream(config(BEAM), particles=10)  # never started
    assert os.listdir(tmp_path) == []
