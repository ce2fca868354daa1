#!/usr/bin/env bash
# figures.sh - measures the figures of the README's table on this machine and prints the table.
#
#	bench/figures.sh [BUILD] [OUT]    BUILD: build/release; OUT: out/figures, the folder of the CSV files
#
# Without a GPU only the rows of the CPU are measured, without pmcx not the row of MCX; the rows left out are named.
# Takes about four minutes on an H200.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/release} out=${2:-out/figures}
memory=/dev/shm/sluice-figures # runs write here, so that no disk is measured
mkdir -p "$out"

bench() {
	"$build/sluice-bench" "$@" >/dev/null
}

commands() {
	python3 bench/plot/commands.py --sluice "$build/sluice" --out "$memory" "$@"
}

if nvidia-smi -L >"$out/devices.txt" 2>/dev/null; then
	for primitive in scan compact sort; do
		bench primitives --only $primitive/shared --type u32 --sort pairs --survivors 50 --columns 0 --n 2^27 --csv "$out/$primitive.csv"
	done
	bench pipeline --n 2^26 --csv "$out/pipeline.csv"
	bench primitives --only deflate --n 2^26 --csv "$out/deflate.csv"
	commands --sizes 1e4,1e6,1e8,1e9 data/configs/{demo,vandehulst}.yaml -- --device cuda:0 >"$out/commands.csv"
	if python3 -c 'import pmcx' 2>/dev/null; then
		python3 bench/peers/mcx.py --sluice "$build/sluice" --config vandehulst --csv "$out/mcx.csv"
	fi
	if [ "$(grep -c ^GPU "$out/devices.txt")" -gt 1 ]; then
		for devices in cuda:0 cuda:0,1; do
			commands --sizes 3e10 --repeat 3 data/configs/vandehulst.yaml -- --device $devices --set output.format=none
		done >"$out/devices.csv"
	fi
fi
TMPDIR=/dev/shm python3 bench/plot/stages.py --sluice "$build/sluice" data/configs/vandehulst.yaml >"$out/stages.csv"

python3 - "$out" <<'END'
import csv, os, statistics, sys

out = sys.argv[1]


def rows(name, **wanted):
    """The rows of a CSV file whose columns have the wanted values; none if it was not measured."""
    path = os.path.join(out, name + ".csv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        table = csv.DictReader(line for line in file if not line.startswith("#"))
        return [row for row in table if all(row[k] == v for k, v in wanted.items())]


def row(what, file, figure, found):
    if found:
        print(f"| {what} | {figure(*found)} | [{file}.csv] |")
    else:
        print(f"{what}: not measured here", file=sys.stderr)


def primitive(r):
    return f"{float(r['ms_median']):.3g} ms, {float(r['times_cub']):.2f} times as fast as CUB"


def seconds(name, **wanted):
    found = [float(r["process_seconds"]) for r in rows(name, **wanted)]
    return [statistics.median(found)] if found else []


print("| what | figure | file |\n| --- | --- | --- |")
for name, what in (("scan", "scan, 2^27 u32"), ("compact", "compact, 2^27 flags, half alive"),
                   ("sort", "sort, 2^27 pairs of u32")):
    row(what, name, primitive, rows(name, backend="shared"))
row("reference batch, 2^26 particles", "pipeline", primitive, rows("pipeline", way="fused", step="all"))
row("deflate, the columns of that batch", "deflate",
    lambda *pair: ", ".join(f"`{r['backend']}` {float(r['gb_per_s']):.0f} GB/s, {float(r['ratio']):.2f} times smaller"
                            for r in pair), rows("deflate", column="all"))
for config in ("demo", "vandehulst"):
    for size in ("1e4", "1e6", "1e8", "1e9"):
        row(f"whole command, `{config}.yaml`, {size} particles, files", "commands", lambda s: f"{s:.2f} s",
            seconds("commands", config=config, particles=size))
row("`vandehulst` against MCX with fluence, and without its result", "mcx",
    lambda a, b: f"{float(a['sluice_times']):.2f} and {float(b['sluice_times']):.2f} times as fast",
    [r for r in rows("mcx") if r["program"].startswith("MCX") and r["program"].endswith("analogue")])
row("two GPUs instead of one, nothing written", "devices", lambda one, two: f"{one / two:.2f} times",
    seconds("devices", options="--device cuda:0 --set output.format=none")
    + seconds("devices", options="--device cuda:0,1 --set output.format=none"))
row("`vandehulst`, before compression", "stages", lambda r: f"{float(r['median']):.3g} M particles/s per core",
    rows("stages", quantity="M particles/s and core before compression"))
END
