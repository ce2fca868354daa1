"""Runs the simulations of MCX's users: a dictionary of pmcx, or an input file of MCX.

    from sluice import mcx
    result = mcx.run(cfg)                # as pmcx.run(cfg): result["flux"], result["detp"], result["stat"]
    result = mcx.run("cube60.json")

docs/mcx.md has the table of all keys. A setting that changes the result and cannot be carried out is refused.
"""
from __future__ import annotations

import difflib
import os
import random
import sys
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy

from . import _mcx_input
from ._error import Error
from ._run import Run
from ._run import run as _run

__all__ = ["Translation", "mcxlab", "run", "translate"]

LIGHT_MM = 2.99792458e11
"""Millimetres per second."""

BATCHES = 32
"""For the standard errors of the fluence, which are those over batches."""

_WITHOUT_EFFECT = {"session", "flog", "lang", "gpuid", "workload", "autopilot", "nthread", "nblocksize", "isgpuinfo",
                   "maxgate", "maxvoidstep", "outputformat", "rootpath", "faststep", "issaveseed", "sradius"}
"""They choose the hardware or where messages go, or what only other refused settings use."""

_USED = {"nphoton", "vol", "prop", "unitinmm", "shapes", "issrcfrom0", "tstart", "tend", "tstep", "srcpos", "srcdir",
         "srctype", "srcparam1", "srcparam2", "srcpattern", "voidtime", "isspecular", "detpos", "bc", "maxdetphoton", "savedetflag",
         "issavedet", "issaveexit", "ismomentum", "seed", "respin", "isreflect", "outputtype", "issave2pt", "dumpmask",
         "minenergy"}

_DEFAULTS = {"isnormalized": (1, "the result is per launched photon: leave it out"),
             "gscatter": (1e9, "every scattering is by g"), "issaveref": (0, "use detectors, detpos"),
             "srcnum": (1, "run one source after the other"), "srcid": (0, "run one source after the other"),
             "replaydet": (0, "there is no replay"), "omega": (0, "there are no modulated sources"),
             "debuglevel": ("", "trajectories of a photon: sluice.replay(translate(cfg).config, id)"),
             "istrajstokes": (0, "there is no polarisation"), "srcweight": (1, "the result is per launched photon")}
"""Settings that only may have their default, and what to do instead."""

_NUMBERS = {**dict.fromkeys(("nphoton", "unitinmm", "tstart", "tend", "tstep", "respin", "maxdetphoton", "seed"), (0, 0)),
            "prop": (9, 0), "srcparam1": (9, 0), "srcparam2": (9, 0), "srcpos": (9, 3), "srcdir": (9, 3), "detpos": (9, 4)}
"""Settings that are numbers: their dimensions at most, and how many numbers a row has at least."""

_OUTPUTS = {"flux": "fluence_{}", "fluence": "fluence_{}", "energy": "deposit"}
_COLUMNS = ["x", "y", "z", "u", "v", "w"]
"""The columns from which the data of detected photons are made, besides those of regions."""

_LETTERS = "dspmxvwi"
"""Those of savedetflag, in MCX's order."""

_REGIONS, _OF_REGIONS = 3, {"s": "collisions_", "p": "path_", "m": "momentum_"}
"""Regions of model voxels_paths, and its columns by the letters of savedetflag."""


class Translation(NamedTuple):
    """What translate() makes of a dictionary of pmcx."""

    config: Dict[str, Any]
    """The configuration of sluice; model.voxels.file is missing: it is for the labels."""
    labels: Any
    """The labels of the voxels, uint8, shape (nx, ny, nz)."""
    detectors: Optional[Dict[str, Any]]
    """The configuration that gives the detected photons: the same without absorption; None without detectors."""
    flag: str
    """The letters of savedetflag in the order of the rows of detp."""
    pattern: Any = None
    """The weights of a source of type pattern, for model.voxels.source.image."""


