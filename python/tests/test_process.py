"""What runs do to the process: interrupts, threads, forks, open files, memory, the end of the interpreter."""
import concurrent.futures
import gc
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import sluice
from conftest import ENDLESS, SLAB, SLOW, busy_seconds, files_of, in_threads, refused
from sluice._run import start

# Shells start programs in the background with SIGINT ignored; Python then leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(call):
    """Calls it and interrupts it after 0.6 s, while it computes; it must end at once."""
    timer = threading.Timer(0.6, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = busy_seconds()
    with pytest.raises(KeyboardInterrupt):
        call()
    assert busy_seconds() - start < 3
    timer.join()


def python(code, *words, ends=0, **options):
    """What another interpreter prints that executes the code and ends with that exit code, without an error or a warning."""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", code, *map(str, words)], capture_output=True, text=True,
                          timeout=300, **options)
    assert done.returncode == ends and done.stderr == "", done.stderr
    return done.stdout


# --- interrupts -----------------------------------------------------------------------------------

@pytest.mark.parametrize("call", [
    lambda: sluice.run(SLOW),
    lambda: list(sluice.stream(SLOW)),
    lambda: sluice.compare(SLOW, device="cpu"),
    # its pilot is short, and one batch takes longer than the time allowed
    lambda: list(sluice.stream(SLAB, batch=3e7, output__columns=["id"], **ENDLESS))])
def test_an_interrupt_ends_a_run_at_once(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    interrupted(call)
    assert list(tmp_path.iterdir()) == []
    assert sluice.run(SLAB).particles == 6000  # the interpreter and the library are usable


def test_an_interrupted_run_can_be_resumed(tmp_path):
    interrupted(lambda: sluice.run(SLAB, out=tmp_path / "run", particles=3e8, batch=2000, tallies=[]))
    stopped = sluice.open(tmp_path / "run")
    assert stopped.state == "stopped" and stopped.particles > 0
    assert not list((tmp_path / "run").glob("*.part"))
    # the batches that were committed are those of an uninterrupted run
    names = sorted(p.name for p in (tmp_path / "run").glob("*.h5"))[:2]
    whole = sluice.stream(SLAB, particles=3e6, batch=2000, tallies=[])
    for name, batch in zip(names, whole):
        assert (sluice.read(tmp_path / "run" / name)["x"] == batch["x"]).all()
    whole.close()


def test_a_handler_that_raises_and_one_that_does_not():
    class Alarm(Exception):
        pass

    def raise_alarm(number, frame):
        raise Alarm

    seen = []
    old = signal.signal(signal.SIGALRM, raise_alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Alarm):
            sluice.run(SLOW)
        signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        result = sluice.run(SLAB, particles=4e6, batch=1e5, output__columns=["id"])
        assert result.particles == 4 * 10**6 and seen == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, old)


def test_an_exception_of_the_progress_ends_the_run():
    def fail(*state):
        raise RuntimeError("enough")

    start = busy_seconds()
    with pytest.raises(RuntimeError, match="enough"):
        sluice.run(SLAB, particles=1e9, tallies=[], keep="transmitted and w < -2", progress=fail)
    assert busy_seconds() - start < 3  # also if batches come all the time


# --- streams --------------------------------------------------------------------------------------

def test_a_stream_that_is_left_ends_its_run():
    for batch in sluice.stream(SLAB, **ENDLESS):
        break
    assert sluice.run(SLAB).particles == 6000
    stream = sluice.stream(SLAB, **ENDLESS)
    next(stream)
    refused(lambda: sluice.run(SLAB), "USAGE", "open stream")
    next(stream)  # the stream goes on
    stream.close()
    assert sluice.run(SLAB).particles == 6000


# --- threads and processes ------------------------------------------------------------------------

def test_the_interpreter_goes_on_during_a_run():
    ticks, done = [], threading.Event()

    def run():
        sluice.run(SLAB, particles=2e6, batch=1e5, output__columns=["id"])
        done.set()

    def tick():
        while not done.wait(0.005):
            ticks.append(1)
    in_threads([run, tick])
    assert len(ticks) > 10


def test_runs_of_several_threads_take_turns():
    expected = [b["digests"] for b in sluice.run(SLAB).report["batches"]]
    results = []

    def work():
        for _ in range(5):
            results.append([b["digests"] for b in sluice.run(SLAB).report["batches"]])

    in_threads([work] * 4)
    assert results == [expected] * 20


