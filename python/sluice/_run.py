"""Runs and their results."""
from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from contextlib import contextmanager
from functools import partial
from typing import Any, Callable, Dict, Generator, Iterator, List, Mapping, NamedTuple, Optional, Union

import numpy

from . import _native
from ._arrays import Given
from ._column import array_of
from ._columns import Array, Batch, Header, Source, Survivors, html_table
from ._config import Config
from ._error import Error
from ._grids import Cells, Densities, edges_of, grids_of, listed, middles

Progress = Union[None, bool, Callable[[int, int, float, float], Any]]
START_NEW, START_RESUME, START_FORCE = 0, 1, 2


class Fate(NamedTuple):
    """The particles of a run that ended in one way."""

    count: int  # type: ignore[assignment]
    """Particles."""
    fraction: float
    """Their share of all particles; of the weight, where particles differ in weight."""
    error: float
    """The standard error of the fraction: binomial, or from the squares of the weights where particles differ in weight."""
    data: Dict[str, Any]
    """All numbers of this fate in run.json."""


class Tally(Densities):
    """A histogram of all particles by the value of a column.

    column   its name
    unit     of the column, '' without one
    edges    bins + 1 values in the unit, float64; centers: those of the bins
    volume   the sizes of the bins: areas of rings for r, widths for other columns (docs/tallies.md)
    density  fate -> mean per particle and volume, in density_unit; density_error: its standard error
    fates    fate -> dict with count (bins), mean and error per particle of the run (bins), under, over;
             and weight (bins) where particles differ in weight
    """

    def __init__(self, data: Mapping[str, Any]):
        self.column: str = data["column"]
        self.unit: str = data["unit"]
        self.edges: Array = edges_of(data)
        self.centers = middles(self.edges)
        self.volume = _doubles(data.get("volumes", []))
        self.density_unit = data.get("density_unit", "")
        self.fates: Dict[str, Dict[str, Any]] = {name: listed(row) for name, row in data["fates"].items()}

    def __repr__(self) -> str:
        return f"<Tally of {self.column}: {len(self.edges) - 1} bins, fates {', '.join(self.fates)}>"


class Filter:
    """The results of a particle filter (model smc): each batch of the run is a filter.

    log_likelihood       mean over the filters, standard_error: its standard error; nan if unknown
    deviation            of the log likelihood of one filter
    log_mean_likelihood  logarithm of the mean likelihood, which has no bias
    filters, particles, observations  numbers of filters, and in each filter
    steps                name -> array with an item per observation, means over the filters; name_error: their
                         standard errors. log_likelihood (of the observations so far), sample_size, resampled,
                         mean_state_1, variance_state_1, ... pandas.DataFrame(steps) is a table
    """

    def __init__(self, data: Mapping[str, Any]):
        self.filters: int = data["filters"]
        self.particles: int = data["particles"]
        self.observations: int = data["observations"]
        self.log_likelihood, self.standard_error, self.deviation, self.log_mean_likelihood = (
            math.nan if data.get(name) is None else float(data[name])
            for name in ("log_likelihood", "standard_error", "deviation", "log_mean_likelihood"))
        self.steps: Dict[str, Array] = {name: _doubles(values) for name, values in data.get("steps", {}).items()}

    def __repr__(self) -> str:
        return f"<Filter: {self}>"

    def __str__(self) -> str:
        return (f"log likelihood {self.log_likelihood:.9g} +- {self.standard_error:.2g}, {self.filters} filters of "
                f"{self.particles} particles, {self.observations} observations")


def _doubles(values: List[Optional[float]]) -> Any:
    return numpy.array(values, "f8")  # None is nan


def _tallies(report: Mapping[str, Any]) -> Dict[str, Tally]:
    """By column; the second histogram of z is z_2, as in NAME.tallies."""
    named: Dict[str, Tally] = {}
    for data in report["tallies"].get("histograms", []):
        tally, name, number = Tally(data), data["column"], 2
        while name in named:
            name, number = f"{tally.column}_{number}", number + 1
        named[name] = tally
    return named


