"""Comparisons of all backends."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from . import _native
from ._arrays import Given
from ._columns import html_table
from ._config import Config
from ._run import closing, follow, start

_COLUMNS = ("where", "mode", "scan", "compact", "sort", "schedule", "answer")


class Comparison:
    """The cases of a comparison, with their answers and times.

    same      True if every case ran and gave the answer of the first one
    rows      one dict per case: where, mode, scan, compact, sort, schedule, answer ('same', 'differs' or
              'failed', then with the reason as message), without_output (seconds and particles_per_s of one
              run); on the emulated device, which is not timed, accesses_per_particle (loads, stores,
              sectors, ...)
    report    what `sluice compare --json` prints, as a dict
    text      the tables of `sluice compare`
    """

    def __init__(self, text: str, report: Dict[str, Any]):
        self.text = text
        self.report = report
        self.rows: List[Dict[str, Any]] = report["rows"]
        self.same = all(row["answer"] == "same" for row in self.rows)

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        rates = [row["without_output"].get("particles_per_s") for row in self.rows]
        title = f"{self.report['name']} ({self.report['model']}): {len(self.rows)} cases, " \
                f"{self.report['particles']} particles"
        return html_table(title, (*_COLUMNS, "particles/s"),
                          [[*(str(row[name]) for name in _COLUMNS), "" if rate is None else f"{rate:.3g}"]
                           for row, rate in zip(self.rows, rates)])


def _comparison(job: Any) -> Optional[Comparison]:
    """The results of a job that has ended; None if not every case was tried."""
    text, tables, *_ = job.outcome()
    return None if text is None else Comparison(tables, json.loads(text))


def compare(config: Config, *, full: bool = False, **overrides: Any) -> Comparison:
    """Runs a configuration with every backend, checks that all answers have the same bits, and times it.

    Without a GPU the device backends run on the emulated device, with the first 20,000 particles unless
    full is true. Further arguments as for run(). Nothing is written.

    Raises Error with status CHECK_FAILED if a case differs; error.result has the Comparison then.
    """
    _native.start_writers()
    with Given(config, overrides) as given:
        job = start("compare", *given.source, given.sets, full=full)
        with closing(job, lambda: _comparison(job)):
            list(follow(job))
            result = _comparison(job)
            assert result is not None
            return result
