#!/usr/bin/env python3
"""load_run.py - all survivors of a run as one dict of arrays, from files of any format but MCPL.

    python3 scripts/load_run.py RUN_DIR|FILE [COLUMN...]

Prints name, type and number of values of each column (or of those that are named), with the first and the last value.
In a program, with this folder on the path:

    import load_run
    survivors = load_run.load("out/demo")               # or load("out/demo", ["x", "energy"])
    print(survivors["energy"].mean())

The arrays have the survivors of all batches in the order of the batches, or those of one file, such as the joined file of
a run with output.order: run, under the names and in the units of the configuration. Needs numpy, and h5py for openPMD files. For MCPL files there is the Python package mcpl. The Python package
sluice has the same as sluice.open(), which reads a column only when it is used. Exit code: 0, or 1 with a message.
"""
import csv
import gzip
import json
import os
import sys

try:
    import numpy as np
except ImportError as e:
    sys.exit(f"load_run.py: {e} (needed to read); run apt-get install python3-numpy")

# The column of each openPMD record that has another name.
OPENPMD = {"position/x": "x", "position/y": "y", "position/z": "z", "direction/x": "u", "direction/y": "v",
           "direction/z": "w", "weighting": "weight", "polarization/x": "pol_x", "polarization/y": "pol_y",
           "polarization/z": "pol_z"}
# The types of csv columns; all others are single precision.
CSV = {"id": "u8", "pdg": "i4", "userflags": "u4", "pixel": "u4", "steps": "u4", "collisions": "u4",
       "collisions_1": "u4", "collisions_2": "u4", "collisions_3": "u4", "fate": "u1"}


class Unreadable(Exception):
    """A folder or a file that is not what load() reads; the text says why and what to do."""


def of_openpmd(name):
    try:
        import h5py
    except ImportError as e:
        raise Unreadable(f"{e} (needed to read {name}); install h5py for this Python: pip install h5py, or python3-h5py of Debian") from e
    columns = {}

    def take(path, item):
        if "sluiceDigest" not in item.attrs:  # it describes columns, or stands for a position that was not recorded
            return
        if isinstance(item, h5py.Dataset):
            columns[OPENPMD.get(path, path)] = item[()]
        elif "value" in item.attrs and "shape" in item.attrs:  # all values of the column are equal
            columns[OPENPMD.get(path, path)] = np.full(item.attrs["shape"], item.attrs["value"])

    with h5py.File(name, "r") as file:
        (iteration,) = file["data"].values()
        (species,) = iteration["particles"].values()
        species.visititems(take)
    return columns


def of_npz(name):
    with np.load(name, allow_pickle=False) as file:
        return {key: file[key] for key in file.files if key != "about"}


def of_csv(name):
    with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="ascii", newline="") as file:
        names, *rows = csv.reader(file)
    return {key: np.array([row[k] for row in rows], dtype="U").astype(CSV.get(key, "f4")) if rows else
            np.empty(0, CSV.get(key, "f4")) for k, key in enumerate(names)}


READERS = {".h5": of_openpmd, ".npz": of_npz, ".csv.gz": of_csv, ".csv": of_csv}


def suffix_of(name):
    suffix = next((s for s in READERS if name.endswith(s)), None)
    if suffix is None:
        raise Unreadable(f"{name} is not openPMD, npz or csv; sluice convert --to FILE.npz makes such a file")
    return suffix


def load_file(name, columns=None):
    """The survivors of one file, in its order: a dict as that of load()."""
    found = READERS[suffix_of(name)](name)
    for column in columns or ():
        if column not in found:
            raise Unreadable(f"{name}: no column {column}; the columns are {', '.join(found)}")
    return {column: found[column] for column in columns or found}


def load(folder, columns=None):
    """All survivors of the run in folder: a dict of one array for each column, or for those that are named.

    folder may also be a file of survivors, such as the joined file of a run.

    Raises Unreadable for a folder that is not a run, a format that is not read, and an unknown column.
    """
    if os.path.isfile(folder):
        return load_file(folder, columns)
    manifest = os.path.join(folder, "manifest.jsonl")
    try:
        with open(manifest, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    except FileNotFoundError as e:
        raise Unreadable(f"{folder} has no manifest.jsonl; name the directory of a run") from e
    names = [line["file"]["name"] for line in lines]
    if not names:
        raise Unreadable(f"{folder}: no batch is committed yet; run the configuration again with --resume")
    suffix = suffix_of(os.path.join(folder, names[0]))
    known = list(lines[0]["digests"])
    for column in columns or ():
        if column not in known:
            raise Unreadable(f"{folder}: no column {column}; the columns are {', '.join(known)}")
    batches = [READERS[suffix](os.path.join(folder, name)) for name in names]
    return {column: np.concatenate([batch[column] for batch in batches]) for column in columns or known}


def main(words):
    if not words or words[0].startswith("-"):
        print(__doc__)
        return 0 if words and words[0] in ("-h", "--help") else 2
    try:
        survivors = load(words[0], words[1:] or None)
    except (Unreadable, OSError) as e:
        print(f"load_run.py: {e}", file=sys.stderr)
        return 1
    for name, values in survivors.items():
        ends = f"{values[0]} .. {values[-1]}" if len(values) else ""
        print(f"{name:12} {str(values.dtype):8} {len(values):12,}  {ends}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