def _fate(data: Dict[str, Any]) -> Fate:
    fraction = data["fraction" if "weight" in data else "weight_fraction"]  # those of a list count particles
    error = data["standard_error"]
    return Fate(data["count"], fraction, math.nan if error is None else error, data)


class Run:
    """The results of a run.

    fates      fate -> Fate: count, fraction and its standard error
    tallies    name -> Tally, the histograms of the configuration; and name -> Grid, its grids and scores
    filter     Filter: the likelihood and the steps of a particle filter; None of other models
    survivors  name -> array of shape (n,): the columns of all survivors, joined when they are used
    image      Column of shape (height, width), float64; None if the run makes no image
    joined     ParticleList: the joined file of the run (output.joined, output.order: run), read when
               it is used; None if the run has none
    report     run.json as a dict
    warnings   list of str: what makes the results incomplete, such as particles that reached
               transport.max_steps; run() and stream() also issue each as a RuntimeWarning
    state      'done', or 'stopped' by run.stop_before or by an interrupt; 'running' after open(), if the
               run works or was killed
    directory  of the files; None for a run in memory
    """

    def __init__(self, report: Dict[str, Any], survivors: Survivors, image: Any = None,
                 directory: Optional[str] = None, cells: Optional[Cells] = None):
        self.report = report
        self.survivors = survivors
        self.image = None if image is None else array_of(image)
        self.directory = directory
        self.state: str = report["state"]
        self.warnings: List[str] = report.get("warnings", [])
        self.fates: Dict[str, Fate] = {name: _fate(data) for name, data in report["tallies"]["fates"].items()}
        self.filter = Filter(report["filter"]) if "filter" in report else None
        self.tallies: Dict[str, Any] = {**_tallies(report), **grids_of(report, directory, cells)}

    @property
    def particles(self) -> int:
        """Particles that were generated."""
        return int(self.report["tallies"]["particles"])

    @property
    def _survived(self) -> int:
        return int(self.report["tallies"]["survivors"])

    @property
    def joined(self) -> Any:
        """The survivors of the joined file, in its order."""
        from ._files import read
        if self.directory is None or self.state != "done" or "joined" not in self.report:
            return None
        return read(os.path.join(self.directory, self.report["joined"]))

    def __repr__(self) -> str:
        return (f"<Run {self.report['name']}: {self.state}, {self.particles} particles, "
                f"{self._survived} survivors{f', {self.filter}' if self.filter else ''}>")

    def _repr_html_(self) -> str:
        seconds = self.report.get("times", {}).get("wall_seconds")
        title = f"{self.report['name']} ({self.report['model']}): {self.particles} particles, " \
                f"{self._survived} survivors, {self.state}"
        if seconds is not None:
            title += f", {seconds:.3g} s"
        if self.filter:
            title += f"; {self.filter}"
        rows = [(name, str(f.count), f"{f.fraction:.6g}", f"{f.error:.2g}") for name, f in self.fates.items()]
        return html_table(title, ("fate", "particles", "fraction", "standard error"), rows)


# --- jobs -----------------------------------------------------------------------------------------

def start(kind: str, path: str, text: Optional[str] = None, sets: Optional[List[str]] = None, *,
          inputs: Optional[List[str]] = None, in_memory: bool = False, keep_all: bool = False,
          begin: int = START_NEW, number: int = 0, full: bool = False, resident: bool = False) -> Any:
    """A job of the library, which works in a separate thread."""
    return _native.start(kind, path, text, tuple(sets or ()), tuple(inputs or ()), in_memory, keep_all, begin, number,
                         full, resident)


def _is_resident(arrays: str) -> bool:
    """Whether survivors stay on the device."""
    if arrays not in ("host", "device"):
        raise ValueError(f"arrays={arrays!r}: use 'host' or 'device'")
    return arrays == "device"