class _Reader:
    """The settings of a dictionary of pmcx, and the problems that it has."""

    def __init__(self, cfg: Mapping[str, Any]):
        self.cfg = {str(key).lower(): value for key, value in cfg.items() if value is not None}
        self.problems: List[str] = []

    def refuse(self, key: str, problem: str) -> None:
        self.problems.append(f"{key}: {problem}")

    def get(self, key: str, default: Any) -> Any:
        return self.cfg.get(key, default)

    def numbers(self, key: str, default: Any, least: int) -> Any:
        """A list of numbers, with zeros up to the least length; of an array with one row, this row."""
        found = numpy.squeeze(numpy.array(self.get(key, default), "f8"))
        if found.ndim != 1:
            if found.ndim > 1:
                self.refuse(key, "has several rows, and one source is possible; run them one after the other")
            found = found.reshape(-1, found.shape[-1] if found.ndim else 1)[0]
        return numpy.concatenate([found, numpy.zeros(max(0, least - len(found)))])

    def check_numbers(self) -> None:
        """Refuses what is no number, or has too few of them: then nothing else can be checked."""
        for key, (most, row) in ((key, facts) for key, facts in _NUMBERS.items() if key in self.cfg):
            try:
                found = numpy.array(self.cfg[key], "f8")
            except (TypeError, ValueError):
                found = numpy.array(numpy.nan)
            if found.ndim > most or found.ndim == 0 and (row or not numpy.isfinite(found)):
                self.refuse(key, f"{str(self.cfg[key])[:60]} is not possible; numbers are needed")
            elif row and found.shape[-1] < row and (found.size or key != "detpos"):
                self.refuse(key, f"has {found.shape[-1]} numbers, and {row} are needed; add the others")
        self.finish()
        start, end, step = (float(self.get(key, 0)) for key in ("tstart", "tend", "tstep"))
        if "tend" in self.cfg and not (0 <= start < end and step >= 0):
            self.refuse("tend", f"{end:g} with tstart {start:g} and tstep {step:g} is not possible; times ascend from 0")
        if not float(self.get("nphoton", 1)) >= 1:
            self.refuse("nphoton", f"{self.cfg['nphoton']} is below 1; give the number of photons")
        if not float(self.get("unitinmm", 1)) > 0:
            self.refuse("unitinmm", "is not above 0, and it is the edge of a voxel; correct it")

    def finish(self) -> None:
        """Raises ValueError with all problems, if there are any."""
        if self.problems:
            raise ValueError("\n".join(self.problems))

    def check(self) -> None:
        """Refuses settings that are unknown or have no counterpart."""
        for key, value in self.cfg.items():
            if key in _DEFAULTS:
                if key == "debuglevel":
                    progress_bar = numpy.ndim(value) == 0 and value in (0, 4)  # 4 is MCX's number of the flag P
                    value = "" if progress_bar else str(value).lower().replace("p", "")
                if numpy.ndim(value) or value != _DEFAULTS[key][0]:
                    self.refuse(key, f"{value!r} is not possible; {_DEFAULTS[key][1]}")
            elif key not in _USED | _WITHOUT_EFFECT:
                near = difflib.get_close_matches(key, _USED | set(_DEFAULTS), 1, 0.8)
                self.refuse(key, f"is unknown; use {near[0]}" if near else "is not possible with sluice; remove it")
        for key in ("nphoton", "prop", "tend", "srcpos", "srcdir"):
            if key not in self.cfg:
                self.refuse(key, "is missing; it is required")


# --- parts of the translation ---------------------------------------------------------------------

def _mm(value: float) -> str:
    return f"{float(value)!r} mm"


def _labels(r: _Reader, origin: float) -> Any:
    """The labels with the shapes drawn into them."""
    vol = r.get("vol", None)
    if numpy.ndim(vol) != 3 and not (vol is None and "shapes" in r.cfg):
        r.refuse("vol", "is not an array of three dimensions; varying media need a label each, up to 255")
        vol = numpy.ones((1, 1, 1))
    made = _mcx_input.rasterise(r.cfg["shapes"], vol, origin) if "shapes" in r.cfg else numpy.asarray(vol)
    with numpy.errstate(invalid="ignore"):  # of labels that are NaN
        labels = made.astype("u1") if made.dtype.kind in "buif" and made.size else numpy.ones((1, 1, 1), "u1")
    if not numpy.array_equal(labels, made) or made.ndim != 3:
        r.refuse("vol", "is empty or has labels that are not whole numbers from 0 to 255; renumber them")
        labels = numpy.zeros_like(labels)  # without further problems
    if 1 in labels.shape[:2] and labels.size > 1:
        r.refuse("vol", "has one voxel in x or y, where MCX simulates in two dimensions; use two or more voxels")
    return labels


