"""Configurations and overrides become what the library reads: YAML text, a path, key=value."""
from __future__ import annotations

import json
import os
from typing import Any, List, Mapping, Optional, Tuple, Union

Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]

_RUN_KEYS = ("name", "seed", "particles", "batch", "threads", "device", "slots", "mode", "stop_before")


def _plain(value: Any, key: str) -> Any:
    """The value as JSON has it. Numbers of NumPy become those of Python, paths become text."""
    if value is None:
        raise TypeError(f"{key}: None is no value; leave the key out for its default")
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v, f"{key}.{k}" if key else str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, f"{key}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "magnitude"):  # of pint
        numbers, unit = _plain(value.magnitude, key), format(value.units, "~C")
        texts = [f"{_json(v)} {_UNITS.get(unit, unit)}".rstrip() for v in (numbers if isinstance(numbers, list) else [numbers])]
        return texts if isinstance(numbers, list) else texts[0]
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        return _plain(value.tolist(), key)
    raise TypeError(f"{key}: {type(value).__name__} is no value of a configuration; use numbers, text, "
                    "lists and dicts")


_UNITS = {"\u00b5m": "um", "\u00b5s": "us", "\u00c5": "angstrom", "in": "inch", "\u00b0": "deg"}
"""Units of pint that have another name here."""


def _json(value: Any) -> str:
    # JSON is YAML, except for the names of infinity, which YAML writes as .inf and the library as inf.
    return json.dumps(value, ensure_ascii=False).replace("Infinity", "inf") \
        if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def source(config: Config) -> Tuple[str, Optional[str]]:
    """(name, text): text is None if name is the path of a file.

    A str with a line break or ': ' is YAML text, any other str is a path.
    """
    if isinstance(config, Mapping):
        if "nphoton" in config or "Optode" in config:
            raise ValueError("config is one of MCX; run it with sluice.mcx.run(config), after from sluice import mcx")
        return "<dict>", _json(_plain(config, ""))
    if isinstance(config, str) and ("\n" in config or ": " in config):
        return "<text>", config
    if config == "":
        raise ValueError("config is empty: give the path of a file, YAML text or a dict")
    return os.fspath(config), None


def key_of(name: str) -> str:
    """The key that an override sets: model__slab__g is model.slab.g, particles is run.particles."""
    key = name.replace("__", ".")
    return f"run.{key}" if key in _RUN_KEYS else key


def settings(overrides: Mapping[str, Any]) -> List[str]:
    """The texts key=value of --set. A str is YAML, as on the command line; other values are converted.

    A list of columns is that of output.columns; without any, no survivors are kept (an empty list in a file: all).
    """
    texts = []
    for name, value in overrides.items():
        key = key_of(name)
        value = _plain(value, key)
        if key == "columns" and isinstance(value, str) and ":" not in value:  # names, and no expressions
            value = value.strip(" []").replace(",", " ").split()
        if key in ("columns", "output.columns") and isinstance(value, list):
            key, value = ("output.columns", value) if value else ("output.format", "none")
            if value == "none" and "output.format" in map(key_of, overrides):
                raise ValueError(f"{name}=[] keeps no survivors: leave output__format out, or {name}")
        texts.append(f"{key}={value if isinstance(value, str) else _json(value)}")
    return texts
