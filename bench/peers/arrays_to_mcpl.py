#!/usr/bin/env python3
"""Writes arrays as a particle list (MCPL): numpy against the Python package of sluice, in one process.

    PYTHONPATH=build/release/python python3 bench/peers/arrays_to_mcpl.py [--particles N] [--dir /dev/shm]

The arrays are float32 columns of N particles. numpy packs the directions and fills one array of records, which
it writes at once, as programs without a library for MCPL do. sluice.write_mcpl() also checks all numbers, and
uses all cores. Both flush the file to the disk, and write records of 36 bytes: --dir /dev/shm keeps the disk
out of the comparison.
"""
import os
import struct

import common

NAMES = ("x", "y", "z", "u", "v", "w", "energy", "time", "weight")


def columns_of(np, n):
    """Columns of n particles with random numbers and directions."""
    random = np.random.default_rng(1)
    columns = {name: random.random(n, dtype=np.float32) for name in NAMES}
    d = random.normal(size=(3, n))
    d /= np.sqrt((d * d).sum(0))
    columns.update({name: c.astype(np.float32) for name, c in zip("uvw", d)})
    columns["pdg"] = random.choice(np.array([22, 2112], np.int32), n)
    return columns


def pack(np, u, v, w):
    """Adaptive projection packing: two numbers of each direction, and the sign of the largest component."""
    of_z = ~(np.abs(w) < np.maximum(np.abs(u), np.abs(v)))
    of_x = ~of_z & (np.abs(u) >= np.abs(v))
    with np.errstate(divide="ignore"):
        inverse = np.where(w == 0, np.inf, 1 / w.astype("f8"))
    return (np.where(of_x, inverse, u), np.where(~of_z & ~of_x, inverse, v),
            np.where(of_z, w, np.where(of_x, u, v)))


def by_numpy(np, columns, path):
    """Writes the columns with numpy."""
    n = len(columns["x"])
    records = np.empty(n, [("position", "<f4", 3), ("packed", "<f4", 2), ("ekin", "<f4"), ("time", "<f4"),
                           ("weight", "<f4"), ("pdg", "<i4")])
    for k, name in enumerate("xyz"):
        records["position"][:, k] = columns[name]
    records["packed"][:, 0], records["packed"][:, 1], sign = pack(np, columns["u"], columns["v"], columns["w"])
    records["ekin"] = np.copysign(columns["energy"] / 1e3, sign)
    records["time"] = columns["time"] / 1e6
    records["weight"], records["pdg"] = columns["weight"], columns["pdg"]
    with open(path, "wb") as f:
        f.write(struct.pack("<8sQIIIIIiIII", b"MCPL003L", n, 0, 0, 0, 0, 1, 0, records.itemsize, 0, 5) + b"numpy")
        records.tofile(f)
        f.flush()
        os.fsync(f.fileno())


def compare(options, report):
    common.require_program(options.sluice, "the program sluice")
    np = common.require("numpy", "numpy")
    sluice = common.require("sluice", "sluice-particles")
    import mcpl_records

    columns = columns_of(np, options.particles)
    ours, theirs = (os.path.join(options.work, name) for name in ("sluice.mcpl", "numpy.mcpl"))

    def write_ours():
        sluice.write_mcpl(ours, columns, force=True)

    def write_theirs():
        by_numpy(np, columns, theirs)

    write_ours()
    write_theirs()
    mcpl_records.compare(ours, theirs, "write arrays")
    report.origin("peer", f"numpy {np.__version__}, Python {common.platform.python_version()}")
    report.origin("list", f"{os.path.getsize(ours)} bytes; {len(os.sched_getaffinity(0))} cores")
    report.times(f"{options.particles} particles", common.alternate(
        {"sluice": lambda: common.clocks(write_ours), "numpy": lambda: common.clocks(write_theirs)}, options.repeat))


def main():
    parser = common.options_of(__doc__)
    parser.add_argument("--particles", type=common.positive, default=10_000_000, metavar="N",
                        help="particles of the list (default 1e7)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
