"""readback.py FOLDER - compares the files that readback.c wrote with what they should hold.

What is expected of openPMD is written down here by hand, from the standard, not taken from the
program: names, units, and that strings have a fixed length.
"""
import json
import os
import sys
import xml.etree.ElementTree
import zipfile

import h5py
import numpy as np

CONFIG = 'a: "b\\c"\n\t\u00e4'

NUMBER, LENGTH, TIME, ENERGY = (0, 0, 0), (1, 0, 0), (0, 0, 1), (2, 1, -2)

UNITS = {NUMBER: "", LENGTH: "cm", TIME: "ns", ENERGY: "keV"}
ANGLES = {"theta": "rad", "phi": "rad"}  # an angle is a number for openPMD

# column: path, type, powers of length, mass and time, unit in SI
COLUMNS = {
    "id": ("id", "<u8", NUMBER, 1),
    "x": ("position/x", "<f4", LENGTH, 0.01),
    "y": ("position/y", "<f4", LENGTH, 0.01),
    "z": ("position/z", "<f4", LENGTH, 0.01),
    "u": ("direction/x", "<f4", NUMBER, 1),
    "v": ("direction/y", "<f4", NUMBER, 1),
    "w": ("direction/z", "<f4", NUMBER, 1),
    "energy": ("energy", "<f4", ENERGY, 1.602176634e-16),
    "weight": ("weighting", "<f4", NUMBER, 1),
    "time": ("time", "<f4", TIME, 1e-9),
    "pdg": ("pdg", "<i4", NUMBER, 1),
    "userflags": ("userflags", "<u4", NUMBER, 1),
    "pol_x": ("polarization/x", "<f4", NUMBER, 1),
    "pol_y": ("polarization/y", "<f4", NUMBER, 1),
    "pol_z": ("polarization/z", "<f4", NUMBER, 1),
    "pixel": ("pixel", "<u4", NUMBER, 1),
    "steps": ("steps", "<u4", NUMBER, 1),
    "collisions": ("collisions", "<u4", NUMBER, 1),
    "fate": ("fate", "|u1", NUMBER, 1),
    "r": ("r", "<f4", LENGTH, 0.01),
    "rho": ("rho", "<f4", LENGTH, 0.01),
    "theta": ("theta", "<f4", NUMBER, 1),
    "phi": ("phi", "<f4", NUMBER, 1),
    "wavelength": ("wavelength", "<f4", LENGTH, 0.01),
    **{f"derived_{k}": (f"derived_{k}", "<f4", NUMBER, 1) for k in range(1, 5)},
    **{f"path_{k}": (f"path_{k}", "<f4", LENGTH, 0.01) for k in range(1, 4)},
    **{f"collisions_{k}": (f"collisions_{k}", "<u4", NUMBER, 1) for k in range(1, 4)},
    **{f"momentum_{k}": (f"momentum_{k}", "<f4", NUMBER, 1) for k in range(1, 4)},
}


class Case:
    """A line of cases.txt: RUN NUMBER ROWS COLUMN:CONSTANT:DIGEST..."""

    def __init__(self, folder, line):
        self.run, number, rows, *columns = line.split()
        self.number, self.n = int(number), int(rows)
        self.values, self.constant, self.digest = {}, {}, {}
        for column in columns:
            name, constant, digest = column.split(":")
            raw = os.path.join(folder, f"{self.run}_{self.number}_{name}.raw")
            values = np.fromfile(raw, COLUMNS[name][1])
            self.constant[name] = constant == "1"
            self.values[name] = np.repeat(values, self.n) if constant == "1" else values
            self.digest[name] = int(digest)
        self.file = os.path.join(folder, f"{self.run}_{self.number:06d}")


