#!/usr/bin/env bash
# run.sh SLUICE-BENCH SOURCE - runs every command of sluice-bench on the emulated device, with few items.
#
# Checks that the tables parse, contain the expected rows and can be drawn, and that wrong command lines are refused
# with the right exit code and message. Without matplotlib nothing is drawn.
set -euo pipefail
bench=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" # the reference batch is data/configs/reference.yaml
export SL_TUNING=

fail() {
	echo "run.sh: $*" >&2
	exit 1
}

run() {
	"$bench" "$@" --device emulated >"$work/log" 2>&1 || { cat "$work/log"; fail "sluice-bench $* failed"; }
}

# refused CODE TEXT WORD...: sluice-bench WORD... fails with that exit code and a message that contains the text.
refused() {
	local code=0 want=$1 text=$2
	shift 2
	"$bench" "$@" >"$work/log" 2>&1 || code=$?
	[ $code -eq "$want" ] || { cat "$work/log"; fail "'$*' exits with $code, not $want"; }
	grep -qF -- "$text" "$work/log" || { cat "$work/log"; fail "the message of '$*' does not contain '$text'"; }
}

run primitives --n 2^4-3,40 --csv "$work/cells.csv" --json "$work/cells.json"
run primitives --n 100 --type u32 --entropy 1.000,.811,.544,.337,.201 --bits 8,30 --survivors 0,1,10,50,90,99,100 \
	--only sort/shared --sort pairs --csv "$work/keys.csv"
run primitives --n 100 --only compact --survivors 0,10,100 --off 0,1 --csv "$work/flags.csv"
run primitives --n 100 --only scan/shared --off 1 --off-second 0,2 --csv "$work/offs.csv"
run primitives --n 100 --only compact --columns 0,8,1x32 --csv "$work/columns.csv"
run primitives --n 100 --only sort --sort keys --bits 24 --csv "$work/alone.csv"
run primitives --n 64 --only scan/shared --block 32,64 --items 4,8 --csv "$work/tunings.csv"
run primitives --n 64 --only scan --padding on,off --csv "$work/paddings.csv"
run primitives --n 64 --only compact/naive --tunings --seconds 0 --csv "$work/none.csv" --json "$work/none.json"
run primitives --n 3000 --only deflate --samples 1 --csv "$work/deflate.csv"
run pipeline --n 300,1000 --csv "$work/pipeline.csv" --json "$work/pipeline.json"
run global_sort --devices 0,1,2 --n 300,1000 --samples 1 --csv "$work/devices.csv"
run global_sort --devices 3,3 --n 100 --type u64 --sort keys --samples 1
run tune --only compact/shared --n 2^6,2^9 --out "$work/tuning" --csv "$work/tune.csv" --seconds 20
run primitives --n 100 --only compact --tuning "$work/tuning"
run sweep --out "$work/sweep" --samples 1 --seconds 60
"$bench" --help | grep '^  sweep' >/dev/null || fail "--help does not list the command sweep"

python3 - "$work" <<'END'
import csv, glob, json, os, sys
work = sys.argv[1]

def rows(name):
    with open(os.path.join(work, name), newline="") as f:
        lines = f.read().splitlines()
    about = [line for line in lines if line.startswith("# ")]
    for word in ("device", "CUDA", "host", "command", "commit", "date"):
        assert any(line.startswith(f"# {word}: ") for line in about), (name, word)
    found = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert all(None not in row and None not in row.values() for row in found), name
    return found

def names(found, key):
    return sorted({row[key] for row in found})

cells = rows("cells.csv")
assert names(cells, "n") == ["13", "40"], names(cells, "n")
assert names(cells, "primitive") == ["compact", "scan", "sort", "sort-keys"]
# The emulated device has no times, and the accesses of each item instead; a build without gcc has none.
times = "ms_median ms_min ms_lower_quartile ms_upper_quartile ms_max host_ms gb_per_s".split()
assert all(r[name] == "" for r in cells for name in times)
counted = any(r["loads"] for r in cells)
assert all(int(r["samples"]) >= 1 and float(r["least_bytes"]) > 0 for r in cells)
assert all(not counted or float(r["loads"]) > 0 and float(r["stores"]) > 0 for r in cells)
as_json = json.load(open(os.path.join(work, "cells.json")))
assert len(as_json["rows"]) == len(cells) and as_json["left_out"] == []
for a, b in zip(as_json["rows"], cells):
    assert list(a) == list(b) and str(a["n"]) == b["n"] and a["backend"] == b["backend"], (a, b)

