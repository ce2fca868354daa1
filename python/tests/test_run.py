"""Runs: the same bits and bytes as the program, configurations of all kinds, results."""
import json
import math
import subprocess
import sys
import tomllib

import numpy
import pytest

import sluice
from conftest import SLAB, SOURCE, cli, files_of, refused, same_columns, share, without

AS_DICT = {
    "run": {"name": "slab", "seed": 1234, "particles": 6e3, "batch": 1000},
    "model": {"slab": {"mu_a": "10 /cm", "mu_s": "90 /cm", "g": 0.75, "thickness": "0.02 cm"}},
    "keep": "transmitted", "key": ["w:16"], "tallies": ["z:10:0 cm..0.02 cm:absorbed"],
    "output": {"columns": ["id", "x", "y", "u", "v", "w", "time", "collisions"]}}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """A run of the program."""
    folder = tmp_path_factory.mktemp("reference")
    (folder / "slab.yaml").write_text(SLAB)
    cli("run", "slab.yaml", "--out", "run", "--quiet", cwd=folder)
    return folder / "run"


@pytest.fixture(scope="module")
def expected(reference):
    return json.loads((reference / "run.json").read_text())


def facts(report):
    """What does not depend on times, machine and files."""
    members = {k: report[k] for k in ("version", "rules_version", "name", "model", "state")}
    members["tallies"] = json.loads(json.dumps(report["tallies"]))
    for fate in members["tallies"]["fates"].values():
        del fate["figure_of_merit"]
    members["batches"] = [{k: v for k, v in b.items() if k not in ("file", "bytes")} for b in report["batches"]]
    return members


def test_runs_are_those_of_the_program(config, reference, expected, tmp_path, monkeypatch):
    """In memory and in files, with a configuration of any kind."""
    monkeypatch.chdir(tmp_path)
    result = sluice.run(config)
    assert result.directory is None and [p.name for p in tmp_path.iterdir()] == ["slab.yaml"]
    files, written = sluice.open(reference), sluice.run(config, out=tmp_path / "run")
    assert files_of(tmp_path / "run") == files_of(reference) and written.directory == str(tmp_path / "run")
    for other in (result, written, files, *map(sluice.run, (str(config), SLAB, AS_DICT))):
        assert facts(other.report) == facts(expected) and list(other.survivors) == AS_DICT["output"]["columns"]
        assert other.survivors.n == expected["tallies"]["survivors"] == len(other.survivors["x"])
        assert [b.n for b in other.survivors.batches()] == [b["survivors"] for b in expected["batches"]]
        same_columns(other.survivors, files.survivors)
    assert all(result.survivors[name].dtype == sluice.COLUMNS[name].dtype for name in files.survivors)
    assert repr(result).startswith("<Run slab: done, 6000 particles, ")
    assert "<td>transmitted</td>" in result._repr_html_() and "6000 particles" in result._repr_html_()


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_run_without_files_has_tallies_and_digests(config, expected, tmp_path, device):
    none = dict(device=device, output__format="none")
    run, full = sluice.run(config, out=tmp_path / "none", **none), sluice.run(config, device=device)
    assert run.report["batches"][0]["digests"] == expected["batches"][0]["digests"]
    assert list(run.survivors) == [] and run.survivors.n == full.survivors.n == expected["tallies"]["survivors"]
    assert [b.n for b in run.survivors.batches()] == [b["survivors"] for b in run.report["batches"]]
    assert run.tallies["z"].fates["absorbed"]["count"].sum() == run.fates["absorbed"].count
    assert sluice.verify(tmp_path / "none")["batches"] == 6
    for nothing in (dict(columns=[]), dict(output__columns=()), dict(output__format="none")):
        less = sluice.run(without("keep", "key", "output"), device=device, **nothing)
        assert len(less.survivors) == less.survivors.n == less.report["tallies"]["survivors"] == 0
        assert {n: f.count for n, f in less.fates.items()} == {n: f.count for n, f in full.fates.items()}
    assert list(sluice.run(config, columns="w, id").survivors) == ["id", "w"]
    with pytest.raises(ValueError, match="leave output__format out"):
        sluice.run(config, columns=[], output__format="npz")
    refused(lambda: sluice.run(without("keep")), "USAGE", "with output.format: none it can be left out")
    made, stream = sluice.run(config, **none), sluice.stream(config, **none)
    assert len(made.survivors) == made.survivors.n == 0 and list(stream) == [] and stream.result.particles == 6000
    for other in (made, sluice.run(config, out=tmp_path / "none", resume=True, **none)):
        assert [f.count for f in other.fates.values()] == [f.count for f in full.fates.values()]
        assert numpy.array_equal(other.tallies["z"].fates["absorbed"]["error"], full.tallies["z"].fates["absorbed"]["error"])


