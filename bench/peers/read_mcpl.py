#!/usr/bin/env python3
"""Reads a particle list (MCPL) as arrays: the Python package mcpl against sluice.read(), in one process.

    PYTHONPATH=build/release/python venv/bin/python bench/peers/read_mcpl.py [--particles N] [--dir /dev/shm]

The lists have the same N particles, in three files: records of 36 bytes, of 68 bytes, and of 36 bytes in gzip with
members of 1 MiB, as sluice writes them. Both programs give ten arrays of N items. mcpl reads blocks of 10^6
particles, which are joined, as its users do; its arrays have double precision, and those of sluice single precision.
sluice uses all cores. --dir /dev/shm keeps the disk out of the comparison.
"""
import os

import common

FIELDS = {"x": "x", "y": "y", "z": "z", "u": "ux", "v": "uy", "w": "uz", "energy": "ekin", "time": "time",
          "weight": "weight", "pdg": "pdgcode"}
BLOCK = 1_000_000


def read_by_mcpl(np, mcpl, path):
    """Name of mcpl -> array of all particles."""
    blocks = [{name: np.array(getattr(block, name)) for name in FIELDS.values()}
              for block in mcpl.MCPLFile(path, blocklength=BLOCK).particle_blocks]
    return {name: np.concatenate([block[name] for block in blocks]) for name in FIELDS.values()}


def check(np, ours, theirs, path):
    """Raises WrongAnswer unless all columns agree to single precision."""
    scale = {"energy": 1e3, "time": 1e6}
    for name, other in FIELDS.items():
        expected = theirs[other].astype("f8") * scale.get(name, 1)
        if not np.allclose(ours[name], expected, rtol=2.0 ** -21, atol=2.0 ** -21):
            raise common.WrongAnswer(f"{os.path.basename(path)}: {name} differs from that of mcpl")


def compare(options, report):
    common.require_program(options.sluice, "the program sluice")
    np = common.require("numpy", "numpy")
    mcpl = common.require("mcpl", "mcpl")
    sluice = common.require("sluice", "sluice-particles")
    from arrays_to_mcpl import columns_of

    columns = columns_of(np, options.particles)
    report.origin("peer", f"mcpl {mcpl.__version__}, numpy {np.__version__}, Python "
                          f"{common.platform.python_version()}; {len(os.sched_getaffinity(0))} cores of sluice")
    for name, precision in (("single.mcpl", "single"), ("double.mcpl", "double"), ("single.mcpl.gz", "single")):
        path = os.path.join(options.work, name)
        sluice.write_mcpl(path, columns, precision=precision, force=True)
        check(np, sluice.read(path), read_by_mcpl(np, mcpl, path), path)
        report.times(f"{name}, {options.particles} particles", common.alternate(
            {"sluice": lambda: common.clocks(lambda: sluice.read(path)),
             "mcpl": lambda: common.clocks(lambda: read_by_mcpl(np, mcpl, path))}, options.repeat))
        os.remove(path)


def main():
    parser = common.options_of(__doc__)
    parser.add_argument("--particles", type=common.positive, default=4_000_000, metavar="N",
                        help="particles of the lists (default 4e6)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
