"""External models: built from their header where a configuration or an argument names it."""
import os
import shutil

import pytest
import sluice

from conftest import SOURCE

HEADER = str(SOURCE / "data/models/rod.h")
CONFIG = {"model": {"rod": {"mu": "1 /cm", "length": "4 cm"}}, "keep": "transmitted",
          "run": {"particles": 20000, "device": "cpu"}}

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="no cc")


def test_a_header_is_built_once_and_its_source_is_part_of_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NVCC", "")
    runs = [sluice.run(CONFIG, models=[HEADER]), sluice.run({**CONFIG, "models": [HEADER]})]
    assert abs(runs[0].fates["transmitted"].fraction - 1 / 3) < 4 * runs[0].fates["transmitted"].error
    assert (runs[0].survivors["steps"] == runs[1].survivors["steps"]).all()
    assert len(os.listdir(tmp_path / "sluice" / "models")) == 1
    assert "model_digest" in runs[0].report["config"]
    emulated = sluice.run(CONFIG, models=[HEADER], particles=500, device="emulated")
    loaded = sluice.run(CONFIG, particles=500)
    assert (emulated.survivors["time"] == loaded.survivors["time"]).all()
    with pytest.raises(sluice.Error, match="model_digest"):
        sluice.run(CONFIG, model_digest="0123")