@contextmanager
def closing(job: Any, result: Callable[[], Any] = lambda: None) -> Iterator[None]:
    """Closes a job at the end; an Error gets the results that there are."""
    try:
        yield
    except Error as error:
        error.result = result()
        raise
    finally:
        job.close()


def follow(job: Any, report: Any = None) -> Iterator[Batch]:
    """Yields the batches of a job until its end, and reports its progress five times a second."""
    ended, told = False, -math.inf
    while not ended:
        ended, batch, progress = job.next(0.05)  # then handlers of signals run
        if report and progress[1] and (ended or time.monotonic() - told > 0.2):
            told = time.monotonic()
            report(*progress)
        if batch:
            yield Batch(*batch)


def finish(job: Any) -> Any:
    """Waits for a job without batches. (text, facts, stopped, image, counts, values, header)"""
    with closing(job):
        list(follow(job))
        return job.outcome()


def _report(text: str, in_memory: bool) -> Dict[str, Any]:
    report: Dict[str, Any] = json.loads(text)
    if in_memory:  # there are no files that these members could describe
        for batch in report["batches"]:
            batch.pop("file", None), batch.pop("bytes", None)
        report.pop("joined", None)
        if "image" in report:
            del report["image"]["png"], report["image"]["numbers"]
    return report


class _Bar:
    """Shows the progress with tqdm if it is installed, else as a line on a terminal."""

    def __init__(self) -> None:
        self.bar: Any = None
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
            self.bar = tqdm(unit=" particles", unit_scale=True, file=sys.stderr)
        except ImportError:
            pass

    def __call__(self, done: int, total: int, rate: float, seconds_left: float) -> None:
        if self.bar is not None:
            self.bar.total = total
            self.bar.update(done - self.bar.n)
        else:
            sys.stderr.write(f"\r{100 * done / total:5.1f} %  {rate * 1e-6:.2f} M particles/s")
            sys.stderr.flush()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
        else:
            sys.stderr.write("\n")


@contextmanager
def _reporter(progress: Progress) -> Iterator[Any]:
    """The function that gets the progress, or None."""
    if progress is not True:
        yield progress or None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


def _same(batch: Batch) -> Batch:
    return batch


def _survivors_in_memory(batches: List[Batch]) -> Survivors:
    names = list(batches[0]) if batches else []

    return Survivors(names, [Source(b.n, partial(_same, b)) for b in batches])


def _result(job: Any, batches: List[Batch], in_memory: bool) -> Optional[Run]:
    """The results of a job that has ended; None if it has none."""
    from ._files import survivors_of
    text, directory, _, image, counts, values, header = job.outcome()
    if text is None:
        return None
    report = _report(text, in_memory)
    if image is not None:
        image = image.reshape(report["image"]["pixels"][::-1])
    survivors = _survivors_in_memory(batches) if in_memory else survivors_of(directory)
    survivors.header = None if header is None else Header(header)
    return Run(report, survivors, image, None if in_memory else os.path.abspath(directory),
               None if values is None else (counts, values))