def same(a, b):
    """Equal, bit for bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def text(holder, name):
    """A text attribute, which must be a string of fixed length in ASCII."""
    kind = holder.attrs.get_id(name).get_type()
    assert kind.get_class() == h5py.h5t.STRING and not kind.is_variable_str(), name
    assert kind.get_cset() == h5py.h5t.CSET_ASCII, name
    return holder.attrs[name].decode()


def number(holder, name, kind):
    """A scalar attribute of that type."""
    value = holder.attrs[name]
    assert value.dtype == kind and value.shape == (), (name, value.dtype)
    return value


def check_record(record, powers):
    assert record.attrs["unitDimension"].dtype == "<f8"
    assert tuple(record.attrs["unitDimension"]) == powers + (0, 0, 0, 0)
    assert number(record, "timeOffset", "<f8") == 0


def check_constant(group, n, value):
    assert isinstance(group, h5py.Group) and len(group) == 0
    assert group.attrs["shape"].dtype == "<u8" and list(group.attrs["shape"]) == [n]
    assert same(np.array(group.attrs["value"]), np.array(value)) or value != value


def check_column(species, case, name):
    path, kind, powers, si = COLUMNS[name]
    component = species[path]
    check_record(species[path.split("/")[0]], powers)
    assert number(component, "unitSI", "<f8") == si
    assert number(component, "sluiceDigest", "<u8") == case.digest[name]
    if case.constant[name]:
        check_constant(component, case.n, case.values[name][0] if case.n else component.attrs["value"])
        return
    assert same(component[:], case.values[name]), name
    if case.n:
        assert component.chunks[0] * np.dtype(kind).itemsize <= 1 << 20
        assert component.compression == "gzip" and component.shuffle == (name != "fate")


def check_offsets(species, case, axes):
    offsets = species["positionOffset"]
    check_record(offsets, LENGTH)
    assert sorted(offsets) == axes
    for axis in axes:
        check_constant(offsets[axis], case.n, np.float32(0))
        assert number(offsets[axis], "unitSI", "<f8") == 0.01


def check_patches(species, case, axes):
    patches = species["particlePatches"]
    assert list(patches["numParticles"][:]) == [case.n]
    assert list(patches["numParticlesOffset"][:]) == [0]
    for name in ("offset", "extent"):
        check_record(patches[name], LENGTH)
        assert sorted(patches[name]) == axes
    for axis in axes:
        low, extent = patches["offset"][axis][0], patches["extent"][axis][0]
        assert number(patches["offset"][axis], "unitSI", "<f8") == 0.01
        values = case.values[axis].astype("f8")
        if case.n:
            assert low == values.min() and low + extent > values.max()
            assert extent <= np.nextafter(np.float32(values.max()), np.float32(np.inf)) - low \
                or extent <= np.nextafter(values.max() - low, np.inf)
        else:
            assert low == 0 and extent == 0


def check_species(species, case):
    axes = sorted(a for a in "xyz" if a in case.values)
    for name in case.values:
        check_column(species, case, name)
    wanted = {COLUMNS[name][0].split("/")[0] for name in case.values}
    wanted |= {"position", "positionOffset"} | ({"particlePatches"} if axes else set())
    assert set(species) == wanted, set(species)
    check_offsets(species, case, axes or ["x"])
    if axes:
        check_patches(species, case, axes)
    else:
        check_constant(species["position/x"], case.n, np.float32("nan"))
        assert np.isnan(species["position/x"].attrs["value"])


def check_openpmd(case):
    with h5py.File(case.file + ".h5", "r") as f:
        assert text(f, "openPMD") == "1.1.0"
        assert number(f, "openPMDextension", "<u4") == 0
        assert text(f, "basePath") == "/data/%T/"
        assert text(f, "particlesPath") == "particles/"
        assert text(f, "iterationEncoding") == "fileBased"
        assert text(f, "iterationFormat") == case.run + "_%06T.h5"
        assert text(f, "software") == "Sluice"
        assert text(f, "softwareVersion") == "1.2.3"
        assert number(f, "sluiceSeed", "<u8") == 42
        assert number(f, "sluiceBatch", "<u8") == case.number
        assert number(f, "sluiceFirstId", "<u8") == 5
        assert number(f, "sluiceGenerated", "<u8") == 1 << 20
        assert f["sluiceConfig"][()].decode() == CONFIG
        assert set(f) == {"data", "sluiceConfig"}
        assert not {"date", "author", "machine"} & set(f.attrs)
        assert list(f["data"]) == [str(case.number)]
        iteration = f["data"][str(case.number)]
        assert number(iteration, "time", "<f8") == 0
        assert number(iteration, "dt", "<f8") == 0
        assert number(iteration, "timeUnitSI", "<f8") == 1
        assert list(iteration["particles"]) == ["photons"]
        check_species(iteration["particles/photons"], case)


def check_headers(case):
    """The header of each array: its text, padded with spaces to a multiple of 64 bytes."""
    with zipfile.ZipFile(case.file + ".npz") as archive:
        for name, values in case.values.items():
            array = archive.read(name + ".npy")
            size = 10 + int.from_bytes(array[8:10], "little")
            assert array[:8] == b"\x93NUMPY\x01\x00" and size % 64 == 0
            assert array[10:size] == (f"{{'descr': '{values.dtype.str}', 'fortran_order': False, 'shape': ({case.n},), }}"
                                      .ljust(size - 11) + "\n").encode()


def check_npz(case):
    check_headers(case)
    with np.load(case.file + ".npz", allow_pickle=False) as f:
        assert f.files == list(case.values) + ["about"]
        for name, values in case.values.items():
            assert same(f[name], values), name
        about = json.loads(f["about"].item())
    assert about.pop("units") == {name: ANGLES.get(name, UNITS[COLUMNS[name][2]]) for name in case.values}
    assert about == {
        "software": "Sluice", "version": "1.2.3", "rules_version": 7, "run": case.run, "seed": 42, "batch": case.number,
        "first_id": 5, "generated": 1 << 20, "species": "photons", "config": CONFIG}


def check_item(folder, item, case, kinds):
    name, path = item.text.split(":")
    with h5py.File(os.path.join(folder, name), "r") as f:
        data = f[path]
        assert data.shape == (int(item.get("Dimensions")),) == (case.n,)
        kind, size = item.get("NumberType"), int(item.get("Precision"))
        assert kinds[kind] == data.dtype.kind and size == data.dtype.itemsize


def check_xdmf(folder, cases):
    root = xml.etree.ElementTree.parse(os.path.join(folder, "demo.xdmf")).getroot()
    kinds = {"Float": "f", "UInt": "u", "Int": "u", "UChar": "u"}
    collection = root.find("Domain/Grid")
    assert collection.get("CollectionType") == "Temporal"
    cases = [case for case in cases if case.run == "demo" and case.n]
    assert len(collection.findall("Grid")) == len(cases)
    for grid, case in zip(collection.findall("Grid"), cases):
        assert int(grid.find("Time").get("Value")) == case.number
        assert grid.find("Topology").get("TopologyType") == "Polyvertex"
        assert int(grid.find("Topology").get("NumberOfElements")) == case.n
        points = grid.findall("Geometry/DataItem")
        assert [p.text[-11:] for p in points] == ["/position/x", "/position/y", "/position/z"]
        assert [a.get("Name") for a in grid.findall("Attribute")] == ["id"]
        for item in points + grid.findall("Attribute/DataItem"):
            check_item(folder, item, case, kinds)


def main(folder):
    with open(os.path.join(folder, "cases.txt"), encoding="ascii") as f:
        cases = [Case(folder, line) for line in f]
    for case in cases:
        check_openpmd(case)
        check_npz(case)
    check_xdmf(folder, cases)


main(sys.argv[1])
