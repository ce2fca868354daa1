"""result_files.py [WHITE] - compares the files of the run t in out with run.json and the columns of the survivors.

WHITE is the value of a white pixel; without it the brightest one is white. A weight of 1 is a radiance of 2 in an image of
rays. In other images pixels are sums of weights, and the lowest row of pixels is the first.
"""
import glob
import json
import sys
import zlib

import h5py
import numpy as np

report = json.load(open("out/run.json"))
tallies = report["tallies"]


def check_tallies(f):
    """The numbers of the fate reflected are those of run.json, and edges those of the configuration (tables in cm, ns)."""
    keys = {"count": "counts", "weight": "weights", "weight_squared": "weights_squared",
            "mean": "mean_over_batches", "standard_error": "standard_error_over_batches", "density": "density"}
    for name, row in ("z", tallies["histograms"][0]), ("(r,time,steps)", tallies["grids"][0]):
        for data, key in keys.items():
            if name != "z" or data != "weight_squared":
                values = f[f"{name}/reflected/{data}"][:].ravel().tolist()
                assert values == row["fates"]["reflected"][key] and sum(values) > 0, (name, data)
    assert np.array_equal(f["z/edges"], np.arange(9) * 0.25 / 8)
    assert np.allclose(f["(r,time,steps)/edges_time"], [0, 0.01, 0.02, 1], rtol=0, atol=1e-15)
    assert np.allclose(f["(r,time,steps)/edges_r"], 1e-4 * 1e6**(np.arange(21) / 20), rtol=1e-9, atol=0)


def grey_of(data):
    """The pixels of a PNG in 8 bits of grey (RFC 2083), with one chunk of pixels."""
    def chunk(kind):
        at = data.index(kind)
        size = int.from_bytes(data[at - 4:at], "big")
        assert int.from_bytes(data[at + 4 + size:at + 8 + size], "big") == zlib.crc32(data[at:at + 4 + size])
        return data[at + 4:at + 4 + size]
    header = chunk(b"IHDR")
    width, height = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:8], "big")
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and list(header[8:]) == [8, 0, 0, 0, 0]
    assert chunk(b"sRGB") and b"tIME" not in data and chunk(b"IEND") == b"" and data.count(b"IDAT") == 1
    raw = np.frombuffer(zlib.decompress(chunk(b"IDAT")), np.uint8).reshape(height, width + 1)
    grey = np.zeros((height + 1, width + 1), int)  # with a row above and a column to the left
    for j, row in enumerate(raw):
        for i, x in enumerate(row[1:].tolist()):
            a, b, c = (int(v) for v in (grey[j + 1, i], grey[j, i + 1], grey[j, i]))
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            grey[j + 1, i + 1] = (x + (0, a, b, (a + b) // 2, paeth)[row[0]]) % 256
    return grey[1:, 1:]


def check_image(f, rays):
    value, total = f["radiance" if rays else "weight"][:], f["sum"][:]
    white = float(sys.argv[1]) if len(sys.argv) > 1 else value.max()
    assert f.attrs["particles"] == tallies["particles"] and f.attrs["sumUnit"] == 2.0**-32
    assert f["sluiceConfig"][()].decode() == report["config"]
    expected = np.zeros(value.size, np.uint64)
    for path in glob.glob("out/t_*.csv"):
        rows = np.genfromtxt(path, delimiter=",", names=True, dtype=None)
        weight = rows["weight"].astype(np.float32).astype(float)
        np.add.at(expected, rows["pixel"], np.rint(weight * 2**32).astype(np.uint64))
    assert total.dtype == np.uint64 and np.array_equal(total.ravel(), expected) and expected.sum() > 0
    if rays:
        n, left = divmod(tallies["particles"], value.size)
        assert np.array_equal(f["rays"][:].ravel(), n + (np.arange(value.size) < left))
    scaled = total / 2.0**32 * (2 / np.maximum(f["rays"][:], 1) if rays else 1)
    assert value.dtype == np.float64 and np.allclose(value, scaled, rtol=1e-15 if rays else 0, atol=0)
    assert report["image"] == {"png": "t.png", "numbers": "t.image.h5", "pixels": list(value.shape[::-1]),
                               "white": white}
    light = np.minimum(value / white, 1)
    code = np.floor(255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light**(1 / 2.4) - 0.055) + 0.5)
    grey = grey_of(open("out/t.png", "rb").read())
    assert np.array_equal(grey, code if rays else code[::-1]) and len(np.unique(grey)) > 2


if "image" in report:
    check_image(h5py.File("out/t.image.h5"), "rays:" in report["config"])
else:
    check_tallies(h5py.File("out/t.tallies"))