def _reflects(r: _Reader) -> bool:
    """Whether the boundary reflects: isreflect, or the letters of bc."""
    default = "r" if r.get("isreflect", 1) else "a"
    letters = str(r.get("bc", "______")).lower().replace("_", default)
    if "1" in letters[6:]:
        r.refuse("bc", "faces as detectors are not possible; use disks, detpos")
    if len(set(letters[:6])) != 1 or letters[0] not in "ra":
        r.refuse("bc", f"{r.get('bc', '')!r} is not possible: all faces must be r, or all a")
    return letters[:1] == "r"


def _media(r: _Reader, labels: Any) -> Tuple[List[Dict[str, Any]], float, float]:
    """The media from label 1 on, the refractive index outside, and the one outside that MCX uses for times."""
    prop = numpy.array(r.get("prop", [[0, 0, 1, 1]] * 2), "f8")
    if prop.ndim != 2 or prop.shape[1] != 4 or len(prop) < 2:
        r.refuse("prop", "is not a table with a row mua, mus, g, n for label 0 and for each medium; correct it")
        return [], 1, 1
    if int(labels.max()) >= len(prop):
        r.refuse("prop", f"has {len(prop)} rows, and the volume has label {labels.max()}; add rows, of which row k is label k")
    media = [{"mu_a": f"{a!r} /mm", "mu_s": f"{s!r} /mm", "g": g, "n": n} for a, s, g, n in prop[1:].tolist()]
    if _reflects(r):
        return media, float(prop[0, 3]), float(prop[0, 3])
    indices = set(prop[[k for k in numpy.unique(labels) if 0 < k < len(prop)], 3].tolist())
    if len(indices) > 1:
        r.refuse("isreflect", "0 with media of different n is not possible: sluice refracts between them; use equal n")
    return media, min(indices, default=1.0), float(prop[0, 3])


def _source(r: _Reader, unit: float, origin: float) -> Dict[str, Any]:
    """The source; positions and lengths of MCX are in voxels."""
    kind = str(r.get("srctype", "pencil")).lower()
    position, direction = r.numbers("srcpos", [0, 0, 0], 4), r.numbers("srcdir", [0, 0, 1], 4)
    one, two = (r.numbers(key, [0] * 4, 4) for key in ("srcparam1", "srcparam2"))
    made: Dict[str, Any] = {"type": kind, "position": (position[:3] - origin) * unit,
                            "direction": direction[:3].tolist()}
    if position[3] not in (0, 1):
        r.refuse("srcpos", "a weight of the photons is not possible; the result is per launched photon")
    if kind == "pencil" and numpy.isnan(direction[3]):
        made["type"] = "isotropic"
    elif direction[3] and kind not in ("isotropic", "cone", "line"):
        r.refuse("srcdir", "a focal length is not possible; leave the fourth number out")
    if kind == "cone" and not one[1]:
        made["angle"] = f"{float(one[0])!r} rad"
    elif kind == "gaussian":
        made["sigma"] = _mm(one[0] * unit / 2)  # MCX has the radius where the intensity is 1/e^2
    elif kind == "disk" and not one[1]:
        made["radius"] = _mm(one[0] * unit)
    elif kind in ("planar", "pattern", "line", "slit") and (kind in ("planar", "pattern") or not two.any()):
        made["side"] = one[:3] * unit
        if kind in ("planar", "pattern"):
            made["side_2"] = two[:3] * unit
        if kind == "pattern" and numpy.shape(r.get("srcpattern", 0)) != (one[3], two[3]):
            r.refuse("srcpattern", f"has the shape {numpy.shape(r.get('srcpattern', 0))}, and one pattern of the shape "
                                   f"({one[3]:g}, {two[3]:g}), the fourth numbers of srcparam1 and srcparam2, is possible")
        elif kind == "pattern" and not (numpy.min(r.cfg["srcpattern"]) >= 0 and 0 < numpy.max(r.cfg["srcpattern"]) < numpy.inf):
            r.refuse("srcpattern", "has weights that are negative or not finite, or all are 0; correct them")
    elif kind not in ("pencil", "isotropic"):
        r.refuse("srctype", f"{kind} is not possible with these parameters; use pencil, isotropic, cone, gaussian, "
                            "disk, planar, pattern, line or slit")
    if made["type"] in ("isotropic", "line"):
        del made["direction"]
    return made