def test_overrides(config):
    plan = sluice.plan(config, particles=2e3, model__slab__g=0.9, keep="reflected and w < -0.5",
                       key=["w:8"], **{"run.seed": 7})
    assert plan.particles == 2000 and plan.batches == 2
    run = sluice.run(config, particles=numpy.int64(2000), seed=numpy.uint8(7), keep=["reflected"],
                     output={"columns": ["id"]})
    assert run.particles == 2000 and list(run.survivors) == ["id"] and run.survivors.n == run.fates["reflected"].count
    assert "  seed: 7\n" in run.report["config"]
    for call, kind in [(lambda: sluice.run(config, seed=None), "None"),
                       (lambda: sluice.run({"run": {"seed": object()}}), "object")]:
        with pytest.raises(TypeError, match=f"run.seed: {kind} is no value"):
            call()


def test_truncated_histories_are_a_warning(config, tmp_path):
    with pytest.warns(RuntimeWarning, match=r"reached transport.max_steps = 3 and ended"):
        result = sluice.run(config, transport__max_steps=3, out=tmp_path / "out")
    with pytest.warns(RuntimeWarning, match="raise transport.max_steps"):
        list(sluice.stream(config, transport__max_steps=3))
    assert sluice.open(tmp_path / "out").warnings == result.warnings and str(result.fates["max_steps"].count) in result.warnings[0]
    assert sluice.run(config).warnings == []


def test_fates_and_tallies(config):
    result = sluice.run(config)
    assert sum(f.count for f in result.fates.values()) == result.particles == 6000
    fate = result.fates["transmitted"]
    assert fate.fraction == fate.count / 6000 and math.isclose(fate.error, math.sqrt(fate.fraction * (1 - fate.fraction) / 6000))
    tally, row = result.tallies["z"], result.tallies["z"].fates["absorbed"]
    assert tally.unit == "cm" and len(tally.edges) == 11 and tally.edges[-1] == 0.02
    assert row["count"].sum() + row["under"] + row["over"] == result.fates["absorbed"].count
    assert numpy.allclose(tally.volume, 0.002) and tally.density_unit == "1/cm" and len(tally.centers) == 10
    assert numpy.allclose(tally.density["absorbed"], row["mean"] / 0.002)
    assert numpy.allclose(row["mean"], row["count"] / 6000) and numpy.isfinite(row["error"]).all()


GRIDS = {"deposit(r,z)": "[deposit, r:10:0 cm..1 cm, z:5]",
         "deposit(r,z)_2": "[deposit, r:10:1 um..1 cm:log, z:0 cm..0.01 cm..0.02 cm]", "crossing(w)": "[crossing:0.1 mm, w:2]",
         "(w,z)": "[w:4, z:2:0 cm..0.02 cm, absorbed]", "(x,y)": "[x:70:-1 cm..1 cm, y:70:-1 cm..1 cm]",
         "deposit(z,x)": "[deposit, z:90, x:50:-1 cm..1 cm]"}  # the last two have more cells than run.json lists