keys = [r for r in rows("keys.csv") if r["backend"] == "shared"]
assert len(keys) == 10 and names(keys, "bits") == ["30", "8"], keys
assert names(keys, "entropy") == ["0.201", "0.337", "0.544", "0.811", "1"]
alone = rows("alone.csv")
assert names(alone, "primitive") == ["sort-keys"] and names(alone, "type") == ["u32", "u64"]
assert all(int(r["least_bytes"]) == int(r["n"]) * 2 * (4 if r["type"] == "u32" else 8) for r in alone), alone
flags = [r for r in rows("flags.csv") if r["backend"] == "naive"]
assert names(flags, "survivors_percent") == ["0", "10", "100"] and names(flags, "items_off") == ["0", "1"]
offs = [r for r in rows("offs.csv") if r["backend"] == "shared"]
assert [(r["items_off"], r["items_off_second"]) for r in offs] == [("1", off) for off in "0022"], offs
assert all(r["items_off"] == r["items_off_second"] for r in flags)
columns = [r for r in rows("columns.csv") if r["backend"] == "shared"]
assert [(r["columns"], r["column_bytes"]) for r in columns] == [("0", ""), ("8", "4"), ("1", "32")], columns
tunings = [r for r in rows("tunings.csv") if r["backend"] == "shared" and r["type"] == "u32"]
assert sorted((r["block"], r["items"]) for r in tunings) == [("32", "4"), ("32", "8"), ("64", "4"), ("64", "8")]
paddings = [r for r in rows("paddings.csv") if r["primitive"] == "scan" and r["type"] == "u32"]
assert [(r["backend"], r["padding"]) for r in paddings] == [("tiled", "on"), ("tiled", "off")], paddings
conflicts = [float(r["conflicts"] or 0) for r in paddings]
assert not counted or conflicts[0] < conflicts[1], conflicts
assert names(tunings, "padding") == [""] and names(rows("cells.csv"), "padding") == ["", "on"]
assert rows("none.csv") == [] and "# left out: compact" in open(os.path.join(work, "none.csv")).read()
assert json.load(open(os.path.join(work, "none.json")))["left_out"]
streams = rows("deflate.csv")
assert [r["column"] for r in streams] == 2 * "x y z u v w energy time pixel all".split(), streams
assert [r["backend"] for r in streams] == 10 * ["device"] + 10 * ["device_fast"], streams
assert all(float(r["ratio"]) > 1 and int(r["bytes"]) >= 4 * int(r["n"]) for r in streams), streams
devices = rows("devices.csv")
assert names(devices, "devices") == ["1", "2", "3"] and names(devices, "n_per_device") == ["1000", "300"], devices
assert len(devices) == 3 * 2 * 2 * 2 and not any(r["ms_median"] for r in devices), devices
modes = rows("pipeline.csv")
assert "staged" in names(modes, "way") and names(modes, "n") == ["1000", "300"]
assert names(modes, "step") == ["all"] and not any(r["ms_median"] for r in modes)
assert not counted or all(float(r["loads"]) > 1 and float(r["sectors"]) > 0 for r in modes)
assert len({r["survivors"] for r in modes if r["n"] == "1000" and r["survivors"]}) == 1
for name in ("sizes", "inputs", "tunings", "pipeline"):
    assert rows(f"sweep/{name}.csv"), name
END
grep -q '^device emulated$' "$work/tuning" || fail "the tuning file does not name the device"

