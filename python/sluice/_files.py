"""Plans, and the commands that read files."""
from __future__ import annotations

import json
import math
import os
from functools import partial
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy

from . import _config, _native
from ._arrays import Given
from ._columns import Batch, FileColumns, Header, ParticleList, Source, Survivors
from ._config import Config
from ._error import Error
from ._run import START_FORCE, START_NEW, Run, finish, start

Path = Union[str, "os.PathLike[str]"]


def example(name: str) -> str:
    """The path of an example configuration: sluice.run(sluice.example("vandehulst"), particles=1e5)."""
    folder = os.path.join(os.path.dirname(__file__), "configs")
    path = os.path.join(folder, name + ".yaml")
    if not os.path.isfile(path) or os.path.basename(name) != name:
        names = ", ".join(sorted(file[:-5] for file in os.listdir(folder) if file.endswith(".yaml")))
        raise ValueError(f"there is no example {name!r}; use {names}")
    return path


class Plan:
    """What a run would do.

    particles, batch, batches    sizes of the run
    host_bytes, device_bytes     memory that the run takes
    disk_bytes, disk_expected    upper bound of its files before compression; as a pilot predicts them
    warnings                     list of str: what does not prevent the run, such as a disk that may be too small
    device, threads              what computes: 'cpu' or the name of a device
    directory                    of the files, if run() is called with out
    text                         the text of `sluice plan`
    """

    particles: int
    batch: int
    batches: int
    host_bytes: int
    device_bytes: int
    disk_bytes: int
    disk_expected: int
    warnings: List[str]
    device: str
    threads: int
    directory: str

    def __init__(self, text: str, facts: Dict[str, Any]):
        self.text = text
        self.__dict__.update(facts)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")


def plan(config: Config, **overrides: Any) -> Plan:
    """What a run would do, and whether it fits in memory and on the disk; computes a pilot only.

    Arguments as for run(). Raises Error for everything that run() would refuse before its first batch.
    """
    with Given(config, overrides) as given:
        printed, facts, *_ = finish(start("plan", *given.source, given.sets))
    return Plan(printed, json.loads(facts))


class History(Dict[str, Any]):
    """The members of what `sluice replay --json` prints; "history" has one dict for each step.

    steps is the same as an array: positions are in cm, times in ns, energies in keV.
    """

    @property
    def steps(self) -> Any:
        """Structured array of NumPy of shape (steps + 1,): step, event, the columns of the model, fate.

        Columns have the types of COLUMNS, event and fate are text. The first item is the start. Of a
        filter it also has slot, and an item more for each resampling.
        """
        rows = self["history"]
        types = {name: dtype for name, dtype, _, _ in _native.column_facts()}
        types.update(step="uint64", slot="uint32", event="U32", fate="U32")
        names = [name for name in rows[0] if name in types]
        made = numpy.zeros(len(rows), [(name, types[name]) for name in names])
        for name in names:
            made[name] = [numpy.nan if row[name] is None else row[name] for row in rows]
        return made


def replay(config: Config, id: int, **overrides: Any) -> History:
    """The history of one particle: a dict, whose member "history" has one dict for each step.

    The attribute steps is a structured array of NumPy with the same steps.

    Positions are in cm, times in ns, energies in keV; "draws" has the random words of the step.
    """
    with Given(config, overrides) as given:
        return History(json.loads(finish(start("replay", *given.source, given.sets, number=id))[0]))


def verify(directory: Path) -> Dict[str, Any]:
    """Rereads a run: digests, order, closure, recomputed survivors. The counts of what was checked.

    Raises Error at the first batch or file that is wrong. Ctrl-C takes effect at the end of the call.
    """
    _native.start_writers()  # they make a joined HDF5 file again
    counts: Dict[str, Any] = json.loads(finish(start("verify", os.fspath(directory)))[0])
    return counts


def convert(inputs: Union[Path, Sequence[Path]], to: Path, *, force: bool = False,
            **overrides: Any) -> str:
    """Converts files or runs to one file, whose suffix selects the format; joins MCPL files.

    force replaces an existing file. overrides set the header of a list: output__mcpl__pdg=2112. Returns what `sluice convert` prints: the
    file, and what it cannot hold. Ctrl-C leaves no file.
    """
    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    if not paths or hasattr(inputs, "keys"):
        raise ValueError("inputs: paths of files or runs are needed; write_mcpl() writes columns")
    _native.start_writers()
    job = start("convert", os.fspath(to), sets=_config.settings(overrides),
                inputs=[os.fspath(p) for p in paths], begin=START_FORCE if force else START_NEW)
    return str(finish(job)[0] or "")