def test_a_stream_whose_loop_waits_for_another_thread():
    stream = sluice.stream(SLAB, **ENDLESS)
    next(stream)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for call in [pool.submit(sluice.run, SLAB), pool.submit(sluice.scan, numpy.zeros(4, "u4"), device="emulated")]:
            refused(call.result, "USAGE", "another thread has an open stream whose loop has taken no batch for 10 s")
        next(stream)  # the stream goes on
        stream.close()
        assert pool.submit(sluice.run, SLAB).result().particles == 6000


def test_two_threads_and_one_job():
    """While one waits for a batch, the other can neither wait for it nor free the run."""
    job, taken = start("run", "<text>", SLAB, ["run.particles=1e9", "run.batch=2e6"], in_memory=True), []
    thread = threading.Thread(target=lambda: taken.append(job.next(60)))
    thread.start()
    time.sleep(0.05)
    for call in (lambda: job.next(60), job.close):
        with pytest.raises(RuntimeError, match="another thread waits"):
            call()
    thread.join()
    assert not taken[0][0] and taken[0][1][0] == 0
    job.close()
    with pytest.raises(RuntimeError, match="the run is closed"):
        job.next(1)


def test_a_fork_can_run_and_sort_too(tmp_path):
    sluice.run(SLAB, out=tmp_path / "parent")
    keys = numpy.arange(1000, dtype=numpy.uint32)[::-1].copy()
    sluice.sort(keys)  # its memory is kept for the next call
    stream = sluice.stream(SLAB, **ENDLESS)
    next(stream)
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # a child that waits for a thread of the parent would wait forever
        try:
            stream.close()  # its thread is not in this process
            sluice.run(SLAB, out=tmp_path / "child")
            os._exit(not numpy.array_equal(sluice.sort(keys), numpy.sort(keys)))
        except BaseException as error:  # the exit code is all that the parent sees
            print(error, file=sys.stderr)
            os._exit(1)
    stream.close()
    assert os.waitpid(child, 0)[1] == 0
    sluice.run(SLAB, out=tmp_path / "parent2")
    assert files_of(tmp_path / "child") == files_of(tmp_path / "parent") == files_of(tmp_path / "parent2")


def test_writer_processes_keep_no_files_of_the_process_open(tmp_path):
    """A pipe that is open when they are forked ends when this process closes it."""
    python("""\
import os, sys, sluice
reading, writing = os.pipe()
sluice.run(*sys.argv[1:])
os.close(writing)
assert os.read(reading, 1) == b""
""", SLAB, tmp_path / "run")


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise SystemExit(3)"])
def test_the_end_of_the_interpreter_with_an_open_stream(end):
    python(f"""\
import sys, sluice, time
stream = sluice.stream({SLAB!r}, particles=1e9, tallies=[])
batch = next(stream)
view = memoryview(batch.column("x"))
time.sleep(0.3)  # the queue is full, and the run waits
{end}
""", ends=3 if end else 0)


@pytest.mark.parametrize("first", ["main", "sub"])
def test_a_subinterpreter_cannot_import_the_package(first):
    """Nor does its end disturb the main interpreter."""
    module = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    pytest.importorskip(module)
    python(f"""\
import {module} as interpreters
if {first == "main"}:
    import sluice
for _ in range(2):
    sub = interpreters.create()
    try:
        failed = interpreters.run_string(sub, "import sluice")
    except Exception as error:
        failed = error
    assert "ImportError" in str(failed) and "subinterpreter" in str(failed), failed
    interpreters.destroy(sub)
import sluice
assert sluice.run({SLAB!r}).particles == 6000
stream = sluice.stream({SLAB!r})
next(stream)
assert list(sluice.compact(bytearray(b"\\1\\0\\1"))) == [0, 2]
""")


# --- the locale -----------------------------------------------------------------------------------

