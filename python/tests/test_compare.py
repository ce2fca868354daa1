"""Comparisons of all backends."""
import json

import pytest

import sluice
from conftest import SLAB, SOURCE, cli, refused

ANSWERS = ("where", "mode", "scan", "compact", "sort", "schedule", "answer")


def test_the_cases_and_answers_are_those_of_the_program(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = ("run.device=cpu", "run.particles=60", "run.batch=30", "tallies=[]", "key=[]")
    sets = [word for key in keys for word in ("--set", key)]
    expected = json.loads(cli("compare", config, *sets, "--json", cwd=tmp_path))
    found = sluice.compare(config, device="cpu", particles=60, batch=30, tallies=[], key=[])
    for row, right in zip(found.rows, expected["rows"], strict=True):
        assert [row[name] for name in ANSWERS] == [right[name] for name in ANSWERS]
    assert found.same and found.report["particles"] == 60
    assert found.rows[0]["without_output"]["particles_per_s"] > 0
    assert "cpu_scan" in repr(found) and repr(found) == found.text.rstrip("\n")
    assert found._repr_html_().count("<tr>") == len(found.rows) + 1
    assert [p.name for p in tmp_path.iterdir()] == ["slab.yaml"]
    rows = [{"answer": "same"}, {"answer": "differs", "story": "batch 0: x"}]
    assert not sluice.Comparison("", {"rows": rows}).same


def test_full_compares_more_particles_than_the_emulated_device_gets_by_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small = dict(particles=20001, batch=20001, key=[], device="emulated", output__columns=["id"])
    found = sluice.compare(SOURCE / "data/configs/aperture.yaml", full=True, **small)
    assert found.same and found.report["particles"] == 20001


def test_what_cannot_be_compared_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(lambda: sluice.compare(SOURCE / "data/configs/demo.yaml", device="emulated", primitives__deflate="device"),
            "USAGE", "primitives.deflate: device is not compared")
    with pytest.raises(sluice.Error) as caught:
        sluice.compare(SLAB, sed=1)
    assert [p.key for p in caught.value.problems] == ["sed"]
