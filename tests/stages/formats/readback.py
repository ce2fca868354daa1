"""readback.py make - writes tables as .csv files; readback.py NAME... - compares NAME.h5 and NAME.npz with NAME.csv.

text/openpmd.txt converts the tables, and runs configurations in each format. What is expected of openPMD is written down here
by hand, from the standard, not taken from the program: names, units, and that strings have a fixed length.
"""
import json
import os
import sys
import xml.etree.ElementTree
import zipfile

import h5py
import numpy as np

NUMBER, LENGTH, TIME, ENERGY = (0, 0, 0), (1, 0, 0), (0, 0, 1), (2, 1, -2)
UNITS = {NUMBER: "", LENGTH: "cm", TIME: "ns", ENERGY: "keV"}
SI = {NUMBER: 1, LENGTH: 0.01, TIME: 1e-9, ENERGY: 1.602176634e-16}
ANGLES = {"theta": "rad", "phi": "rad"}  # an angle is a number for openPMD

# column: type, powers of length, mass and time; in the order of files
COLUMNS = {name: column for names, *column in (
    ("id", "<u8", NUMBER), ("x y z", "<f4", LENGTH), ("u v w", "<f4", NUMBER), ("energy", "<f4", ENERGY),
    ("weight", "<f4", NUMBER), ("time", "<f4", TIME), ("pdg", "<i4", NUMBER), ("userflags", "<u4", NUMBER),
    ("pol_x pol_y pol_z", "<f4", NUMBER), ("pixel steps collisions", "<u4", NUMBER), ("fate", "|u1", NUMBER),
    ("r rho", "<f4", LENGTH), ("theta phi", "<f4", NUMBER), ("wavelength", "<f4", LENGTH), ("half", "<f4", NUMBER),
    ("path_1 path_2 path_3", "<f4", LENGTH), ("collisions_1 collisions_2 collisions_3", "<u4", NUMBER),
    ("momentum_1 momentum_2 momentum_3", "<f4", NUMBER)) for name in names.split()}
PATHS = {"weight": "weighting", **dict(zip("xyz", ("position/x", "position/y", "position/z"))),
         **dict(zip("uvw", ("direction/x", "direction/y", "direction/z"))), **{f"pol_{a}": f"polarization/{a}" for a in "xyz"}}


def path_of(name):
    """Where openPMD has a column."""
    return PATHS.get(name, name)


def make():
    """Any integers and some floats; one value per column; no rows; a column of several chunks; no positions."""
    random = np.random.default_rng(1)
    for table, n, names in (("whole", 1000, COLUMNS), ("same", 7, COLUMNS), ("none", 0, COLUMNS), ("large", 300000, ["x"]),
                            ("lost", 50, ["id", "fate"])):
        kinds = [np.dtype(COLUMNS[name][0]) for name in names]
        columns = [random.integers(-8000, 8000, n) / 8 if kind == "<f4" else np.frombuffer(random.bytes(n * kind.itemsize), kind)
                   for kind in kinds]
        with open(table + ".csv", "w", encoding="ascii") as f:
            f.write(",".join(names) + "\n")
            for row in zip(*columns):
                f.write(",".join("3" if table == "same" else f"{v:g}" if isinstance(v, float) else str(v) for v in row) + "\n")


def table_of(name):
    """The expected values, from text."""
    with open(name, encoding="ascii") as f:
        names, *rows = [line.rstrip("\n").split(",") for line in f]
    return {name: np.array([row[k] for row in rows], "U20").astype(COLUMNS[name][0]) for k, name in enumerate(names)}


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


def check_column(species, name, values):
    kind, powers = COLUMNS[name]
    component = species[path_of(name)]
    check_record(species[path_of(name).split("/", maxsplit=1)[0]], powers)
    assert number(component, "unitSI", "<f8") == SI[powers]
    assert component.attrs["sluiceDigest"].dtype == "<u8"
    if isinstance(component, h5py.Group):
        check_constant(component, len(values), values[0] if len(values) else component.attrs["value"])
        assert (values == values[:1]).all(), name
        return
    assert same(component[:], values), name
    if len(values):
        assert component.chunks[0] * np.dtype(kind).itemsize <= 1 << 20
        assert component.compression == "gzip" and component.shuffle == (name != "fate")


def check_patches(patches, table, n, axes):
    assert list(patches["numParticles"][:]) == [n] and list(patches["numParticlesOffset"][:]) == [0]
    for name in ("offset", "extent"):
        check_record(patches[name], LENGTH)
        assert sorted(patches[name]) == axes
    for axis in axes:
        low, extent = patches["offset"][axis][0], patches["extent"][axis][0]
        assert number(patches["offset"][axis], "unitSI", "<f8") == 0.01
        values = table[axis].astype("f8")
        if n:
            assert low == values.min() and low + extent > values.max()
            assert extent <= np.nextafter(np.float32(values.max()), np.float32(np.inf)) - low \
                or extent <= np.nextafter(values.max() - low, np.inf)
        else:
            assert low == 0 and extent == 0


