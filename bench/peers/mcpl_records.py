"""mcpl_records.py - maps the records of an MCPL file of version 3 as a numpy array, and unpacks them.

Only what the scripts of this folder need: files that are not compressed, little-endian, and read only to
compare them or to work on them with numpy. A header is (Kittelmann et al. 2017): "MCPL003L", number of
particles, of comments, of blobs, four options, bytes of a record, universal weight or not; then the strings.
"""
import struct

import numpy as np

from common import WrongAnswer


def read_header(path):
    """Bytes of the header, number of records, type of a record, universal PDG code and weight (or None)."""
    with open(path, "rb") as f:
        start = f.read(48)
        if start[:8] != b"MCPL003L":
            raise WrongAnswer(f"{path} is not an MCPL file of version 3 of this byte order")
        n, comments, blobs, flags, polarised, single, pdg, size, weighs = struct.unpack("<QIIIIIiII", start[8:48])
        weight = struct.unpack("<d", f.read(8))[0] if weighs else None
        for _ in range(1 + comments + 2 * blobs):
            f.seek(struct.unpack("<I", f.read(4))[0], 1)
        header = f.tell()
    number = "<f4" if single else "<f8"
    fields = [("polarisation", number, 3)] if polarised else []
    fields += [("position", number, 3), ("packed", number, 2), ("ekin", number), ("time", number)]
    fields += [("weight", number)] if weight is None else []
    fields += [("pdg", "<i4")] if pdg == 0 else []
    fields += [("userflags", "<u4")] if flags else []
    record = np.dtype(fields)
    if record.itemsize != size:
        raise WrongAnswer(f"{path}: records of {size} bytes, expected {record.itemsize}")
    return header, n, record, pdg or None, weight


def map_records(path):
    """The records of a file as an array of their fields, mapped and read only."""
    header, n, record, _, _ = read_header(path)
    return np.memmap(path, record, "r", header, n) if n else np.zeros(0, record)


def directions(records):
    """Unit vectors, in double precision: the inverse of the adaptive projection packing."""
    a, b = records["packed"][:, 0].astype("f8"), records["packed"][:, 1].astype("f8")
    sign = np.where(np.signbit(records["ekin"]), -1.0, 1.0)
    by_x, by_y = np.abs(a) > 1, np.abs(b) > 1
    with np.errstate(divide="ignore"):
        z = np.where(by_x, 1 / a, np.where(by_y, 1 / b, 0.0))
    x, y = np.where(by_x, 0.0, a), np.where(by_y, 0.0, b)
    rest = sign * np.sqrt(np.maximum(0.0, 1 - x * x - y * y - z * z))
    return np.stack([np.where(by_x, rest, x), np.where(by_y, rest, y), np.where(by_x | by_y, z, rest)], axis=1)


def compare(found, expected, what):
    """Raises WrongAnswer unless two files have the same particles in the same order.

    Position, weight, PDG code and user flags are equal; direction, energy and time agree to 2^-21, because a
    program that unpacks and packs a record again rounds them.
    """
    a, b = map_records(found), map_records(expected)
    if len(a) != len(b):
        raise WrongAnswer(f"{what}: {len(a)} particles, expected {len(b)}")
    heads = read_header(found), read_header(expected)
    for name, universal in (("position", None), ("weight", 4), ("pdg", 3), ("userflags", None)):
        x, y = (r[name] if name in r.dtype.names else np.full(len(r), h[universal] if universal else 0)
                for r, h in zip((a, b), heads))
        if not np.array_equal(x, y):
            raise WrongAnswer(f"{what}: the {name} differs")
    if np.abs(directions(a) - directions(b)).max(initial=0) > 2.0 ** -21:
        raise WrongAnswer(f"{what}: the direction differs by more than rounding")
    for name, field in (("energy", "ekin"), ("time", "time")):
        x, y = np.abs(a[field].astype("f8")), np.abs(b[field].astype("f8"))
        if np.any(np.abs(x - y) > 2.0 ** -21 * y):
            raise WrongAnswer(f"{what}: the {name} differs by more than rounding")
