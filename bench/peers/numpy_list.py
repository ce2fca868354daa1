#!/usr/bin/env python3
"""Filters, sorts and writes a particle list (MCPL): numpy against sluice, from file to file.

    python3 bench/peers/numpy_list.py [--particles N] [--gzip] [--threads N] [--repeat N] [--csv FILE]

sluice writes the list, half of N particles of data/configs/reference.yaml. Both programs keep the particles
with ekin > 5 keV and abs(x) < 0.5 cm, sort them by energy and write them as MCPL. numpy works on the mapped
records, in a Python that has started and imported numpy; the time of sluice is that of the whole process,
which also computes the checksum of its input, all fractions and digests. Both flush the file to the disk.
--gzip: both read the list compressed by gzip at level 6, numpy through Python's gzip, and write it plain.
"""
import gzip
import os
import shutil

import common

KEEP_KEV, KEEP_CM = 5, 0.5
CONFIG = """run:    {{name: sorted, particles: {n}, batch: {n}}}
model:  {{list: {{files: ["{path}"]}}}}
keep:   ekin > {kev} keV and abs(x) < {cm} cm
key:    [ekin_log:32]
output: {{format: mcpl}}
"""


def compress(path):
    """Compresses a file; returns the path of the compressed one."""
    with open(path, "rb") as plain, gzip.open(path + ".gz", "wb", 6) as packed:
        shutil.copyfileobj(plain, packed, 1 << 20)
    return path + ".gz"


def by_numpy(np, records, header, out):
    """Filters, sorts and writes with numpy. The energy is that of a column: in keV, in single precision."""
    energy = (np.abs(records["ekin"]).astype("f8") * 1e3).astype("f4")
    kept = np.flatnonzero((energy > KEEP_KEV) & (np.abs(records["position"][:, 0]) < np.float32(KEEP_CM)))
    kept = kept[np.argsort(energy[kept], kind="stable")]
    with open(out, "wb") as f:
        f.write(header[:8] + len(kept).to_bytes(8, "little") + header[16:])
        records[kept].tofile(f)
        f.flush()
        os.fsync(f.fileno())


def compare(options, report):
    np = common.require("numpy", "numpy")
    import mcpl_records

    path = common.write_reference(options, "list.mcpl")
    size, n, record, _, _ = mcpl_records.read_header(path)
    source = compress(path) if options.gzip else path
    by_sluice, out = (os.path.join(options.work, name) for name in ("by_sluice", "numpy.mcpl"))
    config = common.write_file(options, "sorted.yaml", CONFIG.format(n=n, path=source, kev=KEEP_KEV, cm=KEEP_CM))
    words = common.sluice_words(options, config, "--device", "cpu", "--threads", str(options.threads), out="by_sluice")
    with open(path, "rb") as f:
        header = f.read(size)

    def read_gzip():
        with gzip.open(source) as f:
            return np.frombuffer(f.read(), record, n, size)

    def sorted_by_numpy():
        by_numpy(np, read_gzip() if options.gzip else mcpl_records.map_records(path), header, out)

    common.run(words)
    sorted_by_numpy()
    mcpl_records.compare(os.path.join(by_sluice, "sorted_000000.mcpl"), out, "filter and sort")
    kept = mcpl_records.read_header(out)[1]
    report.origin("peer", f"numpy {np.__version__}, Python {common.platform.python_version()}")
    report.origin("list", f"{os.path.getsize(source)} bytes; {options.threads} thread(s) of sluice, one of numpy")
    report.times(f"{n} records, {kept} kept", common.alternate(
        {"sluice": lambda: common.clocks(lambda: common.run(words)),
         "numpy": lambda: common.clocks(sorted_by_numpy)}, options.repeat))


def main():
    parser = common.options_of(__doc__, "--threads")
    parser.add_argument("--particles", type=common.positive, default=8_000_000, metavar="N",
                        help="particles generated, of which half are in the list (default 8e6)")
    parser.add_argument("--gzip", action="store_true", help="the list is compressed")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