"$bench" --man | grep '^\.SH COMMANDS' >/dev/null || fail "--man prints no manual page"
"$bench" --completion zsh | grep '^#compdef sluice-bench$' >/dev/null || fail "--completion zsh prints no completion"
refused 2 "--completion needs a shell; use --completion bash, zsh or fish" --completion
refused 2 "--completion 'csh': there is no completion for this shell" --completion csh
refused 2 "global_sort needs the numbers of 1 to 32 devices" global_sort --device emulated
refused 8 "there is no device 32" global_sort --device emulated --devices 0,32
refused 2 "--devices has no effect on the command primitives" primitives --devices 0
refused 2 "the first argument is not a command"
refused 2 "the first argument is not a command" primitive
refused 2 "unknown option '--size'" primitives --size 5
refused 2 "unknown option '--colums'; use --columns" primitives --colums 5
refused 2 "--n needs a value" primitives --n
refused 2 "--n 'x'" primitives --n x
refused 2 "--n '2^32'" primitives --n 2^32
refused 2 "--n '1,,2'" primitives --n 1,,2
refused 2 "--entropy '.9'" primitives --entropy .9
refused 2 "--columns '25'" primitives --columns 25
refused 2 "--columns '8x3'" primitives --columns 8x3
refused 2 "--sort 'index'" primitives --sort index
refused 2 "--padding '1'" primitives --padding 1
refused 2 "no effect on the command tune" tune --survivors 50
refused 2 "measures no such primitive or backend; use sort" primitives --only sorts --device emulated
refused 2 "measures no such primitive or backend; use sort/shared" primitives --only sort/sharde --device emulated --n 100
refused 2 "scan, scan/naive, scan/work_efficient, scan/tiled, scan/shared" primitives --only fourier --device emulated --n 100
refused 2 "measures no such primitive or backend" primitives --only sort/cpu --device emulated --n 100
refused 2 "measures no such primitive or backend" primitives --only sort/ --device emulated --n 100
refused 2 "measures no such primitive or backend" tune --only deflate --device emulated --out "$work/none"
refused 2 "measures no such primitive or backend" tune --only deflate/device --device emulated --out "$work/none"
[ ! -e "$work/none" ] || fail "a refused command has written its output"
refused 2 "--device gpu: unknown device" primitives --device gpu
refused 2 "tune needs --out FILE" tune --device emulated
refused 2 "sweep needs --out FOLDER" sweep --device emulated
refused 4 "cannot create" primitives --device emulated --n 1 --csv "$work/no/such/folder.csv"
# of several files that cannot be written, the message names the first one
mkdir "$work/full"
for name in a.csv b.json sizes.csv inputs.csv tunings.csv pipeline.csv; do ln -s /dev/full "$work/full/$name"; done
refused 4 "cannot write all of $work/full/a.csv" primitives --device emulated --n 1 --only scan/shared \
	--csv "$work/full/a.csv" --json "$work/full/b.json"
refused 4 "cannot write all of $work/full/sizes.csv" sweep --device emulated --out "$work/full" --samples 1 --seconds 1
printf 'device emulated\nscan/shared u32 from 0 block=1\n' >"$work/bad"
refused 2 "$work/bad:2: " primitives --device emulated --tuning "$work/bad"
printf 'run: {name: t, particles: 10}\nmodel: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 0.1 cm}}\nkeep: transmitted\n' >"$work/c.yaml"
refused 2 "needs columns of 4 bytes" pipeline --device emulated --config "$work/c.yaml"

cd "$work"
refused 2 "elsewhere use --config FILE" pipeline --device emulated --n 100
cd "$source"

code=0
python3 bench/plot/plot.py --out "$work/pictures" bench/results/xeon-2-cores-stages.csv bench/results/h200-compare-*.csv \
	bench/results/h200/{sizes,inputs,tunings,pipeline}.csv || code=$?
[ $code -eq 0 ] || [ $code -eq 77 ] || fail "bench/plot/plot.py failed"
if [ $code -eq 0 ]; then
	for name in scan-u32 sort-u32 share-of-copy survivors bits entropy block-sort-u32 stages-xeon-2-cores-stages pipeline; do
		[ -s "$work/pictures/$name.svg" ] && [ -s "$work/pictures/$name.png" ] || fail "plot.py did not draw $name"
	done
	python3 - "$work/pictures" <<'END'
import glob, html.parser, sys, xml.dom.minidom
for name in glob.glob(sys.argv[1] + "/*.svg"):
    xml.dom.minidom.parse(name)
page = open(sys.argv[1] + "/report.html").read()
assert page.count("<svg") == len(glob.glob(sys.argv[1] + "/*.svg")) and "src=" not in page
END
fi
echo "all commands, tables and error messages are correct"