def info(path: Path, head: int = 0) -> str:
    """The contents of a file or of a run, as `sluice info` prints them, with the first head particles."""
    if head < 0:
        raise ValueError("head is a number of particles, at least 0")
    return str(finish(start("info", os.fspath(path), number=head))[0])


def read(path: Path, *, precision: str = "auto") -> ParticleList:
    """The columns of a file of survivors (.h5, .npz, .csv.gz), or of a list of any program: MCPL, phase
    space of the IAEA or of TOPAS, source file of OpenMC, npz or csv with the columns of a list.

    Positions are in cm, times in ns, energies in keV. Numbers are float64 if those of the list have 8 bytes, else
    float32, as always of npz and csv; precision="single" rounds them to float32. The attribute header has comments, blobs and statistics.
    """
    if precision not in ("auto", "single"):
        raise ValueError(f"precision={precision!r}: use 'auto' or 'single'")
    return ParticleList(*_native.read(os.fspath(path), None, precision == "single"))


def _manifest(directory: str) -> List[Dict[str, Any]]:
    """The lines of the committed batches, in order; a line that a killed run left unfinished is skipped."""
    lines: Dict[int, Dict[str, Any]] = {}
    try:
        with open_text(os.path.join(directory, "manifest.jsonl")) as file:
            for text in file:
                try:
                    line = json.loads(text)
                    lines[line["batch"]] = line
                except (ValueError, KeyError, TypeError):
                    continue
    except FileNotFoundError:
        pass  # no batch is committed yet
    return [lines[number] for number in sorted(lines)]


def _batch(root: str, line: Dict[str, Any]) -> Batch:
    columns: Mapping[str, Any] = {}
    if "file" in line:
        columns = FileColumns(os.path.join(root, line["file"]["name"]), list(line["digests"]))
    return Batch(line["batch"], line["first_id"], line["generated"], line["survivors"], columns,
                 line["digests"])


def survivors_of(directory: str, lines: Optional[List[Dict[str, Any]]] = None) -> Survivors:
    """The survivors of the committed batches in a directory; no columns if they have no files."""
    lines = _manifest(directory) if lines is None else lines
    root = os.path.abspath(directory)
    names = list(lines[0]["digests"]) if lines and "file" in lines[0] else []
    return Survivors(names, [Source(line["survivors"], partial(_batch, root, line)) for line in lines])


def _count_again(tallies: Dict[str, Any], lines: List[Dict[str, Any]]) -> None:
    """Counts the committed batches for a run that works or was killed: its run.json has no counts yet.

    Where particles differ in weight, the lines lack the weight that was absorbed on the way: such fractions and their
    errors are nan.
    """
    for total, member in (("particles", "generated"), ("survivors", "survivors"), ("steps", "steps"),
                          ("collisions", "collisions")):
        tallies[total] = sum(line[member] for line in lines)
    n = tallies["particles"]
    weighted = any(line["weights"].get(name, 0) != count << 32 for line in lines for name, count in line["fates"].items())
    for name, fate in tallies["fates"].items():
        count = sum(line["fates"].get(name, 0) for line in lines)
        fraction = count / n if n else 0.0
        error = math.sqrt(fraction * (1 - fraction) / n) if n else 0.0
        fate.update(count=count, fraction=fraction, weight_fraction=math.nan if weighted else fraction,
                    mean_over_batches=None, standard_error=math.nan if weighted else error)


open_text = open


def open_run(directory: Path) -> Run:
    """A run that is on the disk: its report, and the survivors of its committed batches, read when used.

    Nothing is checked; verify() does that. The image is in NAME.image.h5. A run that works or was killed has
    the state 'running', the counts of its committed batches and no tallies.
    """
    path = os.fspath(directory)
    try:
        with open_text(os.path.join(path, "run.json")) as file:
            report = json.load(file)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        advice = "use read() for a file" if os.path.isfile(path) else "name the directory of a run"
        status = (4, "DISK", "a file could not be read or written") if isinstance(error, OSError) else \
            (3, "BAD_INPUT", "an input file is damaged or has the wrong contents")
        raise Error(*status, f"{path}: {getattr(error, 'strerror', None) or error}; {advice}", []) from error
    lines = _manifest(path)
    if report["state"] == "running":
        _count_again(report["tallies"], lines)
    survivors = survivors_of(path, lines)
    if report["model"] != "list":  # which has those of its inputs
        survivors.header = Header.of_run(_native.version, report["tallies"]["particles"])
    return Run(report, survivors, None, os.path.abspath(path))