def run(config: Config, out: Union[None, str, "os.PathLike[str]"] = None, *, resume: bool = False,
        force: bool = False, progress: Progress = None, arrays: str = "host", **overrides: Any) -> Run:
    """Runs all batches of a configuration.

    config     path of a YAML file, YAML text (a str with a line break or ': '), or a dict. In place of the files
               of a list: {"list": {"arrays": columns}}, columns as for write_mcpl(); out then has them, too
    out        directory for the files that `sluice run` writes, with the same bytes; None: nothing is
               written, and the survivors are kept in memory
    resume     continue the run in out; start it if there is none
    force      replace the run in out
    progress   True: a bar (tqdm if it is installed); or a function of (particles done, particles,
               particles per second, seconds left, which is negative while it is unknown)
    arrays     "host"; or "device": a run on a GPU leaves the survivors in its memory, as stream() does
    overrides  settings: model__slab__g=0.9 sets model.slab.g; names of the section run need no prefix:
               particles=1e5, seed=2, threads=4, device="emulated"; a str is YAML: keep="w > 0.5"

    Raises Error. Ctrl-C discards the batches in flight; with out, those before are kept for resume=True.
    Runs in several threads take turns.
    """
    if out is None and (resume or force):
        raise ValueError("resume and force need a directory: run(config, out=...)")
    if out is not None and _is_resident(arrays):
        raise ValueError("arrays='device' is for runs in memory: leave out")
    if resume and force:
        raise ValueError("resume and force exclude each other")
    begin = START_RESUME if resume else START_FORCE if force else START_NEW
    with Given(config, overrides, out, force) as given:
        if out is not None:
            _native.start_writers()
            given.sets.append("output.to=" + json.dumps(os.fspath(out), ensure_ascii=False))
        job = start("run", *given.source, given.sets, in_memory=out is None, keep_all=True, begin=begin,
                    resident=_is_resident(arrays))
        batches: List[Batch] = []
        result = _whole(_work(job, progress, batches, out is None), batches)
    for text in result.warnings:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return result


def _work(job: Any, progress: Progress, batches: List[Batch], in_memory: bool) -> "Generator[Batch, None, Run]":
    """Yields the batches of a job, and returns its results with batches."""
    with closing(job, partial(_result, job, batches, in_memory)):
        with _reporter(progress) as report:
            yield from follow(job, report)
        result = _result(job, batches, in_memory)
        assert result is not None
        return result


def _whole(work: "Generator[Batch, None, Run]", batches: List[Batch]) -> Run:
    """The results with all batches."""
    while True:
        try:
            batches.append(next(work))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class Stream(Iterator[Batch]):
    """The batches of a run, as stream() yields them.

    result   after the last batch the results of the run, without survivors; until then None
    """

    def __init__(self, batches: "Generator[Batch, None, Run]"):
        self._batches = batches
        self.result: Optional[Run] = None

    def __next__(self) -> Batch:
        try:
            return next(self._batches)
        except StopIteration as end:
            if end.value:
                self.result = end.value
                for text in end.value.warnings:
                    warnings.warn(text, RuntimeWarning, stacklevel=2)
            raise StopIteration from None

    def close(self) -> None:
        """Ends the run."""
        self._batches.close()


def stream(config: Config, *, progress: Progress = None, arrays: str = "host", **overrides: Any) -> Stream:
    """Yields the batches of a run in order, with bounded memory; nothing is written.

        batches = sluice.stream("slab.yaml", particles=1e9)
        for batch in batches:
            ...
        batches.result.fates

    At most two finished batches wait for the loop; then the run waits. Leaving the loop, or close(),
    discards what is in flight. While a stream is open, its thread can start no other run. A wrong
    configuration is refused at once; the run starts at the first batch. Arguments as for run(). Raises Error.

    arrays="device" leaves the survivors in the memory of the GPU that computes them (device="cuda"): the last
    kernel of a batch writes each column to the memory that the caller gets. So no column is copied to the
    host, and on the device only columns with a single value are copied. A batch is complete when it is
    delivered, so that any CUDA stream can use it at once. Its memory lives as long as any view of it:
    torch.from_dlpack(batch["x"]), cupy.asarray(batch["x"]), jax.dlpack.from_dlpack(batch["x"]). It is then
    used for later batches, whose kernels wait for all work that the GPU has been given until then; so a
    view can be dropped while a kernel that reads it runs. On the emulated device, the arrays are in memory of
    the host.
    """
    resident = _is_resident(arrays)
    given = Given(config, overrides)
    finish(start("check", *given.source, given.sets, in_memory=True, resident=resident))
    return Stream(_stream(given, resident, progress))


def _stream(given: Given, resident: bool, progress: Progress) -> "Generator[Batch, None, Run]":
    with given:
        job = start("run", *given.source, given.sets, in_memory=True, resident=resident)
        return (yield from _work(job, progress, [], True))
