"""Input files of MCX become the dictionary that pmcx takes; shapes become labels of voxels."""
from __future__ import annotations

import base64
import gzip
import json
import lzma
import os
import zlib
from typing import Any, Callable, Dict, List, Mapping

import numpy

Settings = Dict[str, Any]

_KEYS = {
    "Session": {"ID": "session", "Photons": "nphoton", "RNGSeed": "seed", "DoMismatch": "isreflect",
                "DoSaveVolume": "issave2pt", "DoNormalize": "isnormalized", "DoPartialPath": "issavedet",
                "DoSaveExit": "issaveexit", "DoSaveSeed": "issaveseed", "DoSaveRef": "issaveref", "DoDCS": "ismomentum",
                "DoSpecular": "isspecular", "DoAutoThread": "autopilot", "DebugFlag": "debuglevel", "BCFlags": "bc",
                "SaveDataMask": "savedetflag", "OutputType": "outputtype", "OutputFormat": "outputformat",
                "MaxDetPhoton": "maxdetphoton", "MinEnergy": "minenergy", "RootPath": "rootpath"},
    "Forward": {"T0": "tstart", "T1": "tend", "Dt": "tstep", "N0": None},
    "Domain": {"OriginType": "issrcfrom0", "LengthUnit": "unitinmm", "InverseCDF": "invcdf", "MieScatter": "polprop",
               "VolumeFile": None, "MediaFormat": None, "Dim": None, "Media": None, "Step": None, "CacheBoxP0": None,
               "CacheBoxP1": None, "Name": None},
    "Source": {"Pos": "srcpos", "Dir": "srcdir", "Type": "srctype", "Param1": "srcparam1", "Param2": "srcparam2",
               "SrcNum": "srcnum", "ID": "srcid", "IQUV": "srciquv", "WaveLength": "lambda", "Frequency": "omega",
               "AngleInverseCDF": "angleinvcdf", "Pattern": "srcpattern", "Weight": "srcweight"},
}
"""The keys of pmcx by section and key of an input file; None: read here, or without effect."""

_OUTPUTS = {"x": "flux", "f": "fluence", "e": "energy", "l": "length", "j": "jacobian", "p": "nscat", "m": "wm",
            "r": "rf"}
_UNPACK: Dict[str, Callable[[bytes], bytes]] = {"zlib": zlib.decompress, "gzip": gzip.decompress,
                                                "lzma": lzma.decompress}
_FORMATS = {"byte": "u1", "short": "<u2", "integer": "<u4"}
_AXES = "XYZ"


# --- files ----------------------------------------------------------------------------------------

