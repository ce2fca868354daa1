"""The exception of the package."""
from __future__ import annotations

import copyreg
import re
from typing import Any, List, NamedTuple, Optional, Tuple


class Status(NamedTuple):
    """How a call ended: the statuses and exit codes of the program."""

    name: str
    """As in docs/running.md: 'USAGE', 'BAD_INPUT', 'DISK', ..."""
    code: int
    """The exit code of the program for this status."""
    meaning: str
    """The status in words."""


_OPTIONS = {"--resume": "resume=True", "--force": "force=True", "--out": "out", "--to": "to", "--id": "id"}
"""Options of the program, and the arguments of functions that do the same."""


def _in_python(message: str) -> str:
    """A message of the program, with arguments in place of options."""
    return re.sub("|".join(rf"{option}\b" for option in _OPTIONS), lambda found: _OPTIONS[found[0]], message)


class Problem(NamedTuple):
    """One problem of a configuration."""

    file: Optional[str]
    """The file, '<text>', '<dict>' or '<filter>'; None for an override."""
    line: Optional[int]
    """From 1; None if the problem has no place in a text."""
    column: Optional[int]
    """From 1; None if the problem has no place in a text."""
    key: str
    """The full key, 'model.slab.mu_a'; '' if there is none."""
    problem: str
    """What is wrong."""
    hint: str
    """What to do; '' if there is nothing to say."""

    def __str__(self) -> str:
        place = self.file if self.file is not None else "override"
        if self.line is not None:
            place += f":{self.line}:{self.column}"
        text = f"{self.problem}; {self.hint}" if self.hint else self.problem
        return f"{place}: {self.key}: {text}" if self.key else f"{place}: {text}"


def _problem(at: Tuple[Any, ...]) -> Problem:
    """A problem of the library; the advice follows the first semicolon of its text."""
    file, line, column, key, text = at
    problem, _, hint = text.partition("; ")
    if file in ("<dict>", "<filter>"):  # lines of a text that its author has not seen
        line = column = None
    return Problem(file, line, column, key, problem, hint)


class Error(Exception):
    """A call failed. The message lists all problems; the attributes have them as data.

    status     name, exit code and meaning of the failure
    problems   list of Problem, in the order of their places; empty if the configuration is not at fault
    result     the results of a run that is complete but failed a check; else None
    """

    def __init__(self, code: int, name: str, meaning: str, message: str, problems: List[Any]):
        self.status = Status(name, code, meaning)
        self.problems = [_problem(p) for p in problems]
        self.result: Any = None
        super().__init__("\n".join(map(str, self.problems)) if self.problems else _in_python(message))

    def __reduce__(self) -> Tuple[Any, ...]:  # processes send exceptions as pickles
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]
