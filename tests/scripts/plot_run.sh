#!/usr/bin/env bash
# plot_run.sh SLUICE SOURCE - scripts/plot_run.py draws a run, of HDF5 files and of csv.gz, with weights and without, and says what
# is no run; its curve of those alive is the one that is known. Skipped without matplotlib.
set -euo pipefail
sluice=$1
source=$2
python=/usr/bin/python3

# Without what it needs (-S: nothing that was installed) each tells what that is, in a line.
for script in plot plot_run; do
	told=$("$python" -S "$source/scripts/$script.py" nowhere 2>&1) && { echo "$script.py has drawn without matplotlib"; exit 1; }
	[[ $told == "$script.py: No module named "*"run apt-get install python3-"* ]] || { echo "$told"; exit 1; }
done
if ! "$python" -c 'import matplotlib' 2> /dev/null; then
	echo "no matplotlib for $python; skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLCONFIGDIR=$work/matplotlib

# Pictures of that name, as SVG and PNG, and so many in all.
expect()
{
	local folder=$1 n=$2 name
	shift 2
	for name in "$@"; do
		grep -q '<svg' "$folder/$name.svg" || { echo "$folder/$name.svg is no picture"; exit 1; }
		head -c 4 "$folder/$name.png" | grep -q PNG || { echo "$folder/$name.png is no picture"; exit 1; }
	done
	[ "$(find "$folder" -name '*.svg' | wc -l)" = "$n" ] || { echo "not $n pictures in $folder"; ls "$folder"; exit 1; }
}

run()
{
	"$sluice" run "$@" --quiet --device cpu --set check={}
}

run "$source/data/configs/vandehulst.yaml" --out "$work/v" --set run.particles=30000 --set run.batch=10000 \
	--set 'tallies=[z:40:absorbed, w:50, w:4:reflected, steps:64:0..64, steps:8:0..8:absorbed]'
"$python" "$source/scripts/plot_run.py" "$work/v" --out "$work/pictures" > "$work/names"
expect "$work/pictures" 7 vandehulst_fates vandehulst_z vandehulst_w vandehulst_w_2 vandehulst_steps vandehulst_steps_2 vandehulst_alive
[ "$(sort "$work/names" | uniq | wc -l)" = 14 ]

run "$source/data/configs/vandehulst_implicit.yaml" --out "$work/i" --set run.particles=3000 --set run.batch=3000 \
	--set output.format=csv.gz --set 'tallies=[w:50]'
"$python" "$source/scripts/plot_run.py" "$work/i" > "$work/names"
expect "$work/i" 2 vandehulst_implicit_fates vandehulst_implicit_w

run "$source/data/configs/integrating_sphere.yaml" --out "$work/s" --set run.particles=100000 --set 'tallies=[steps:200:0..200]'
"$python" - "$source/scripts" "$work/s/run.json" <<'END'
import json, math, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import plot_run
run = json.load(open(sys.argv[2]))
steps, shares, errors = plot_run.alive(run, run["tallies"]["histograms"][0])
assert steps == list(range(200)), steps
for k, share in zip(steps, shares):
    expected = (0.99 * 0.98) ** k
    error = math.sqrt(expected * (1 - expected) / 1e5)
    assert abs(share - expected) <= 5 * error, (k, share, expected, error)
END

if "$python" "$source/scripts/plot_run.py" "$work" 2> "$work/said"; then
	echo "a folder that is no run was drawn"
	exit 1
fi
grep -q 'it needs the folder of a run' "$work/said"