def test_grids_are_those_of_the_file(config, tmp_path):
    h5py = pytest.importorskip("h5py")
    in_memory, on_disk = (sluice.run(config, tallies=list(GRIDS.values()), **out) for out in ({}, {"out": tmp_path / "grids"}))
    opened = sluice.open(tmp_path / "grids")
    assert list(in_memory.tallies) == list(on_disk.tallies) == list(opened.tallies) == list(GRIDS)
    with h5py.File(next((tmp_path / "grids").glob("*.tallies"))) as file:
        for name, grid in on_disk.tallies.items():
            assert isinstance(grid, sluice.Grid) and grid.name == name
            for axis, bins in zip(grid.axes, grid.shape):
                edges = file[name]["edges_" + axis.column][()]
                assert len(edges) == bins + 1 and numpy.allclose(axis.edges, edges, rtol=1e-8, atol=0)
            for fate, row in grid.fates.items():
                assert row["count"].shape == row["mean"].shape == grid.shape
                for key, dataset in {"count": "count", "mean": "mean", "error": "standard_error"}.items():
                    assert numpy.array_equal(row[key], file[name][fate][dataset][()])
                assert row["under"] == file[name][fate].attrs["under"]
                assert numpy.array_equal(grid.volume, file[name]["volume"][()]) and grid.volume.shape == grid.shape
                data = file[name][fate]["density"]
                assert numpy.allclose(grid.density[fate], data[()], rtol=1e-14, atol=0) and grid.density_unit == data.attrs["unit"].decode()
                for other in (in_memory, opened):
                    made = other.tallies[name].fates[fate]
                    assert numpy.array_equal(other.tallies[name].volume, grid.volume)
                    assert made.keys() == row.keys() and all(numpy.array_equal(made[k], row[k]) for k in row)
    absorbed = on_disk.fates["absorbed"].count
    deposit = on_disk.tallies["deposit(r,z)"].fates["all"]
    assert deposit["weight"].sum() + deposit["weight_under"] + deposit["weight_over"] == absorbed > 0
    grid = on_disk.tallies["deposit(r,z)"]
    rings, depths = math.pi * numpy.diff(grid.axes[0].edges**2), numpy.diff(grid.axes[1].edges)
    assert numpy.allclose(grid.volume, numpy.outer(rings, depths), rtol=1e-13) and grid.density_unit == "1/cm^3"
    assert numpy.allclose(grid.density_error["all"] * grid.volume, deposit["error"], rtol=1e-13)
    assert numpy.allclose(grid.centers[1], 0.02 * (numpy.arange(5) + 0.5) / 5, rtol=1e-6)
    assert numpy.allclose(in_memory.tallies["(x,y)"].volume, (2 / 70)**2, rtol=1e-6)
    assert [g.density_unit for g in list(on_disk.tallies.values())[2:]] == ["1", "1/cm", "1/cm^2", "1/cm^2"]
    assert on_disk.tallies["crossing(w)"].plane == 0.01 and on_disk.tallies["(w,z)"].plane is None


def test_a_killed_run_has_the_counts_of_its_batches(config, tmp_path):
    for absorption in ("analogue", "implicit"):
        done = sluice.run(config, out=tmp_path / absorption, tallies=[], model__slab__absorption=absorption)
        file = tmp_path / absorption / "run.json"
        report = json.loads(file.read_text())
        zero = dict(count=0, fraction=0, weight_fraction=0, standard_error=0, standard_error_over_batches=None)
        report.update(state="running", tallies={"particles": 0, "fates": dict.fromkeys(report["tallies"]["fates"], zero)})
        file.write_text(json.dumps(report))
        killed = sluice.open(tmp_path / absorption)
        assert (killed.state, killed.particles, killed.tallies) == ("running", 6000, {}) and "6000" in repr(killed)
        for name, fate in killed.fates.items():
            assert fate.count == done.fates[name].count
            assert numpy.isnan([fate.fraction, fate.error]).all() if absorption == "implicit" else \
                numpy.allclose([fate.fraction, fate.error], [done.fates[name].fraction, done.fates[name].error])


def test_error_of_weighted_fractions(config):
    one, six = (sluice.run(config, batch=b, tallies=[], model__slab__absorption="implicit").fates["absorbed"]
                for b in (6000, 1000))
    assert one.fraction == six.fraction > 0 and 0 < one.error == six.error < 0.02


