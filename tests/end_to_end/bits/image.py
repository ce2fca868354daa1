"""image.py FOLDER RUN WHITE SCALE - compares the image of a run with the columns of its survivors.

WHITE is the value of a white pixel, or "largest". SCALE is the radiance of a weight of 1, or "none" if
pixels are sums of weight; then the lowest row of pixels is the first.
"""
import glob
import json
import os
import struct
import sys
import zlib

import h5py
import numpy as np


def columns_of(path):
    """Pixels and weights of all survivors in a file."""
    with h5py.File(path) as f:
        number = list(f["data"])[0]
        species = list(f[f"data/{number}/particles"].values())[0]
        pixel, weight = species["pixel"][:], species["weighting"]
        constant = isinstance(weight, h5py.Group)
        return pixel, np.full(len(pixel), weight.attrs["value"]) if constant else weight[:]


def grey_of(path):
    """The pixels of a PNG in 8 bits of grey (RFC 2083)."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, kinds = 8, b"", []
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert crc == zlib.crc32(kind + body)
        kinds.append(kind)
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", body)
            assert form == [8, 0, 0, 0, 0], form
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    assert kinds[0] == b"IHDR" and kinds[-1] == b"IEND" and b"sRGB" in kinds and b"tIME" not in kinds
    raw = zlib.decompress(packed)
    assert len(raw) == height * (width + 1)
    rows, above = [], [0] * width
    for j in range(height):
        line = raw[j * (width + 1):(j + 1) * (width + 1)]
        row = []
        for i, x in enumerate(line[1:]):
            a, b, c = row[i - 1] if i else 0, above[i], above[i - 1] if i else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row.append((x + (0, a, b, (a + b) // 2, paeth)[line[0]]) % 256)
        rows.append(row)
        above = row
    return np.array(rows)


def main(folder, run, white, scale):
    """Fails an assertion if a value differs."""
    report = json.load(open(os.path.join(folder, "run.json")))
    particles = report["tallies"]["particles"]
    with h5py.File(os.path.join(folder, run + ".image.h5")) as f:
        value = f["weight" if scale == "none" else "radiance"][:]
        total = f["sum"][:]
        rays = None if scale == "none" else f["rays"][:]
        assert f.attrs["particles"] == particles and f.attrs["sumUnit"] == 2.0**-32
        assert f["sluiceConfig"][()].decode() == report["config"]
    assert value.dtype == np.float64 and total.dtype == np.uint64
    expected = [0] * value.size
    for path in glob.glob(os.path.join(folder, run + "_*.h5")):
        for pixel, weight in zip(*columns_of(path)):
            expected[pixel] += int(float(weight) * 2**32)  # weights of these scenes are exact
    assert total.ravel().tolist() == expected and sum(expected) > 0
    if scale == "none":
        assert np.array_equal(value, total / 2.0**32)
    else:
        turns = [particles // value.size + (i < particles % value.size) for i in range(value.size)]
        assert rays.ravel().tolist() == turns
        want = total / 2.0**32 / np.maximum(rays, 1) * float(scale)
        assert np.allclose(value, want, rtol=1e-15, atol=0)
    expected_image = {"png": run + ".png", "numbers": run + ".image.h5", "pixels": list(value.shape[::-1]),
             "white": value.max() if white == "largest" else float(white)}
    assert report["image"] == expected_image, report["image"]
    light = np.minimum(value / (value.max() if white == "largest" else float(white)), 1)
    code = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light**(1 / 2.4) - 0.055)
    code = np.floor(255 * code + 0.5)
    grey = grey_of(os.path.join(folder, run + ".png"))
    assert np.array_equal(grey, code[::-1] if scale == "none" else code)
    assert len(set(grey.ravel())) > 2


main(*sys.argv[1:])
