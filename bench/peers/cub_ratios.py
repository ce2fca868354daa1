#!/usr/bin/env python3
"""Prints how many times as fast sluice is as each version of CUB, from tables of sluice-bench primitives.

    python3 bench/peers/cub_ratios.py [--csv FILE] TABLE.csv...

Several tables of one version are rounds of the same measurement: the ratio of a job is the median over all of
them, with the least and the largest. The version and the machine are those of the comments in each table.
"""
import argparse
import csv
import re
import sys

import common

JOB = ("primitive", "type", "n", "bits", "entropy", "survivors_percent", "columns", "column_bytes", "items_off",
       "items_off_second")
DEFAULTS = {"entropy": "1", "survivors_percent": "50", "items_off": "0", "items_off_second": "0"}


def read_table(path):
    """The comments of a table, and its rows."""
    with open(path, encoding="utf-8", newline="") as f:
        lines = f.read().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    return about, list(csv.DictReader(line for line in lines if line and not line.startswith("#")))


def describe(row):
    """The job of a row, such as 'sort u32, n 1024, bits 30'; what is usual is left out."""
    words = [f"{row['primitive']} {row['type']}, n {row['n']}"]
    for name in JOB[3:]:
        value = row.get(name)
        if value and value != DEFAULTS.get(name) and (name, value) not in (("bits", row["type"][1:]), ("columns", "0")):
            words.append(f"{name} {value}")
    return ", ".join(words)


def collect(paths):
    """Milliseconds and ratios of sluice by (job, CCCL version), and the comments of the tables."""
    found, origins = {}, []
    for path in paths:
        about, rows = read_table(path)
        version = re.search(r"CCCL ([\d.]+)", about.get("CUDA", ""))
        if not version:
            raise common.WrongAnswer(f"{path} names no CCCL version, so it has no figures of CUB")
        origins.append(about)
        for row in rows:
            if row["backend"] not in ("CUB", "device") and row.get("times_cub"):
                key = (f"{describe(row)}, {row['backend']}" if row["backend"] != "shared" else describe(row),
                       version.group(1))
                found.setdefault(key, []).append((float(row["ms_median"]), float(row["times_cub"])))
    if not found:
        raise common.WrongAnswer("the tables have no figures of CUB (column times_cub)")
    return found, origins


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv", metavar="FILE", help="also write the results to FILE")
    parser.add_argument("--command", help="the command to name in the results")
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv", help="tables of sluice-bench primitives --csv")
    a = parser.parse_args()
    try:
        found, origins = collect(a.tables)
    except (common.WrongAnswer, OSError) as e:
        print(f"cub_ratios.py: error: {e}", file=sys.stderr)
        sys.exit(1)
    about = [(key, "; ".join(dict.fromkeys(o[key].strip() for o in origins if key in o)))
             for key in ("device", "CUDA", "host", "commit", "date")]
    about.insert(3, ("command", a.command or about_commands(origins)))
    table = [(job, version, *common.spread([ms for ms, _ in values]), len(values),
              *common.spread([ratio for _, ratio in values])) for (job, version), values in found.items()]
    for key, text in about:
        print(f"# {key}: {text}")
    for job, version, ms, _, _, runs, ratio, least, largest in table:
        print(f"{job:<44}  CUB {version:<8} {ms:>10.5g} ms; sluice {ratio:.3g} times ({least:.3g} to {largest:.3g}, "
              f"{runs} rounds)")
    if a.csv:
        with open(a.csv, "w", encoding="utf-8", newline="") as f:
            f.writelines(f"# {key}: {text}\n" for key, text in about)
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["job", "cccl", "sluice_ms_median", "sluice_ms_least", "sluice_ms_largest", "rounds",
                          "sluice_times", "sluice_times_least", "sluice_times_largest"])
            out.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in table)


def about_commands(origins):
    return "; ".join(dict.fromkeys(o["command"] for o in origins if "command" in o))


if __name__ == "__main__":
    main()