def test_the_package_has_the_program_and_examples(tmp_path):
    done = subprocess.run([sys.executable, "-m", "sluice", "run", sluice.example("vandehulst"), "--quiet", "--out",
                           tmp_path / "out", "--set", "run.particles=1e4"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    same_columns(sluice.open(tmp_path / "out").survivors,
                 sluice.run(sluice.example("vandehulst"), particles=1e4).survivors)
    assert subprocess.run([sys.executable, "-m", "sluice", "nothing"], capture_output=True).returncode == 2
    # The command that pip installs.
    module, function = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["scripts"]["sluice"].split(":")
    script = f"import sys; from {module} import {function}; sys.exit({function}())"
    done = subprocess.run([sys.executable, "-c", script, "version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and sluice.version().split()[0] in done.stdout
    for name in ("nothing", "../configs/demo", ""):
        with pytest.raises(ValueError, match="use aperture, "):
            sluice.example(name)


def test_an_image_is_that_of_the_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    result, on_disk = (sluice.run(SOURCE / "data/configs/rays.yaml", particles=20000, out=out) for out in (None, tmp_path / "image"))
    assert result.image.dtype == numpy.float64 and result.image.ndim == 2 and numpy.array_equal(result.image, on_disk.image)
    assert "png" in on_disk.report["image"] and "png" not in result.report["image"]
    found = []
    with h5py.File(next((tmp_path / "image").glob("*.image.h5"))) as file:
        file.visititems(lambda name, o: found.append(o[()]) if hasattr(o, "dtype") else None)
    assert any(numpy.array_equal(result.image, f) for f in found)


def test_streams(config, expected):
    """The batches come in order; the run waits for a slow loop."""
    batches = list(sluice.stream(config))
    assert [(b.number, b.first_id, b.generated, len(b["x"])) for b in batches] == [
        (i, 1000 * i, 1000, batches[i].n) for i in range(6)]
    assert [b.digests for b in batches] == [b["digests"] for b in expected["batches"]]
    endless = sluice.stream(SLAB, particles=1e9, tallies=[], threads=1)
    assert [next(endless).number for _ in range(20)] == list(range(20))
    endless.close()


def test_resume_and_force(config, expected, reference, tmp_path):
    out = tmp_path / "part"
    sluice.run(config, out=out)
    refused(lambda: sluice.run(config, out=out), "OUTPUT_IN_USE")
    lines = (out / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    (out / "manifest.jsonl").write_bytes(b"".join(lines[:2]))
    resumed = sluice.run(config, out=out, resume=True)
    assert resumed.report["times"]["batches"] == 4
    assert files_of(out) == files_of(reference) and facts(resumed.report) == facts(expected)
    assert sluice.run(config, out=out, force=True, seed=3).report["batches"] != expected["batches"]
    for how in (dict(resume=True), dict(force=True), dict(out=out, resume=True, force=True)):
        with pytest.raises(ValueError, match="resume and force"):
            sluice.run(config, **how)


def test_a_stop_rule_and_a_time_limit(config):
    stopped = sluice.run(config, particles=1e6, stop="rel_error(transmitted) < 3 %")
    limited = sluice.run(SLAB, particles=1e9, tallies=[], stop_before="2.6 s",
                         output__columns=["id"], keep="transmitted and w > 0.9999")
    assert stopped.state == "done" and stopped.report["stop"]["met"] and len(stopped.report["batches"]) < 1000
    assert limited.state == "stopped" and 0 < limited.particles < 1e9
    assert all(run.survivors.n == run.report["tallies"]["survivors"] for run in (stopped, limited))


def test_what_memory_cannot_hold(tmp_path):
    refused(lambda: sluice.run(SLAB, particles=1e12, batch=1e6, tallies=[]), "HOST_MEMORY", "take the batches one by one")
    settings = {"output__format": "mcpl", "output__mcpl__energy": "2 eV", "output__sample": 10, "tallies": []}
    config = without("output")
    refused(lambda: sluice.run(config, particles=1e4, **settings), "USAGE", "give the run a directory")
    run = sluice.run(config, out=tmp_path / "run", particles=1e4, **settings)
    assert run.report["joined_particles"] == 10


@pytest.mark.parametrize("form", share(["npz", "openpmd", "csv.gz", "csv"]))
def test_a_run_in_files_of_any_format(tmp_path, form):
    """Its joined file is sorted over the run, and columns of the configuration have their names and units."""
    settings = {"columns": {"half": "hypot(x, y) / 2", "decay": "exp(-time / (1 ns))"}, "particles": 2e4, "batch": 3000,
                "output__columns": ["id", "x", "y", "w", "half", "decay"]}
    memory = sluice.run(SLAB, **settings)
    run = sluice.run(SLAB, out=tmp_path / "run", key=["w:float"], output__order="run", output__format=form, **settings)
    order = numpy.lexsort((memory.survivors["id"], memory.survivors["w"]))
    assert memory.joined is None and run.report["joined_particles"] == len(order)
    assert sluice.verify(tmp_path / "run")["joined_compared"]
    for made in (run, sluice.open(tmp_path / "run")):
        assert set(made.survivors) == set(memory.survivors) == set(made.joined) and made.joined.n == len(order)
        same_columns(made.joined, {name: memory.survivors[name][order] for name in memory.survivors})
        half = numpy.hypot(numpy.float64(made.survivors["x"]), made.survivors["y"]) / 2
        assert numpy.allclose(made.survivors["half"], half, rtol=1e-7)
    assert "<td>half</td><td>f4</td><td>cm</td>" in memory.survivors._repr_html_() + sluice.open(tmp_path / "run").survivors._repr_html_()
    assert "<caption>" in next(run.survivors.batches())._repr_html_()
    column = next(iter(run.survivors.batches())).column("half")
    assert (column.name, column.unit) == ("half", "" if form.startswith("csv") else "cm")


def test_progress(config, capsys):
    calls = []
    sluice.run(config, progress=lambda *state: calls.append(state))
    assert calls[-1][:2] == (6000, 6000)
    sluice.run(config, progress=True)
    assert capsys.readouterr().err


def test_files(reference, expected, tmp_path):
    run, all_npz, other = sluice.open(reference), tmp_path / "all.npz", tmp_path / "other.csv"
    assert sluice.verify(reference)["batches"] == 6 and "run slab" in sluice.info(reference)
    assert "all.npz" in sluice.convert(reference, all_npz)
    table = sluice.read(all_npz)
    assert table.n == run.survivors.n
    assert numpy.array_equal(table["x"], run.survivors["x"]) and numpy.array_equal(table["x"], numpy.load(all_npz)["x"])
    other.write_text("in the way")
    refused(lambda: sluice.convert(all_npz, other), "OUTPUT_IN_USE")
    sluice.convert(all_npz, other, force=True)
    assert len(other.read_text().splitlines()) > table.n
    assert sluice.info(all_npz, head=3) == cli("info", all_npz, "--head", 3, cwd=tmp_path)


def test_filters(tmp_path):
    """Observations of any kind give the same results, which are arrays; None and masked items are missing."""
    smc = {"state_space": "local_level", "sigma2_eta": 1, "sigma2_eps": 2, "variance": 3, "quantiles": 0.5}
    for y, value in (({"1": [1, 2.5, -1]}, -6.4), (numpy.array([1, 2.5, -1], "f4"), -6.4), ({"day": ["a", "b", "c"], 0: [1, 2.5, -1]}, -6.4),
                     ([1, None, -1], -3.7), ({"y, m": [1, None, -1]}, -3.7), ({"y": numpy.ma.array([1, 2.5, -1], "f4", mask=[0, 1, 0])}, -3.7)):
        run = sluice.run({"run": {"particles": 300, "batch": 100}, "model": {"smc": dict(smc, observations=y)}},
                         out=tmp_path / "f", force=True)
        assert f"survivors, log likelihood {value}" in repr(run) and 0 < run.filter.standard_error < 1, run
        assert run.filter.steps["quantile_0.5_state_1"].shape == (3,) and len(list((tmp_path / "f").glob("*.csv"))) == 2
    refused(lambda: sluice.run({"model": {"smc": dict(smc, observations=[[1.0] * 7])}}), "USAGE", "has the shape (1, 7); it must")


def test_version_and_columns():
    assert sluice.version().startswith(f"sluice {sluice.__version__}\n")
    assert sluice.COLUMNS["x"] == ("float32", "cm", "position") and sluice.FATES[0] == "alive"


def test_the_steps_of_a_history(config, tmp_path):
    history = sluice.replay(config, 5)
    assert history == json.loads(cli("replay", config, "--id", "5", "--json", cwd=tmp_path))
    steps = history.steps
    assert len(steps) == len(history["history"]) == history["steps"] + 1
    assert list(steps["step"]) == list(range(len(steps))) and steps["event"][0] == "start"
    for name in ("x", "y", "z", "u", "v", "w", "weight", "time", "collisions"):
        assert steps.dtype[name] == sluice.COLUMNS[name].dtype and steps[name].tolist() == [row[name] for row in history["history"]]
    assert steps["fate"][-1] == history["fate"] == steps["event"][-1] and steps["fate"][0] == "alive"
    assert numpy.all(numpy.diff(steps["time"]) >= 0) and max(len(sluice.replay(SLAB, i).steps) for i in range(20)) > 3