def _decoded(value: Any) -> Any:
    """The value with arrays in the annotation of JData, which may be compressed, as arrays of NumPy."""
    if isinstance(value, list):
        return [_decoded(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "_ArrayType_" not in value:
        return {key: _decoded(v) for key, v in value.items()}
    types = {"single": "float32", "double": "float64"}
    dtype, shape = types.get(value["_ArrayType_"], value["_ArrayType_"]), value["_ArraySize_"]
    if "_ArrayZipData_" in value:
        kind = value.get("_ArrayZipType_", "zlib")
        if kind not in _UNPACK:
            raise ValueError(f"_ArrayZipType_: {kind} is not read; save the array with zlib")
        data = numpy.frombuffer(_UNPACK[kind](base64.b64decode(value["_ArrayZipData_"])), dtype)
    else:
        data = numpy.array(value["_ArrayData_"], dtype)
    order = "F" if str(value.get("_ArrayOrder_", "r"))[0].lower() in "cf" else "C"  # col-major or row-major
    return data.reshape(shape, order=order)


def _volume(domain: Mapping[str, Any], folder: str, cfg: Settings) -> None:
    """Reads Domain.VolumeFile."""
    path = os.path.join(folder, domain["VolumeFile"])
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as file:
            cfg["shapes"] = json.load(file, strict=False)
        return
    kind = str(domain.get("MediaFormat", "byte")).lower()
    if not path.endswith(".bin") or kind not in _FORMATS:
        raise ValueError(f"Domain.VolumeFile: {path} ({kind}) is not read; use byte, short or integer in a .bin "
                         "file, or read the file in Python and pass the array as cfg['vol']")
    cfg["vol"] = numpy.fromfile(path, _FORMATS[kind]).reshape(domain["Dim"], order="F")


def load(path: str) -> Settings:
    """The settings of an input file of MCX, with the keys of pmcx."""
    with open(path, encoding="utf-8-sig") as file:
        data = json.load(file, strict=False)  # MCX's own examples have line breaks in texts
    return settings(data, os.path.dirname(path))


def settings(data: Any, folder: str = "") -> Settings:
    """The settings of the contents of an input file, which is in the folder."""
    if not isinstance(data, dict) or not {"Session", "Domain", "Optode"} <= set(data):
        raise ValueError("this is no input file of MCX: it has no sections Session, Domain and Optode")
    try:
        return _settings(_decoded(data), folder)
    except KeyError as e:
        raise ValueError(f"the key {e} is missing") from e
    except (AttributeError, TypeError, zlib.error, lzma.LZMAError, EOFError) as e:
        raise ValueError(f"a section, a list or a compressed array is not as MCX writes it ({e})") from e


def _settings(data: Mapping[str, Any], folder: str) -> Settings:
    sections = {**data, "Source": data["Optode"].get("Source", {})}
    cfg: Settings = {}
    for section, keys in _KEYS.items():
        for key, value in sections.get(section, {}).items():
            if key not in keys:
                raise ValueError(f"{section}.{key} is not known; remove it")
            if keys[key]:
                cfg[str(keys[key])] = value
    pattern = cfg.get("srcpattern")
    if isinstance(pattern, dict):
        if isinstance(pattern["Data"], str):
            raise ValueError(f"Optode.Source.Pattern.Data: the file {pattern['Data']} is not read; pass its array as "
                             "cfg['srcpattern']")
        cfg["srcpattern"] = numpy.reshape(pattern["Data"], (pattern["Nx"], pattern["Ny"]), order="F")
    domain = data["Domain"]
    cfg["prop"] = [[m["mua"], m["mus"], m["g"], m["n"]] if isinstance(m, dict) else m for m in domain["Media"]]
    step = [*{*(domain.get("Step") or [1])}]
    if len(step) != 1:
        raise ValueError("Domain.Step: voxels have edges of several lengths; model voxels takes them, not MCX")
    cfg["unitinmm"] = step[0] if cfg.get("unitinmm", 1) == 1 else cfg["unitinmm"]
    detectors = data["Optode"].get("Detector") or []
    cfg["detpos"] = [[*d["Pos"], d.get("R", 1)] for d in ([detectors] if isinstance(detectors, dict) else detectors)]
    cfg["outputtype"] = _OUTPUTS.get(str(cfg.get("outputtype", "x")).lower(), cfg.get("outputtype"))
    shapes = data.get("Shapes")
    if shapes is not None:
        cfg.update({"vol": shapes} if isinstance(shapes, numpy.ndarray) else {"shapes": {"Shapes": shapes}})
    if domain.get("VolumeFile"):
        _volume(domain, folder, cfg)
    if "vol" not in cfg and "Dim" in domain:
        cfg["vol"] = numpy.zeros(domain["Dim"], "u1")
    return cfg


# --- shapes ---------------------------------------------------------------------------------------
# MCX's documentation: https://mcx.space/wiki/?Shapes. A voxel is inside if its centre is, or is on the edge.

class _Painter:
    """The volume that shapes are drawn into, and the point that their positions are relative to."""

    def __init__(self, vol: Any, origin: float):
        self.vol, self.origin = vol, numpy.full(3, origin)

    def centres(self, point: Any, moved: bool = True) -> List[Any]:
        """x, y and z of the centres of all voxels relative to a point, each along its axis."""
        at = numpy.asarray(point, "f8") - self.origin * moved
        return [c - p for c, p in zip(numpy.ix_(*(numpy.arange(n) + 0.5 for n in self.vol.shape)), at)]

    def slices(self, axis: int, begin: float, end: float, tag: int) -> None:
        """Paints the layers from begin on and before end."""
        where: List[Any] = [slice(None)] * 3
        where[axis] = slice(int(begin), int(end))
        self.vol[tuple(where)] = tag

    def paint(self, name: str, s: Any) -> None:
        """Draws one shape."""
        tag = s.get("Tag", 0) if isinstance(s, dict) else 0
        if name == "Grid":
            self.vol = numpy.full(s["Size"], tag, "i4")
        elif name == "Origin":
            self.origin = numpy.array(s, "f8")
        elif name == "Sphere":
            self.vol[sum(c * c for c in self.centres(s["O"], False)) <= s["R"] ** 2] = tag
        elif name == "Box":
            x, y, z = ((c >= 0) & (c <= n) for c, n in zip(self.centres(s["O"]), s["Size"]))
            self.vol[x & y & z] = tag
        elif name == "Subgrid":  # MCX includes the voxel after the last one
            lo = numpy.array(s["O"], int) - 1 - self.origin.astype(int)
            hi = lo + numpy.array(s["Size"], int) + 1
            self.vol[tuple(slice(max(a, 0), max(b, 0)) for a, b in zip(lo, hi))] = tag
        elif name == "Cylinder":
            self.cylinder(s, tag)
        elif name == "UpperSpace":
            a, b, c, d = s["Coef"]
            x, y, z = self.centres([0, 0, 0], False)
            self.vol[a * x + b * y + c * z > d] = tag
        elif name[:1] in _AXES and name[1:] == "Layers":  # [first, last, tag], from 1
            for first, last, layer in numpy.atleast_2d(s).tolist():
                axis = _AXES.index(name[0])
                self.slices(axis, max(first, 1) - 1, min(last, self.vol.shape[axis]), layer)
        elif name[:1] in _AXES and name[1:] == "Slabs":
            for first, last in numpy.atleast_2d(s["Bound"]).tolist():
                axis = _AXES.index(name[0])
                self.slices(axis, max(first - 0.5, 0), min(last, self.vol.shape[axis]), tag)
        elif name != "Name":
            raise ValueError("no shape has this name; draw it into cfg['vol'] with numpy")

    def cylinder(self, s: Mapping[str, Any], tag: int) -> None:
        along = numpy.subtract(s["C1"], s["C0"]).astype("f8")
        length = float(numpy.linalg.norm(along))
        if length == 0:
            raise ValueError("its ends C0 and C1 are equal; move one of them")
        centres = self.centres(s["C0"])
        d = sum(c * a / length for c, a in zip(centres, along))
        self.vol[(d >= 0) & (d <= length) & (sum(c * c for c in centres) - d * d <= s["R"] ** 2)] = tag


def rasterise(shapes: Any, vol: Any, origin: float = 0.0) -> Any:
    """The volume with shapes, a JSON text or the same as a dict, drawn into it; origin: 1 if positions are from 1."""
    if isinstance(shapes, (str, bytes)):
        shapes = json.loads(shapes, strict=False)
    painter = _Painter(numpy.zeros((60, 60, 60), "i4") if vol is None else numpy.array(vol, "i4"), origin)
    drawn = shapes.get("Shapes") if isinstance(shapes, dict) else None
    if not isinstance(drawn, list) or not all(isinstance(shape, dict) for shape in drawn):
        raise ValueError('shapes: are not {"Shapes": [{"Sphere": {...}}, ...]}; correct them')
    for name, shape in (item for shape in drawn for item in list(shape.items())[:1]):
        try:
            painter.paint(name, shape)
        except (LookupError, TypeError, ValueError) as e:
            raise ValueError(f"shapes: {name}: {e}{' is missing' * isinstance(e, KeyError)}") from e
    return painter.vol