def _onto_surface(r: _Reader, source: Dict[str, Any], labels: Any, unit: float, n: float) -> float:
    """
    Moves a source from outside onto the face that it shines on, and returns its time of flight there in seconds.

    Without isspecular, light of MCX enters without reflection and refraction. That of sluice does so if it starts
    inside, so a collimated beam at a right angle to a face starts at this face.
    """
    position, direction = source["position"], source.get("direction", numpy.ones(3))
    size = numpy.array(labels.shape) * unit
    outside = (position < 0) | (position > size)
    axis = int(numpy.argmax(outside))
    face = labels[tuple(slice(None) if a != axis else 0 if position[axis] < 0 else -1 for a in range(3))]
    along = [*numpy.delete(direction, axis), *(source[key][axis] for key in ("side", "side_2") if key in source)]
    if source["type"] == "cone" or any(along) or outside.sum() != 1 or not face.all() or \
            direction[axis] * (1 if position[axis] < 0 else -1) <= 0:
        r.refuse("isspecular", "0 with this source outside of the volume is not possible (positions begin at 1, with issrcfrom0 "
                               "1 at 0); set isspecular and voidtime to 1, or place the source on the surface")
        return 0.0
    at = 0.0 if position[axis] < 0 else size[axis]
    way, position[axis] = abs(at - position[axis]), at
    return float(way * n / LIGHT_MM) if r.get("voidtime", 1) else 0.0


def _earlier(r: _Reader, source: Dict[str, Any], labels: Any, unit: float, n: Tuple[float, float, bool]) -> float:
    """The time of flight that only the clock of MCX has; n: outside, outside for times, whether a medium differs."""
    inside = (source["position"] >= 0).all() and (source["position"] <= numpy.array(labels.shape) * unit).all()
    n_outside, n_of_times, differ = n
    if inside or not (differ or not r.get("voidtime", 1)):
        return 0.0
    if r.get("isspecular", 0) and r.get("voidtime", 1):
        if n_outside != n_of_times:
            r.refuse("isspecular", "1 with isreflect 0 is not possible; set both to the same value")
        return 0.0
    return _onto_surface(r, source, labels, unit, n_of_times)


def _gates(cfg: Mapping[str, Any]) -> Tuple[float, float, int]:
    """The time gates: their start and step in seconds, and their number."""
    start, end = float(cfg.get("tstart", 0)), float(cfg.get("tend", 0))
    step = float(cfg.get("tstep", 0)) or end - start
    return start, step, max(1, int((end - start) / step + 0.5)) if step > 0 else 1


def _tally(r: _Reader, estimator: str, earlier: float) -> List[List[str]]:
    """The tally of the output in each voxel."""
    output = str(r.get("outputtype", "flux")).lower()
    start, step, n = _gates(r.cfg)
    if output not in _OUTPUTS:
        r.refuse("outputtype", f"{output} is not possible; use flux, fluence or energy")
    if not r.get("issave2pt", 1) or output not in _OUTPUTS:
        return []
    ends = "..".join(f"{(t - earlier) * 1e9!r} ns" for t in (start, start + n * step))
    return [[_OUTPUTS[output].format(estimator), "voxel", *([f"time:{n}:{ends}"] if start or n > 1 else [])]]


