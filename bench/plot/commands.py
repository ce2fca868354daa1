#!/usr/bin/env python3
"""commands.py - measures what a user waits for: whole commands, from the start of the process to its end.

    python3 bench/plot/commands.py [--sizes 1e4,1e6,1e8,1e9] [--repeat 5] [--sluice PROGRAM] [--out DIR]
                                   [--writers N] CONFIG... [-- OPTION...] > results.csv

Each configuration runs with each number of particles; the options after -- are passed to sluice run. The files
go to DIR, which is removed after each run; /dev/shm/sluice by default, so that no disk is measured. The CSV has
one line per run: the seconds of the process, and those of run.json for its parts. The script stops if a run
fails, also in one of its checks.

With --writers N, N threads then write files of the same sizes from memory; a run whose wall_seconds are near
plain_write_seconds is limited by the file system.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

PARTS = ["plan_seconds", "memory_seconds", "prepare_seconds", "wall_seconds", "finish_seconds", "command_seconds"]


def run(command, folder):
    """Runs the command; returns the seconds of its process, and run.json."""
    shutil.rmtree(folder, ignore_errors=True)
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        return seconds, json.load(file)


def plain_writes(folder, threads):
    """The seconds in which threads write files of the sizes of those in folder, which is removed first."""
    sizes = [entry.stat().st_size for entry in os.scandir(folder)]
    shutil.rmtree(folder)
    os.mkdir(folder)
    block = memoryview(os.urandom(1 << 22))

    def write(number):
        with open(os.path.join(folder, str(number)), "wb", buffering=0) as file:
            for at in range(0, sizes[number], len(block)):
                file.write(block[:sizes[number] - at])

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(write, range(len(sizes))))
    return time.perf_counter() - start


def main():
    a = argparse.ArgumentParser(description="Measures whole commands.")
    a.add_argument("--sizes", default="1e4,1e6,1e8,1e9", help="numbers of particles")
    a.add_argument("--repeat", type=int, default=5, help="runs of each")
    a.add_argument("--sluice", default="build/release/sluice", help="the program")
    a.add_argument("--out", default="/dev/shm/sluice", help="directory of the runs, which is removed")
    a.add_argument("--writers", type=int, help="threads that write files of the same sizes, for comparison")
    a.add_argument("configs", nargs="+", help="YAML configurations")
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    a, options = a.parse_args(words[:split]), words[split + 1:]
    if os.path.exists(a.out):
        sys.exit(f"{a.out}: exists already and would be removed; name another --out")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["config", "particles", "process_seconds"] + PARTS
                 + ["device", "cores", "version", "options", "plain_write_seconds"])
    for config in a.configs:
        for size in a.sizes.split(","):
            command = [a.sluice, "run", config, "--quiet", "--out", a.out, "--set", f"run.particles={size}"] + options
            runs = []
            for _ in range(a.repeat):
                seconds, result = run(command, a.out)
                runs.append(seconds)
                out.writerow([os.path.splitext(os.path.basename(config))[0], size, f"{seconds:.3f}"]
                             + [f"{result['times'][p]:.3f}" for p in PARTS]
                             + [result["machine"].get("device", {}).get("name", ""), result["machine"]["cores"], result["version"],
                                " ".join(options), f"{plain_writes(a.out, a.writers):.3f}" if a.writers else ""])
                sys.stdout.flush()
            print(f"{config} {size}: {statistics.median(runs):.3f} s ({min(runs):.3f} to {max(runs):.3f})",
                  file=sys.stderr)
    shutil.rmtree(a.out, ignore_errors=True)


if __name__ == "__main__":
    main()
