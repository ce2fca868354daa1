#!/usr/bin/env python3
"""dask_parts.py - computes the parts of one run on a Dask cluster, then joins them.

    python3 scripts/cluster/dask_parts.py CONFIG DIR OUT --parts 20 [--scheduler tcp://HOST:8786]

Without --scheduler, the workers are processes of this machine. DIR must be on a file system that all
workers share. A part whose worker is lost is computed again by another worker, from its last committed
batch on. OUT is the joined run. Exit code: that of sluice join, or 1 if a part failed.
"""
import argparse
import os
import subprocess
import sys

try:
    from dask.distributed import Client, as_completed
except ImportError as e:
    sys.exit("dask_parts.py: %s (needed to start the parts); run pip install distributed" % e)

RETRIES = 3


def run_part(number, of, config, directory, threads):
    """Computes one part; raises an exception with the message of sluice if that fails."""
    words = ["sluice", "run", config, "--part", "%d/%d" % (number, of), "--resume", "--quiet",
             "--out", directory, "--threads", str(threads)]
    ended = subprocess.run(words, stderr=subprocess.PIPE, text=True)
    if ended.returncode != 0:
        raise RuntimeError("part %d of %d, exit code %d: %s"
                           % (number, of, ended.returncode, ended.stderr.strip()))
    return number


def run_parts(client, options):
    """Computes all parts; prints each that ends. Returns the number of parts that failed."""
    failed = 0
    config, directory = os.path.abspath(options.config), os.path.abspath(options.dir)
    parts = [client.submit(run_part, i, options.parts, config, directory, options.threads,
                           retries=RETRIES, pure=False) for i in range(1, options.parts + 1)]
    for part in as_completed(parts):
        if part.status == "finished":
            print("part %d of %d" % (part.result(), options.parts), flush=True)
        else:
            failed += 1
            print("dask_parts.py: %s" % part.exception(), file=sys.stderr)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config")
    parser.add_argument("dir", help="directory of the parts")
    parser.add_argument("out", help="directory of the joined run")
    parser.add_argument("--parts", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1, help="threads of each part")
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    options = parser.parse_args()
    client = (Client(options.scheduler) if options.scheduler
              else Client(threads_per_worker=1, dashboard_address=None))
    with client:
        if run_parts(client, options) > 0:
            return 1
    return subprocess.run(["sluice", "join", options.dir, "--out", options.out]).returncode


if __name__ == "__main__":
    sys.exit(main())
