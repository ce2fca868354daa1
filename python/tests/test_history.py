"""The steps of a history as a structured array."""
import json

import numpy

import sluice
from conftest import SLAB, cli


def test_steps(config, tmp_path):
    history = sluice.replay(config, 5)
    assert history == json.loads(cli("replay", config, "--id", "5", "--json", cwd=tmp_path))
    steps = history.steps
    assert len(steps) == len(history["history"]) == history["steps"] + 1
    assert list(steps["step"]) == list(range(len(steps))) and steps["event"][0] == "start"
    for name in ("x", "y", "z", "u", "v", "w", "weight", "time", "collisions"):
        assert steps.dtype[name] == sluice.COLUMNS[name].dtype
        assert steps[name].tolist() == [row[name] for row in history["history"]]
    assert steps["fate"][-1] == history["fate"] == steps["event"][-1]
    assert numpy.all(numpy.diff(steps["time"]) >= 0) and steps["fate"][0] == "alive"


def test_steps_of_a_long_history():
    histories = [sluice.replay(SLAB, i).steps for i in range(20)]
    assert max(map(len, histories)) > 3
