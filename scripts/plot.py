#!/usr/bin/env python3
"""plot.py - draws the survivors of the demo: the image on the detector, and the hits by distance from the axis.

    python3 scripts/plot.py [RUN_DIR [PICTURE]]

RUN_DIR is the folder of a run of data/configs/demo.yaml with openPMD files (default: out/demo). PICTURE is the file to write
(default: RUN_DIR/detector.png). Prints its name. Exit code: 0, or 1 with a message.

Only h5py reads the files, so this is also an example of how to read survivors.
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
    """Returns one record of the survivors of all batches as one array."""
    parts = []
    for name in sorted(glob.glob(os.path.join(folder, "*.h5"))):
        with h5py.File(name, "r") as f:
            (iteration,) = f["data"].values()
            (species,) = iteration["particles"].values()
            if record not in species:
                sys.exit(f"plot.py: {name} has no record {record}, which the picture needs; name a run of data/configs/demo.yaml")
            parts.append(species[record][()])
    if not parts:
        sys.exit(f"plot.py: {folder} has no openPMD files (*.h5); name the folder of a run with output.format: openpmd")
    return np.concatenate(parts)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "out/demo"
    picture = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "detector.png")
    pixel, x, y = (read(folder, r) for r in ("pixel", "position/x", "position/y"))
    counts = np.bincount(pixel, minlength=64 * 64).reshape(64, 64)

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4), layout="constrained")
    image = left.imshow(counts, origin="lower", extent=(-3, 3, -3, 3), cmap="magma")
    left.set(xlabel="x (cm)", ylabel="y (cm)", title=f"{len(pixel):,} survivors, 64 x 64 pixels")
    figure.colorbar(image, ax=left, label="hits per pixel")

    edges = np.linspace(0, 3, 61)
    hits, _ = np.histogram(np.hypot(x, y), edges)
    area = np.pi * (edges[1:] ** 2 - edges[:-1] ** 2)
    right.stairs(hits / area, edges, color="tab:purple")
    right.set(xlabel="distance from the axis (cm)", ylabel="hits / cm$^2$", xlim=(0, 3), ylim=0,
              title="umbra, penumbra, open field")
    figure.savefig(picture, dpi=80)
    print(picture)


main()
