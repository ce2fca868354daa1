#!/usr/bin/env bash
# run.sh BUILD SOURCE [CUDA'S HEADERS] - installs BUILD into an empty folder and uses it from there, as find_package
# finds it and as pkg-config tells, with nothing of the source tree but primitives/example.c. A build with CUDA is also
# used with memory of the CUDA runtime's, where there is a GPU.
set -euo pipefail
build=$1
source=$2
cuda=${3:-}
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
read -ra flags <<<"$(pkg-config --cflags --libs --static sluice)"
strict=(-Wall -Wextra -Wpedantic -Werror)
cc -std=c17 "${strict[@]}" -Wc++-compat "$work/example.c" "${flags[@]}" -o "$work/by_hand"
echo "pkg-config: $("$work/by_hand")"

# Every header that is installed can be included first, and in C++.
include=$work/installed/include/sluice
find "$include" -name '*.h' -printf '%P\n' >"$work/headers"
test "$(wc -l <"$work/headers")" -ge 8
while read -r header; do
	printf '#include "%s"\nextern int alone;\n' "$header" >"$work/alone"
	cc -std=c17 "${strict[@]}" -Wc++-compat -fsyntax-only -I"$include" -x c "$work/alone"
	c++ -std=c++17 "${strict[@]}" -fsyntax-only -I"$include" -x c++ "$work/alone"
done <"$work/headers"

if [ -n "$cuda" ]; then
	cc -std=c17 -DEXAMPLE_CUDA "$work/example.c" -isystem "$cuda" "${flags[@]}" -o "$work/with_cuda"
	code=0
	"$work/with_cuda" || code=$?
	[ $code -eq 0 ] || [ $code -eq 77 ] # 77: no GPU, it has said so
fi

"$work/installed/bin/sluice" list >/dev/null
test -f "$work/installed/include/sluice/primitives/primitives.h"

# The bench is part of every build except one with ThreadSanitizer.
if [ -e "$build/sluice-bench" ]; then
	"$work/installed/bin/sluice-bench" --help >/dev/null
fi
for file in examples/example.c scripts/plot.py scripts/plot_run.py bench/plot.py bench/stages.py; do
	test -f "$work/installed/share/sluice/$file"
done
