#!/usr/bin/env python3
"""plot.py - a picture of the demo's answer: what the detector behind the stop has seen.

    python3 scripts/plot.py out/demo [picture.png]

Reads the survivors with h5py alone, so it is also an example of how to read them.
"""
import glob
import os
import sys

try:
    import h5py
    import matplotlib
except ImportError as e:
    sys.exit(f"plot.py: {e} (needed to read and draw); run apt-get install python3-h5py python3-matplotlib")

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def read(folder, record):
    """One record of the survivors of all batches, as one array."""
    parts = []
    for name in sorted(glob.glob(os.path.join(folder, "*.h5"))):
        with h5py.File(name, "r") as f:
            (iteration,) = f["data"].values()
            (species,) = iteration["particles"].values()
            if record not in species:
                sys.exit(f"plot.py: {name} has no {record} (it draws a detector with pixels), try a run of data/configs/demo.yaml")
            parts.append(species[record][()])
    if not parts:
        sys.exit(f"plot.py: {folder} has no files of openPMD, *.h5 (it reads no others), try another folder")
    return np.concatenate(parts)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "out/demo"
    picture = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "detector.png")
    pixel, x, y = (read(folder, r) for r in ("pixel", "position/x", "position/y"))
    counts = np.bincount(pixel, minlength=64 * 64).reshape(64, 64)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")
    image = left.imshow(counts, origin="lower", extent=(-3, 3, -3, 3), cmap="magma")
    left.set(xlabel="x (cm)", ylabel="y (cm)", title=f"{len(pixel):,} survivors, 64 x 64 pixels")
    figure.colorbar(image, ax=left, label="hits a pixel")

    edges = np.linspace(0, 3, 61)
    hits, _ = np.histogram(np.hypot(x, y), edges)
    area = np.pi * (edges[1:] ** 2 - edges[:-1] ** 2)
    right.stairs(hits / area, edges, color="tab:purple")
    right.set(xlabel="distance from the axis (cm)", ylabel="hits / cm$^2$", xlim=(0, 3), ylim=0,
              title="umbra, penumbra, open field")
    figure.savefig(picture, dpi=80)
    print(picture)


main()
