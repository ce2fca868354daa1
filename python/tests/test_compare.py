"""Comparisons of all backends."""
import pytest

import sluice
from conftest import SLAB, SOURCE, refused


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Comparisons write next to the working directory, and remove what they write."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_a_comparison():
    found = sluice.compare(SLAB, device="cpu", particles=60, batch=30, tallies=[], key=[])
    cases = [(row["where"], row["compact"], row["schedule"], row["answer"]) for row in found.rows]
    assert ("host", "cpu_scan", "history", "same") in cases and len(set(cases)) == len(cases) > 2
    assert found.same and found.report["particles"] == 60
    assert found.rows[0]["without_output"]["particles_per_s"] > 0
    assert "cpu_scan" in repr(found) and repr(found) == found.text.rstrip("\n")
    assert found._repr_html_().count("<tr>") == len(found.rows) + 1
    rows = [{"answer": "same"}, {"answer": "differs", "message": "batch 0: x"}]
    assert not sluice.Comparison("", {"rows": rows}).same


def test_full_compares_all_particles_on_the_emulated_device():
    """By default it gets the first 20,000, which need less memory."""
    refused(lambda: sluice.compare(SOURCE / "data/configs/aperture.yaml", full=True, device="emulated",
                                   particles=2 ** 31, batch=2 ** 31, threads=64), "HOST_MEMORY")


def test_what_cannot_be_compared_is_refused():
    refused(lambda: sluice.compare(SOURCE / "data/configs/demo.yaml", device="emulated", primitives__deflate="device"),
            "USAGE", "primitives.deflate: device is not compared")
    with pytest.raises(sluice.Error) as caught:
        sluice.compare(SLAB, sed=1)
    assert [p.key for p in caught.value.problems] == ["sed"]