# Each function of the package that prints or reads numbers.
CALLS = """\
import array, locale, sluice
point = locale.localeconv()["decimal_point"] if locale.setlocale(locale.LC_ALL, "") else ""
slab = {"model": {"slab": {"mu_a": "10.5 /cm", "mu_s": "90.25 /cm", "g": 0.75, "thickness": "0.02 cm"}},
        "run": {"particles": 3000, "batch": 1000}, "keep": "transmitted and w > 0.5", "key": ["w:16"],
        "tallies": ["w:8:-0.5..0.75:transmitted", "[deposit, r:20:0 mm..5.5 mm, z:20]"],
        "output": {"format": "csv", "joined": True}}
run = sluice.run(slab, out="c")
print(run.fates, run.report["tallies"], run.report["config"], sluice.verify("c"))
print(sluice.convert(["c"], "c.mcpl", output__mcpl__energy="2.5 eV"), sluice.info("c.mcpl", 3), sluice.replay(slab, 2))
print([line for line in sluice.info("c").splitlines() if "rate" not in line], sluice.read("c/run.csv").n)
sluice.write_mcpl("w.mcpl.gz", {k: array.array("d", [0.5] * 3) for k in "xyz"}, u=0, v=0, w=1, energy=1.5, weight=0.5,
                  time=0.25, pdg=22, comment="stat:sum:sim:" + "1.5e16".rjust(24))
run = sluice.run({"model": {"list": {"files": ["w.mcpl.gz"]}}, "keep": "listed and z > 0.2 cm",
                  "output": {"format": "mcpl", "joined": True}}, out="l")
print(run.report["tallies"], sluice.info("w.mcpl.gz", 3), sluice.info("l"))
x = array.array("d", [0.5, 1.5e300])
for call in (lambda: sluice.filter({"x": x}, "x > 0.5 cm"), lambda: sluice.write_mcpl("x.mcpl", {"x": x}, energy=-1.5),
             lambda: sluice.plan({**slab, "keep": "w > 0,5"}), lambda: sluice.plan({**slab, "check": {"sigma": -0.5}})):
    try:
        call()
    except (sluice.Error, TypeError) as error:
        print(error)
print(point, locale.str(1.5))
"""
COMMA = 'LC_NUMERIC\ndecimal_point ","\nthousands_sep "."\ngrouping 3;3\nEND LC_NUMERIC\n'


def test_no_locale_changes_a_number(tmp_path):
    """The same texts and files as in the locale C. The program never leaves that one."""
    (tmp_path / "source").write_text(COMMA)
    subprocess.run(["localedef", "-c", "-i", "source", "-f", "ANSI_X3.4-1968", "comma"], cwd=tmp_path, capture_output=True)
    if not (tmp_path / "comma/LC_NUMERIC").exists():
        pytest.skip("localedef makes no locale; install libc-bin and locales")
    found = {}
    for name in ("C", "comma"):
        folder = tmp_path / ("in_" + name)
        folder.mkdir()
        printed = python(CALLS, cwd=folder, env={**os.environ, "LOCPATH": str(tmp_path), "LC_ALL": "", "LC_NUMERIC": name})
        *lines, last = re.sub(r"'figure_of_merit': [^,}]*", "", printed).splitlines()
        assert last == (", 1,5" if name == "comma" else ". 1.5")
        found[name] = lines, {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*")
                              if p.is_file() and p.name not in ("run.json", "LOCK")}
    assert len(found["C"][0]) > 50 and len(found["C"][1]) > 8 and found["C"] == found["comma"]


# --- memory ---------------------------------------------------------------------------------------

def test_runs_leak_nothing():
    def one(i):
        result = sluice.run(SLAB, seed=i, particles=3e4, batch=5000)
        numpy.from_dlpack(result.survivors.column("x"))
        result.survivors.column("x").__dlpack__()
        for batch in sluice.stream(SLAB, particles=3000):
            if batch.number == 1:
                break
        with pytest.raises(sluice.Error):
            sluice.run(SLAB, seed="x")

    def used():
        """Resident bytes, blocks of Python's allocator, open files."""
        gc.collect()
        resident = int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return resident, sys.getallocatedblocks(), len(os.listdir("/proc/self/fd"))

    # A leak adds something in every round; caches of the interpreter and of the allocator fill up. A column that is
    # lost in each run takes 8 MB per round; arenas of new threads take some MB.
    one(0)  # opens what stays open
    before, rounds = used(), []
    while len(rounds) < 5 and not (rounds and rounds[-1][0] < 4 << 20 and rounds[-1][1] < 100):
        for i in range(60):
            one(i)
        after = used()
        rounds.append([b - a for a, b in zip(before, after)])
        before = after
    assert rounds[-1][0] < 4 << 20 and rounds[-1][1] < 100, rounds
    assert all(files == 0 for _, _, files in rounds), rounds
    assert threading.active_count() == 1 and len(os.listdir("/proc/self/task")) == 1
