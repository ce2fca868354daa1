#!/usr/bin/env bash
# run.sh BUILD SOURCE - installs BUILD into an empty folder and uses it from there, as find_package finds it and as
# pkg-config tells, with nothing of the source tree but primitives/example.c.
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" >"$work/log"
cp "$source/primitives/example.c" "$work/"

cmake -S "$source/tests/consumer" -B "$work/build" -DEXAMPLE="$work/example.c" \
	-DCMAKE_PREFIX_PATH="$work/installed" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/build" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
echo "find_package: $("$work/build/example")"

PKG_CONFIG_PATH=$(dirname "$(find "$work/installed" -name sluice.pc)"):${PKG_CONFIG_PATH:-}
export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc -std=c17 "$work/example.c" $(pkg-config --cflags --libs --static sluice) -o "$work/by_hand"
echo "pkg-config: $("$work/by_hand")"

"$work/installed/bin/sluice" list >/dev/null
test -f "$work/installed/include/sluice/primitives/primitives.h"
