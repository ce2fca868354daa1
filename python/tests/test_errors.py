"""Errors: one exception with all problems as data, the statuses of the program, and its messages."""
import array
import os
import re
import subprocess
from types import SimpleNamespace

import numpy
import pytest

import sluice
from conftest import PROGRAM, SLAB, refused

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


def test_all_problems_with_their_places_and_the_message_of_the_program(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(WRONG)
    problems = problems_of(path)
    assert [(p.file, p.line, p.column, p.key) for p in problems] == [
        (str(path), 2, 22, "model.slab.mu_a"), (str(path), 2, 43, "model.slab.g"),
        (str(path), 3, 7, "keep"), (str(path), 4, 1, "foo")]
    assert problems[0].problem == "'10' has no unit" and problems[0].hint == "add /cm, /m or /mm"
    printed = subprocess.run([*PROGRAM, "plan", path], capture_output=True, text=True).stderr
    assert refused(lambda: sluice.plan(path)) == printed.rstrip("\n")


def test_text_dict_and_overrides():
    assert problems_of(WRONG)[0][:4] == ("<text>", 2, 22, "model.slab.mu_a")
    assert problems_of({"run": {"sed": 1}})[0].file == "<dict>"
    assert all(p.line is None for p in problems_of({"run": {"sed": 1}}))
    problem = problems_of(SLAB, seed="x", modle=1)
    assert [(p.file, p.key) for p in problem] == [(None, "run.seed"), (None, "modle")]
    assert str(problem[0]).startswith("override: run.seed: 'x' is not")
    problem, = problems_of("run: {name: slab\nmodel: [")
    assert problem.file == "<text>" and problem.line and problem.key == ""


STATUSES = [
    (lambda folder: sluice.run(folder / "missing.yaml"), "USAGE", 2),
    (lambda folder: sluice.read(folder / "missing.h5"), "DISK", 4),
    (lambda folder: sluice.read(folder / "damaged.npz"), "BAD_INPUT", 3),
    (lambda folder: sluice.read(folder / "damaged.mcpl"), "BAD_INPUT", 3),
    (lambda folder: sluice.verify(folder), "DISK", 4),
    (lambda folder: sluice.open(folder), "DISK", 4),
    (lambda folder: sluice.open(folder / "damaged.npz"), "DISK", 4),
    (lambda folder: sluice.stream(SLAB, model__slab__gg=1), "USAGE", 2),
    (lambda folder: sluice.info(folder / "damaged.h5"), "BAD_INPUT", 3),
    (lambda folder: sluice.convert(folder / "damaged.npz", folder / "to.h5"), "BAD_INPUT", 3),
    (lambda folder: sluice.run(SLAB, device="cuda:99"), "NO_DEVICE", 8)]


def test_statuses(tmp_path):
    for suffix in ("npz", "h5", "mcpl"):
        (tmp_path / f"damaged.{suffix}").write_bytes(b"no file of this format" * 100)
    for call, name, code in STATUSES:
        with pytest.raises(sluice.Error, match=".") as caught:
            call(tmp_path)
        assert (caught.value.status.name, caught.value.status.code, caught.value.result) == (name, code, None)


def test_messages_are_those_of_python(tmp_path):
    """They name arguments, not options, and what to use instead."""
    sluice.run(SLAB, out=tmp_path / "run")
    (tmp_path / "list.txt").write_text("")
    for text, call in [("force=True", lambda: sluice.run(SLAB, out=tmp_path / "run")),
                       ("use read() for a file", lambda: sluice.open(tmp_path / "list.txt")),
                       ("name the directory of a run", lambda: sluice.open(tmp_path / "none"))]:
        with pytest.raises(sluice.Error, match=re.escape(text)) as caught:
            call()
        assert "--" not in str(caught.value)
    survivors, none = (sluice.run(SLAB, **more).survivors for more in ({}, {"columns": []}))
    for table, use in ((survivors, "id, x, y, u"), (next(survivors.batches()), "id, x, y, u"), (none, "a run that keeps")):
        with pytest.raises(KeyError, match=f"no column 'X'; use {use}"):
            table["X"]
    with pytest.raises(sluice.Error, match="astype.. does not keep the order of negative numbers"):
        sluice.sort(numpy.zeros(3, "f4"))
    with pytest.raises(TypeError, match="use read"):
        sluice.filter("list.mcpl")


class Quantity:
    """As of pint."""
    units = type("Units", (), {"__format__": lambda self, form: {"~C": "\u00b5m"}[form]})()

    def __init__(self, magnitude):
        self.magnitude = magnitude


def test_quantities_and_tables_of_other_libraries(tmp_path):
    texts = [sluice.plan(SLAB, model__slab__thickness=t).text for t in (Quantity(numpy.float64(200)), "200 um")]
    assert len({re.sub(r"[0-9.]+ .iB free", "", text.split("estimate")[0]) for text in texts}) == 1
    for thickness in ([Quantity(100), Quantity(50.5)], Quantity(numpy.array([100, 50.5]))):
        layers = dict(mu_a=["1 /cm"] * 2, mu_s=["9 /cm"] * 2, thickness=thickness)
        assert sluice.run({"run": {"name": "a", "particles": 10}, "keep": "absorbed", "model": {"slab": layers}}).particles == 10
    frame = type("DataFrame", (), {"columns": ["x"], "__getitem__": lambda self, name: numpy.arange(5, dtype="f4")})()
    assert sluice.filter(frame, "x > 1.5 cm").n == 3
    sluice.write_mcpl(tmp_path / "a.mcpl", frame, y=0.0, z=0.0, u=1.0, v=0.0, w=0.0, energy=1.0, time=0.0, weight=1.0, pdg=22)
    assert numpy.array_equal(sluice.read(tmp_path / "a.mcpl")["x"], frame["x"])
    run = sluice.run(SLAB)
    assert sluice.filter(run, "w > 0.5").n == sluice.filter(run.survivors, "w > 0.5").n > 0


def test_a_failed_check_keeps_the_result(tmp_path):
    for out in (None, tmp_path / "run"):
        with pytest.raises(sluice.Error, match="check.transmitted") as caught:
            sluice.run(SLAB, out=out, check__transmitted=0.1)
        assert caught.value.status.name == "CHECK_FAILED"
        result = caught.value.result
        assert result.particles == 6000 and len(result.survivors["x"]) == result.survivors.n


def test_wrong_arguments(tmp_path):
    to = tmp_path / "to.h5"
    for error, call in [(TypeError, lambda: sluice.run(17)), (ValueError, lambda: sluice.run({"nphoton": 1, "prop": []})),
                        (TypeError, lambda: sluice.convert("a.mcpl", to, output__level=None)), (ValueError, lambda: sluice.convert([], to)),
                        (ValueError, lambda: sluice.convert("a.mcpl", to, **{f"key{i}": 1 for i in range(65)})),
                        (TypeError, lambda: sluice.filter("list.mcpl")), (TypeError, lambda: sluice.filter({}, numpy.ones(3))), (TypeError, lambda: sluice.write_mcpl(to, 3)),
                        (UnicodeEncodeError, lambda: sluice.read("\udc80")), (ValueError, lambda: sluice.info("list.mcpl", head=-1)),
                        (ValueError, lambda: sluice.write_mcpl(to, {}, precision="half")),
                        (TypeError, lambda: sluice.write_mcpl(to, {}, colour=1)),
                        (KeyError, lambda: sluice.write_mcpl(to, {}, userflags="id")),
                        (BufferError, lambda: sluice.write_mcpl(to, {"x": SimpleNamespace(__cuda_array_interface__={})}))]:
        with pytest.raises(error):
            call()
    assert os.listdir(tmp_path) == []


NUL = [
    lambda: sluice.plan(SLAB, keep="transmitted\0 and w > 0.5"),
    lambda: sluice.plan(SLAB, **{"keep\0x": "transmitted"}),
    lambda: sluice.plan(SLAB + "\0"), lambda: sluice.plan("x\0.yaml"), lambda: sluice.replay("x\0.yaml", 1),
    lambda: sluice.compare("x\0.yaml"), lambda: sluice.stream("x\0.yaml").__next__(), lambda: sluice.open("x\0"),
    lambda: sluice.read("x\0.h5"), lambda: sluice.info("x\0"), lambda: sluice.verify("x\0"),
    lambda: sluice.convert("x\0", "y.mcpl"), lambda: sluice.convert("x", "y\0.mcpl"),
    lambda: sluice.convert("x", "y.mcpl", output__mcpl__pdg="22\0"), lambda: sluice.write_mcpl("x\0.mcpl", {}),
    lambda: sluice.write_mcpl("x.mcpl", {}, comment=["a", "a\0b"]), lambda: sluice.scan(b"", backend="cpu\0"),
    lambda: sluice.filter({"x": b""}, device="emulated\0")]


def test_texts_with_a_null_character():
    """They are refused as by open(), or as a value of a configuration: none is cut."""
    for i, call in enumerate(NUL):
        with pytest.raises(ValueError, match="embedded null"):
            print(i, call())
    for wrong in ({"keep": "transmitted\0 and w > 0.5"}, {"run": {"name": "a\0b"}}, {"output": {"to": "a\0"}},
                  {"model": {"list": {"files": ["a\0.mcpl"]}}}, {"key": ["w:16\0"]}):
        refused(lambda: sluice.plan(wrong), "USAGE", "contains a NUL character")
    refused(lambda: sluice.filter({"x": b""}, "x > 0 cm\0 and y > 0 cm"), "USAGE", "contains a NUL character")
    refused(lambda: sluice.plan({"keep\0": "transmitted"}), "USAGE", "a key must be a plain word")


@pytest.mark.parametrize("wrong, error", [
    (2 ** 64 + 5, OverflowError), (2 ** 70, OverflowError), (-1, (OverflowError, ValueError)),
    (-2 ** 64, (OverflowError, ValueError)), (1.5, TypeError), ("3", TypeError), (None, TypeError)])
def test_integers_out_of_range(wrong, error):
    """None is taken modulo a power of two, or cut."""
    for call in (lambda: sluice.replay(SLAB, wrong), lambda: sluice.info("x.mcpl", wrong)):
        with pytest.raises(error, match=None if error is TypeError else "out of range|at least 0"):
            call()
    for key in ("particles", "seed", "batch", "threads", "slots"):
        if isinstance(wrong, (int, float)):
            with pytest.raises(sluice.Error, match="is too large|is negative|fractional part"):
                sluice.plan(SLAB, **{key: wrong})
    for name in ("begin_bit", "end_bit"):
        if name == "begin_bit" or wrong is not None:
            with pytest.raises((OverflowError, ValueError, TypeError)):
                sluice.sort(array.array("I", [1, 2]), **{name: wrong})
    with pytest.raises((OverflowError, TypeError, sluice.Error)):
        sluice.deflate(b"abc", level=wrong)


def test_integers_of_numpy_and_the_largest():
    assert sluice.replay(SLAB, numpy.uint64(5))["id"] == sluice.replay(SLAB, 5)["id"] == 5
    refused(lambda: sluice.replay(SLAB, 2 ** 64 - 1), "USAGE", "18446744073709551615: the run has no such particle")
