"""The history of a particle."""
from __future__ import annotations

from typing import Any, Dict

import numpy

from . import _native


class History(Dict[str, Any]):
    """The members of what `sluice replay --json` prints; "history" has one dict for each step.

    steps is the same as an array: positions are in cm, times in ns, energies in keV.
    """

    @property
    def steps(self) -> Any:
        """Structured array of NumPy of shape (steps + 1,): step, event, the columns of the model, fate.

        Columns have the types of COLUMNS, event and fate are text. The first item is the start.
        """
        rows = self["history"]
        types = {name: dtype for name, dtype, _, _ in _native.column_facts()}
        types.update(step="uint64", event="U32", fate="U32")
        names = [name for name in rows[0] if name in types]
        made = numpy.zeros(len(rows), [(name, types[name]) for name in names])
        for name in names:
            made[name] = [numpy.nan if row[name] is None else row[name] for row in rows]
        return made