def _detector_flag(r: _Reader) -> str:
    """The letters of savedetflag in MCX's order; '' without detected photons."""
    if not r.get("issavedet", 1) or len(r.get("detpos", [])) == 0:
        return ""
    more = "xv" * bool(r.get("issaveexit", 0)) + "m" * bool(r.get("ismomentum", 0))
    given = r.get("savedetflag", 0) or "dp"  # as in MCX
    if isinstance(given, (int, numpy.integer)):  # one bit for each letter
        given = "".join(c for k, c in enumerate(_LETTERS) if given >> k & 1)
    flag = "".join(c for c in _LETTERS if c in str(given).lower() + more)
    if set(str(given).lower()) - set(_LETTERS):
        r.refuse("savedetflag", f"{given!r} has other letters than {_LETTERS}; remove them")
    if "i" in flag:
        r.refuse("savedetflag", "the start of photons, i, is not possible; remove it")
    return flag


def translate(cfg: Mapping[str, Any], estimator: str = "track") -> Translation:
    """The configuration of sluice for a dictionary of pmcx. ValueError names all settings that are not possible.

    estimator   of the fluence: "track", by the lengths of paths, or "collision", which is faster, but is 0 in media
                without collisions and has more variance where they are rare
    """
    r = _Reader(cfg)
    r.check_numbers()
    r.check()
    unit, origin = float(r.get("unitinmm", 1)), 0.0 if r.get("issrcfrom0", 0) else 1.0
    labels = _labels(r, origin)
    media, n_outside, n_of_times = _media(r, labels)
    source = _source(r, unit, origin)
    n = (n_outside, n_of_times, any(m["n"] != n_of_times for m in media))
    earlier = 0.0 if r.problems else _earlier(r, source, labels, unit, n)
    seed, (start, step, gates) = int(r.get("seed", 1648335518)), _gates(r.cfg)
    particles = int(float(r.get("nphoton", 1))) * max(int(r.get("respin", 1)), 1)
    voxels = {"voxel": _mm(unit), "media": media, "n_outside": n_outside, "absorption": "implicit",
              "max_time": f"{(start + gates * step - earlier) * 1e9!r} ns",  # MCX ends with the last gate, not at tend
              "source": {key: [_mm(v) for v in value] if key in ("position", "side", "side_2") else value
                         for key, value in source.items()}}
    flag = _detector_flag(r)
    if flag:
        voxels["detectors"] = [{"position": [_mm(v) for v in (d[:3] - origin) * unit], "radius": _mm(d[3] * unit)}
                               for d in numpy.atleast_2d(numpy.array(r.cfg["detpos"], "f8"))]
    run_of = {"name": "mcx", "seed": seed if seed > 0 else random.getrandbits(63), "particles": particles,
              "batch": -(-particles // BATCHES)}
    tallies = _tally(r, estimator, earlier)
    r.finish()
    clear = {**voxels, "media": [{**m, "mu_a": "0 /mm"} for m in media], "absorption": "analogue"}
    counted = [letter for letter in flag if letter in _OF_REGIONS]
    columns = [*_COLUMNS, *(f"{_OF_REGIONS[letter]}{k + 1}" for letter in counted for k in range(_REGIONS))]
    config = {"run": run_of, "model": {"voxels": voxels}, "tallies": tallies, "output": {"format": "none"}}
    hits = {"run": run_of, "model": {"voxels_paths" if counted else "voxels": clear}, "keep": "hit",
            "output": {"columns": columns}}
    pattern = numpy.array(r.get("srcpattern", None), "f4") if source["type"] == "pattern" else None
    return Translation(config, labels, hits if flag else None, flag, pattern)


# --- results --------------------------------------------------------------------------------------

def _field(result: Run, cfg: Mapping[str, Any]) -> Dict[str, Any]:
    """flux and its standard error, of shape (nx, ny, nz, gates), in MCX's units."""
    grid = next(t for name, t in result.tallies.items() if "(" in name)
    output, (_, step, gates) = str(cfg.get("outputtype", "flux")).lower(), _gates(cfg)
    row, volume = grid.fates["all"], numpy.prod([a.edges[1] - a.edges[0] for a in grid.axes[:3]])  # cm^3
    scale = 1 if output == "energy" else 1e-2 / volume / (step if output == "flux" else 1)  # from 1/cm^2 to 1/mm^2
    shape = (*grid.shape[:3], gates)
    return {"flux": (row["mean"] * scale).astype("f4").reshape(shape),
            "flux_error": (row["error"] * scale).astype("f4").reshape(shape)}


def _detect(made: Translation, more: Mapping[str, Any]) -> Dict[str, Any]:
    """
    The columns of the detected photons. A run counts three regions, so there is one for each three media: its photons
    are the same, bit for bit. Those of media, "path" and so on, have a row for each medium.
    """
    config: Dict[str, Any] = made.detectors or {}
    (name, voxels), = config["model"].items()
    counted = [n for n in _OF_REGIONS.values() if n + "1" in config["output"]["columns"]]
    found: Dict[str, Any] = {n: [] for n in counted}
    for first in range(0, len(voxels["media"]) if counted else 1, _REGIONS):
        media = [{**m, "region": k - first + 1 if 0 <= k - first < _REGIONS else 0} if counted else m
                 for k, m in enumerate(voxels["media"])]
        hits = _run({**config, "model": {name: {**voxels, "media": media}}},
                    **{key.replace("model__voxels", f"model__{name}"): value for key, value in more.items()})
        found.update({c: numpy.asarray(hits.survivors[c]) for c in _COLUMNS})
        for n in counted:
            found[n] += [numpy.asarray(hits.survivors[f"{n}{k + 1}"]) for k in range(_REGIONS)]
    return {n: numpy.stack(c[:len(voxels["media"])]) if n in counted else c for n, c in found.items()}


def _detected(column: Mapping[str, Any], made: Translation, cfg: Mapping[str, Any]) -> Any:
    """The rows of detp by the letters of the flag."""
    unit = float(cfg.get("unitinmm", 1))
    at = numpy.stack([column[c] for c in "xyz"]) * 10 / unit  # in voxels, from 0
    discs = numpy.array(cfg["detpos"], "f8").reshape(-1, 4)
    first = 0.0 if cfg.get("issrcfrom0", 0) else 1.0
    far = sum((at[a][:, None] - (discs[:, a] - first)) ** 2 for a in range(3)) / discs[:, 3] ** 2
    rows = {"d": [1 + numpy.argmax(far <= numpy.maximum(1, far.min(1, keepdims=True)), 1)], "x": list(at),
            "v": [column[c] for c in "uvw"], "w": [numpy.ones(at.shape[1])],
            "p": list(column.get("path_", 0) * numpy.array(10 / unit) if "p" in made.flag else []),
            "m": list(column.get("momentum_", [])),
            "s": list(column["collisions_"].astype("u4").view("f4")) if "s" in made.flag else []}
    made_of = [row for letter in made.flag for row in rows[letter]]  # pmcx, too, stores the bits of whole numbers
    return numpy.array(made_of, "f4")[:, :int(cfg.get("maxdetphoton", 1e6))]


def run(cfg: Union[str, "os.PathLike[str]", Mapping[str, Any], None] = None, *, device: Optional[str] = None,
        estimator: str = "track", **settings: Any) -> Dict[str, Any]:
    """Runs a simulation of MCX and returns what pmcx.run() returns.

    cfg         a dictionary of pmcx, or the path of an input file of MCX; or the settings as further arguments
    device      as run.device of sluice: "cpu", "cuda", ...; None: a GPU if there is one
    estimator   of the fluence, as in translate()

    The result has flux and its standard error flux_error, detp, vol (dumpmask), and stat. It does not depend on the
    device or the number of GPUs. Raises ValueError, which names all settings that are not possible, and sluice.Error.
    """
    given = _given(cfg, settings)
    made = translate(given, estimator)
    more: Dict[str, Any] = {} if device is None else {"device": device}
    more["model__voxels__file"] = numpy.asfortranarray(made.labels)
    if made.pattern is not None:
        more["model__voxels__source__image"] = made.pattern
    main = _run(made.config, **more)
    hits = _detect(made, more) if made.detectors else None
    result: Dict[str, Any] = _field(main, given) if made.config["tallies"] else {}
    if hits is not None:
        result["detp"] = _detected(hits, made, given)
    if given.get("dumpmask"):
        result["vol"] = made.labels.astype("u4")
    photons = main.particles
    result["stat"] = {"runtime": 1e3 * main.report["times"]["wall_seconds"], "nphoton": photons, "workload": [1.0],
                      "energytot": float(photons), "energyabs": main.fates["absorbed"].fraction * photons,
                      "unitinmm": float(given.get("unitinmm", 1))}
    return result


def _given(cfg: Any, more: Mapping[str, Any]) -> Dict[str, Any]:
    """The settings of a dictionary, or of an input file or its contents, and more."""
    if isinstance(cfg, (str, os.PathLike)):
        cfg = _mcx_input.load(os.fspath(cfg))
    elif not isinstance(cfg, Mapping) and cfg is not None:
        raise TypeError(f"cfg is a {type(cfg).__name__}; it must be a dictionary of pmcx or the path of an input file of MCX. "
                        "Run several one after the other")
    elif cfg and "Optode" in cfg:
        cfg = _mcx_input.settings(cfg)
    return {str(key).lower(): value for key, value in {**(cfg or {}), **more}.items() if value is not None}


def mcxlab(cfg: Union[str, "os.PathLike[str]", Mapping[str, Any]], **options: Any) -> Dict[str, Any]:
    """As pmcx.mcxlab(): run() with detp as a dict of the fields that savedetflag names.

    detid, nscat, ppath, mom, p, v and w0 have a row for each photon, and ppath (in voxels), nscat and mom a column for
    each medium; prop, unitinmm and data are what the functions of pmcx for detected photons read.
    """
    result = run(cfg, **options)
    if "detp" in result:
        data, at, given = result["detp"], 0, _given(cfg, options)
        media = len(given["prop"]) - 1
        fields: Dict[str, Any] = {"prop": given["prop"], "unitinmm": float(given.get("unitinmm", 1)), "data": data}
        for letter in _detector_flag(_Reader(given)):
            name, rows = {"d": ("detid", 1), "s": ("nscat", media), "p": ("ppath", media), "m": ("mom", media),
                          "x": ("p", 3), "v": ("v", 3), "w": ("w0", 1)}[letter]
            field = numpy.ascontiguousarray(data[at:at + rows].T)
            fields[name] = field.view("u4") if letter == "s" else field[:, 0].astype(int) if letter == "d" else field
            at += rows
        result["detp"] = fields
    return result


def main(words: List[str]) -> int:
    """python -m sluice mcx FILE.json [FILE.npz] [--force]: runs an input file of MCX; all arrays go to the second file."""
    force, words = "--force" in words, [word for word in words if word != "--force"]
    if len(words) not in (1, 2) or words[0].startswith("-"):
        print(main.__doc__, file=sys.stderr)
        return 2
    to = words[1] if len(words) == 2 else os.path.splitext(words[0])[0] + ".npz"
    try:
        if not to.endswith(".npz"):
            raise ValueError(f"{to} does not end in .npz, the format of the results; name another file")
        if os.path.exists(to) and not force:
            raise ValueError(f"{to} exists; name another file, or replace it with --force")
        if not os.access(os.path.dirname(to) or ".", os.W_OK):  # before the work, not after it
            raise OSError(f"{to} cannot be written; name another file")
        result = run(words[0])
        stat = result.pop("stat")
        numpy.savez(to + ".part.npz", **result)
        os.replace(to + ".part.npz", to)
    except (ValueError, OSError, MemoryError, Error) as e:
        print(f"sluice: {words[0]}: {e}", file=sys.stderr)
        return e.status.code if isinstance(e, Error) else 2
    print(f"photons  {stat['nphoton']}\nabsorbed {100 * stat['energyabs'] / stat['energytot']:.5f} %\narrays   {to}")
    return 0
