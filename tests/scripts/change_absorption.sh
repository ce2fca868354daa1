#!/usr/bin/env bash
# change_absorption.sh SLUICE SOURCE - tests scripts/change_absorption.py with the program SLUICE and the root SOURCE of
# the repository.
#
# The changed fractions must agree with a run that has the other absorption, within 4 standard errors, and must differ
# from those before; runs and arguments that do not fit must be refused.
set -euo pipefail
sluice=$1
source=$2
script=$source/scripts/change_absorption.py
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1

fail() {
	echo "change_absorption.sh: $*" >&2
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
	"$sluice" run "$source/data/configs/$1.yaml" --quiet --device cpu --set run.particles=40000 --out "$work/$2" "${@:3}"
}

# refuse CODE TEXT ARGUMENT...: the script ends with this exit code and a message with this text.
refuse() {
	local code=0 message
	message=$("$python" "$script" "${@:3}" 2>&1) || code=$?
	[ "$code" = "$1" ] || fail "exit code $code instead of $1: $message"
	[[ $message == *"$2"* ]] || fail "unexpected message: $message"
}

run skin_paths before --set output.format=csv.gz --set run.batch=15000
run skin_paths direct --set output.format=csv --set run.seed=77 --set 'model.slab_paths.mu_a=[16 /cm, 3.5 /cm, 0.5 /cm]'
"$python" "$script" "$work/before" 1=4 2=2 >"$work/changed"
"$python" "$script" "$work/direct" 1=0 >"$work/expected"
cat "$work/changed" "$work/expected"
paste <(tail -n +2 "$work/changed") <(tail -n +2 "$work/expected") | awk '
	{ error = sqrt($5 * $5 + $8 * $8); off = ($4 - $7) / error; moved = ($2 - $4) / error; fates++ }
	off < -4 || off > 4 || moved * moved < 4 { wrong = 1 }
	$1 != "reflected" || $1 != $6 { wrong = 1 }
	END { exit wrong || fates != 1 }' || fail "the changed fraction is not that of the other run"

run skin_paths short --set output.format=csv --set 'output.columns=[id, path_1]'
run three_layers other --set output.format=csv --set check={}
refuse 2 "needs a folder" "$work/before"
refuse 2 "'4=1' is not REGION=CHANGE" "$work/before" 4=1
refuse 2 "'1=x' is not REGION=CHANGE" "$work/before" 1=x
refuse 2 "region 1 is given twice" "$work/before" 1=1 1=2
refuse 3 "the files lack the column path_2" "$work/short" 2=1
refuse 3 "the files lack the column fate" "$work/short" 1=1
refuse 3 "model slab, which has no paths" "$work/other" 1=1
refuse 3 "run.json cannot be read" "$work/nowhere" 1=1
rm "$work"/direct/*.csv
refuse 3 "has no survivor files in csv" "$work/direct" 1=1