def check_species(species, table, n):
    axes = sorted(a for a in "xyz" if a in table)
    for name, values in table.items():
        check_column(species, name, values)
    wanted = {path_of(name).split("/", maxsplit=1)[0] for name in table} | {"position", "positionOffset"}
    assert set(species) == wanted | ({"particlePatches"} if axes else set()), set(species)
    check_record(species["positionOffset"], LENGTH)
    assert sorted(species["positionOffset"]) == (axes or ["x"])
    for offset in species["positionOffset"].values():
        check_constant(offset, n, np.float32(0))
        assert number(offset, "unitSI", "<f8") == 0.01
    if axes:
        check_patches(species["particlePatches"], table, n, axes)
    else:
        check_constant(species["position/x"], n, np.float32("nan"))
        assert np.isnan(species["position/x"].attrs["value"])


def check_openpmd(name, table, about):
    n = len(next(iter(table.values())))
    with h5py.File(name + ".h5", "r") as f:
        assert [text(f, key) for key in ("openPMD", "basePath", "particlesPath", "iterationEncoding", "software")] \
            == ["1.1.0", "/data/%T/", "particles/", "fileBased", "Sluice"]
        assert number(f, "openPMDextension", "<u4") == 0 and not {"date", "author", "machine"} & set(f.attrs)
        batch = str(about["batch"])
        assert set(f) - {"sluiceConfig"} == {"data"} and list(f["data"]) == [batch]
        iteration = f["data"][batch]
        assert [number(iteration, key, "<f8") for key in ("time", "dt", "timeUnitSI")] == [0, 0, 1]
        assert list(iteration["particles"]) == [about["species"]]
        check_species(iteration["particles"][about["species"]], table, n)
        if "/" in name:  # of a run
            assert text(f, "iterationFormat") == about["run"] + "_%06T.h5" and text(f, "softwareVersion") == about["version"]
            assert [number(f, "sluice" + key, "<u8") for key in ("Seed", "Batch", "FirstId", "Generated")] \
                == [about[key] for key in ("seed", "batch", "first_id", "generated")]
            assert f["sluiceConfig"][()].decode() == about["config"].replace("format: npz", "format: openpmd")
            assert 'u00e4\\"\\\\ ' in about["config"]


def check_npz(name, table):
    """The header of each array is padded with spaces to a multiple of 64 bytes. Returns what the file says about the run."""
    with zipfile.ZipFile(name + ".npz") as archive:
        for key, values in table.items():
            array = archive.read(key + ".npy")
            size = 10 + int.from_bytes(array[8:10], "little")
            assert array[:8] == b"\x93NUMPY\x01\x00" and size % 64 == 0
            assert array[10:size] == (f"{{'descr': '{values.dtype.str}', 'fortran_order': False, 'shape': ({len(values)},), }}"
                                      .ljust(size - 11) + "\n").encode()
    with np.load(name + ".npz", allow_pickle=False) as f:
        assert f.files == list(table) + ["about"]
        for key, values in table.items():
            assert same(f[key], values), key
        about = json.loads(f["about"].item())
    assert about["units"] == {key: ANGLES.get(key, UNITS[COLUMNS[key][1]]) for key in table} and about["software"] == "Sluice"
    return about


def check_xdmf(name, folder):
    """One grid per batch that has survivors; items have the shape and the type of the dataset that they name."""
    kinds = {"Float": ["f4"], "UInt": ["u4"], "Int": ["u8", "i4"], "UChar": ["u1"]}
    collection = xml.etree.ElementTree.parse(name).getroot().find("Domain/Grid")
    assert collection.get("CollectionType") == "Temporal"
    for number_, grid in enumerate(collection.findall("Grid")):
        assert int(grid.find("Time").get("Value")) == number_ and grid.find("Topology").get("TopologyType") == "Polyvertex"
        points = grid.findall("Geometry/DataItem")
        assert [p.text[-11:] for p in points] == ["/position/x", "/position/y", "/position/z"]
        for item in points + grid.findall("Attribute/DataItem"):
            file, path = item.text.split(":")
            with h5py.File(os.path.join(folder, file), "r") as f:
                assert f[path].shape == (int(item.get("Dimensions")),) == (int(grid.find("Topology").get("NumberOfElements")),)
                assert f[path].dtype.str[1:] in kinds[item.get("NumberType")] and int(item.get("Precision")) == f[path].dtype.itemsize
    print(len(collection.findall("Grid")), "grids", *[a.get("Name") for a in grid.findall("Attribute")])


if sys.argv[1:] == ["make"]:
    make()
for argument in sys.argv[1:] if sys.argv[1:] != ["make"] else []:
    if argument.endswith(".xdmf"):
        check_xdmf(argument, os.path.dirname(argument))
    else:
        check_openpmd(argument, table_of(argument + ".csv"), check_npz(argument, table_of(argument + ".csv")))
