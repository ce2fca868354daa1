"""Errors: one exception with all problems as data, the statuses of the program, and its messages."""
import os
import subprocess

import pytest

import sluice
from conftest import PROGRAM, SLAB

WRONG = """\
run: {name: slab, particles: 6000}
model: {slab: {mu_a: 10, mu_s: 90 /cm, g: 7, thickness: 0.02 cm}}
keep: transmited
foo: 3
"""


def problems_of(*arguments, **keywords):
    with pytest.raises(sluice.Error) as caught:
        sluice.run(*arguments, **keywords)
    assert caught.value.status == ("USAGE", 2, "wrong command line, configuration or call")
    return caught.value.problems


def test_all_problems_with_their_places(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(WRONG)
    problems = problems_of(path)
    assert [(p.file, p.line, p.column, p.key) for p in problems] == [
        (str(path), 2, 22, "model.slab.mu_a"), (str(path), 2, 43, "model.slab.g"),
        (str(path), 3, 7, "keep"), (str(path), 4, 1, "foo")]
    assert problems[0].problem == "'10' has no unit" and problems[0].hint == "add /cm, /m or /mm"


def test_the_message_is_that_of_the_program(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(WRONG)
    printed = subprocess.run([PROGRAM, "plan", path], capture_output=True, text=True).stderr
    with pytest.raises(sluice.Error) as caught:
        sluice.plan(path)
    assert str(caught.value) == printed.rstrip("\n")


def test_text_dict_and_overrides():
    assert problems_of(WRONG)[0][:4] == ("<text>", 2, 22, "model.slab.mu_a")
    assert problems_of({"run": {"sed": 1}})[0].file == "<dict>"
    assert all(p.line is None for p in problems_of({"run": {"sed": 1}}))
    problem = problems_of(SLAB, seed="x", modle=1)
    assert [(p.file, p.key) for p in problem] == [(None, "run.seed"), (None, "modle")]
    assert str(problem[0]).startswith("override: run.seed: 'x' is not")


def test_yaml_that_cannot_be_parsed():
    problem, = problems_of("run: {name: slab\nmodel: [")
    assert problem.file == "<text>" and problem.line and problem.key == ""


@pytest.mark.parametrize("call, name, code", [
    (lambda folder: sluice.run(folder / "missing.yaml"), "USAGE", 2),
    (lambda folder: sluice.read(folder / "missing.h5"), "DISK", 4),
    (lambda folder: sluice.read(folder / "damaged.npz"), "BAD_INPUT", 3),
    (lambda folder: sluice.read(folder / "damaged.mcpl"), "BAD_INPUT", 3),
    (lambda folder: sluice.verify(folder), "DISK", 4),
    (lambda folder: sluice.info(folder / "damaged.h5"), "BAD_INPUT", 3),
    (lambda folder: sluice.convert(folder / "damaged.npz", folder / "to.h5"), "BAD_INPUT", 3),
    (lambda folder: sluice.run(SLAB, device="cuda:99"), "NO_DEVICE", 8),
])
def test_statuses(tmp_path, call, name, code):
    for suffix in ("npz", "h5", "mcpl"):
        (tmp_path / f"damaged.{suffix}").write_bytes(b"no file of this format" * 100)
    with pytest.raises(sluice.Error) as caught:
        call(tmp_path)
    assert (caught.value.status.name, caught.value.status.code) == (name, code), str(caught.value)
    assert str(caught.value) and caught.value.result is None


def test_a_failed_check_keeps_the_result(tmp_path):
    for out in (None, tmp_path / "run"):
        with pytest.raises(sluice.Error, match="check.transmitted") as caught:
            sluice.run(SLAB, out=out, check__transmitted=0.1)
        assert caught.value.status.name == "CHECK_FAILED"
        result = caught.value.result
        assert result.particles == 6000 and len(result.survivors["x"]) == result.survivors.n


def test_wrong_arguments(tmp_path):
    with pytest.raises(TypeError):
        sluice.run(17)
    with pytest.raises(TypeError):
        sluice.convert([], tmp_path / "to.h5", output__level=None)
    with pytest.raises(ValueError):
        sluice.convert([], tmp_path / "to.h5", **{f"key{i}": 1 for i in range(65)})
    with pytest.raises(FileNotFoundError):
        sluice.open(tmp_path / "missing")
    with pytest.raises(UnicodeEncodeError):
        sluice.read("\udc80")
    assert os.listdir(tmp_path) == []
