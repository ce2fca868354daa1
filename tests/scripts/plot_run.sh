#!/usr/bin/env bash
# plot_run.sh SLUICE SOURCE - tests scripts/plot_run.py with the program SLUICE and the root SOURCE of the repository.
#
# It must draw runs with and without weights, with HDF5 and with csv.gz files; its curve of living particles must be
# the known one; it must refuse a folder that is not a run. Exit code: 0 if all is right, 77 (skipped) without
# matplotlib.
set -euo pipefail
sluice=$1
source=$2
python=/usr/bin/python3

fail() {
	echo "plot_run.sh: $*" >&2
	exit 1
}

# With -S Python finds no installed module, so each script must print which packages it needs.
for script in plot plot_run; do
	message=$("$python" -S "$source/scripts/$script.py" nowhere 2>&1) && fail "$script.py succeeds without matplotlib"
	[[ $message == "$script.py: No module named "*"run apt-get install python3-"* ]] || fail "unexpected message: $message"
done
if ! "$python" -c 'import matplotlib' 2>/dev/null; then
	echo "no matplotlib for $python; skipped"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MPLCONFIGDIR=$work/matplotlib

# expect FOLDER N NAME...: the folder has a picture of each name as SVG and PNG, and N pictures.
expect() {
	local folder=$1 n=$2 name
	shift 2
	for name in "$@"; do
		grep -q '<svg' "$folder/$name.svg" || fail "$folder/$name.svg is not an SVG file"
		head -c 4 "$folder/$name.png" | grep -q PNG || fail "$folder/$name.png is not a PNG file"
	done
	[ "$(find "$folder" -name '*.svg' | wc -l)" = "$n" ] || fail "$folder has not $n pictures: $(ls "$folder")"
}

run() {
	"$sluice" run "$@" --quiet --device cpu --set check={}
}

run "$source/data/configs/vandehulst.yaml" --out "$work/v" --set run.particles=30000 --set run.batch=10000 \
	--set 'tallies=[z:40:absorbed, w:50, w:4:reflected, steps:64:0..64, steps:8:0..8:absorbed]'
"$python" "$source/scripts/plot_run.py" "$work/v" --out "$work/pictures" >"$work/names"
expect "$work/pictures" 7 vandehulst_fates vandehulst_z vandehulst_w vandehulst_w_2 vandehulst_steps vandehulst_steps_2 \
	vandehulst_alive
[ "$(sort "$work/names" | uniq | wc -l)" = 14 ]

run "$source/data/configs/vandehulst_implicit.yaml" --out "$work/i" --set run.particles=3000 --set run.batch=3000 \
	--set output.format=csv.gz --set 'tallies=[w:50]'
"$python" "$source/scripts/plot_run.py" "$work/i" >"$work/names"
expect "$work/i" 2 vandehulst_implicit_fates vandehulst_implicit_w

run "$source/data/configs/vandehulst.yaml" --out "$work/g" --set run.particles=20000 --set run.batch=10000 \
	--set 'tallies=[[deposit, z:20], [deposit, r:20:1 um..1 cm:log, z:0 cm..0.01 cm..0.02 cm], [w:8, z:2:0 cm..0.02 cm, '\
'absorbed+reflected], [x:2:-1 cm..1 cm, y:2:-1 cm..1 cm, z:2], [x:70:-1 cm..1 cm, y:70:-1 cm..1 cm]]'
"$python" "$source/scripts/plot_run.py" "$work/g" --out "$work/grids" >"$work/names" 2>"$work/message"
expect "$work/grids" 5 vandehulst_fates vandehulst_deposit_z vandehulst_deposit_r_z_all vandehulst_grid_w_z_absorbed \
	vandehulst_grid_w_z_reflected
grep -q '(x,y,z) is not drawn: it has three axes' "$work/message" || fail "unexpected message: $(cat "$work/message")"
grep -q '(x,y) is not drawn: it has more than 4096 cells' "$work/message" || fail "unexpected message: $(cat "$work/message")"

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

! "$python" "$source/scripts/plot_run.py" "$work" 2>"$work/message" || fail "plot_run.py succeeds for a folder without a run"
grep -q 'is not the folder of a run' "$work/message" || fail "unexpected message: $(cat "$work/message")"
