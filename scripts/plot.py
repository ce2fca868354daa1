#!/usr/bin/env python3
"""plot.py - draws the survivors of the demo: the image on the detector, and the hits by distance from the axis.

    python3 scripts/plot.py [RUN_DIR [PICTURE]]

RUN_DIR is the folder of a run of data/configs/demo.yaml (default: out/demo). PICTURE is the file to write
(default: RUN_DIR/detector.png). Prints its name. Exit code: 0, or 1 with a message.

load_run.py, in the same folder, reads the survivors.
"""
import os
import sys

try:
    import matplotlib
except ImportError as e:
    sys.exit(f"plot.py: {e} (needed to read and draw); install both for this Python: pip install h5py matplotlib, or python3-h5py and python3-matplotlib of Debian")

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import load_run


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "out/demo"
    picture = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "detector.png")
    try:
        hits_of = load_run.load(folder, ["pixel", "x", "y"])
    except load_run.Unreadable as e:
        sys.exit(f"plot.py: {e}")
    pixel, x, y = hits_of.values()
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
