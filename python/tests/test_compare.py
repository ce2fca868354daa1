"""Comparisons of all backends."""
import json

import pytest

import sluice
from conftest import SLAB, SLOW, SOURCE, busy_seconds, cli
from test_process import interrupt_after

ANSWERS = ("where", "mode", "scan", "compact", "sort", "schedule", "answer")


def answers(rows):
    return [tuple(row[name] for name in ANSWERS) for row in rows]


def test_the_cases_and_answers_are_those_of_the_program(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sets = [word for key in ("run.particles=60", "run.batch=30", "tallies=[]", "key=[]") for word in ("--set", key)]
    expected = json.loads(cli("compare", config, *sets, "--json", cwd=tmp_path))
    found = sluice.compare(config, particles=60, batch=30, tallies=[], key=[])
    assert answers(found.rows) == answers(expected["rows"])
    assert found.same and found.report["particles"] == 60
    assert {row["where"] for row in found.rows} == {"host", "device"}
    assert found.rows[0]["without_output"]["particles_per_s"] > 0
    assert "naive" in repr(found) and repr(found) == found.text.rstrip("\n")
    assert found._repr_html_().count("<tr>") == len(found.rows) + 1
    assert [p.name for p in tmp_path.iterdir()] == ["slab.yaml"]


def test_a_case_that_differs_or_fails_is_not_the_same():
    rows = [{"answer": "same"}, {"answer": "differs", "story": "batch 0: x"}]
    assert not sluice.Comparison("", {"rows": rows}).same


def test_an_interrupt_ends_a_comparison_and_removes_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timer = interrupt_after(1.0)
    start = busy_seconds()
    with pytest.raises(KeyboardInterrupt):
        sluice.compare(SLOW, device="cpu")
    assert busy_seconds() - start < 4
    timer.join()
    assert list(tmp_path.iterdir()) == []
    assert sluice.run(SLAB).particles == 6000


def test_full_compares_more_particles_than_the_emulated_device_gets_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = dict(particles=20001, batch=20001, key=[], device="emulated", output__columns=["id"])
    found = sluice.compare(SOURCE / "data/configs/aperture.yaml", full=True, **small)
    assert found.same and found.report["particles"] == 20001


def test_what_cannot_be_compared_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sluice.Error, match="primitives.deflate: device is not compared") as caught:
        sluice.compare(SOURCE / "data/configs/demo.yaml", device="emulated", primitives__deflate="device")
    assert caught.value.status.name == "USAGE" and caught.value.result is None
    with pytest.raises(sluice.Error) as caught:
        sluice.compare(SLAB, sed=1)
    assert [p.key for p in caught.value.problems] == ["sed"]
