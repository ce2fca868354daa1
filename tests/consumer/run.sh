#!/usr/bin/env bash
# run.sh BUILD SOURCE [CUDA_HEADERS] - installs BUILD into an empty folder and uses the C library from there: found by
# CMake and by pkg-config, static and shared. The programs are primitives/example.c and scan_only.c; nothing else of the
# source tree is used. With CUDA_HEADERS, the example also runs on memory of the CUDA runtime if there is a GPU.
set -euo pipefail
build=$1
source=$2
cuda=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
	echo "consumer: $*" >&2
	exit 1
}

cmake --install "$build" --prefix "$work/installed" >"$work/log"
cp "$source/primitives/example.c" "$source/tests/consumer/scan_only.c" "$work/"
installed=$work/installed
pc=$(find "$installed" -name sluice-primitives.pc)
library_dir=$(dirname "$(dirname "$pc")")
expected="0 3 4 8"

quiet() {
	"$@" >>"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

# --- CMake: static, then shared
for shared in OFF ON; do
	quiet cmake -S "$source/tests/consumer" -B "$work/build$shared" -DSOURCES="$work" -DBUILD_SHARED_LIBS=$shared \
		-DCMAKE_PREFIX_PATH="$installed"
	quiet cmake --build "$work/build$shared"
	echo "find_package, BUILD_SHARED_LIBS=$shared: $("$work/build$shared/example")"
	test "$("$work/build$shared/scan_only")" = "$expected"
done
# grep without -q, which would end ldd by a closed pipe.
ldd "$work/buildON/scan_only" | grep "libsluice_primitives.so.0" >/dev/null || fail "the shared library is not linked"

# --- pkg-config, without --static; then the shared library by hand
PKG_CONFIG_PATH=$(dirname "$pc"):${PKG_CONFIG_PATH:-}
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs sluice-primitives)"
strict=(-Wall -Wextra -Wpedantic -Werror)
for program in example scan_only; do
	cc -std=c17 "${strict[@]}" -Wc++-compat "$work/$program.c" "${flags[@]}" -o "$work/$program"
done
echo "pkg-config: $("$work/example")"
test "$("$work/scan_only")" = "$expected"
include=$installed/include/sluice
cc -std=c17 "$work/scan_only.c" -I"$include" -L"$library_dir" -lsluice_primitives -o "$work/scan_shared"
test "$(LD_LIBRARY_PATH=$library_dir "$work/scan_shared")" = "$expected"

# --- what a program that only scans depends on
for program in "$work/scan_only" "$work/scan_shared"; do
	! LD_LIBRARY_PATH=$library_dir ldd "$program" | grep -E 'hdf5|curl|crypto|png|yaml' ||
		fail "$program depends on libraries that only the program sluice needs"
done
strip -o "$work/stripped" "$work/scan_only"
bytes=$(stat -c %s "$work/stripped")
[ -n "$cuda" ] || [ "$bytes" -lt 2000000 ] || fail "a program that only scans has $bytes bytes"

# --- installed files name no folder of this machine
! grep -rlF -e "$source" -e "$build" "$library_dir/cmake" "$library_dir/pkgconfig" ||
	fail "these installed files name the source or the build folder"
! grep -rliE 'hdf5|yaml|libpng' "$library_dir/cmake" "$library_dir/pkgconfig" ||
	fail "these installed files name libraries that the C library does not use"

# --- the shared library exports exactly what the installed headers declare with SL_API
nm -D --defined-only "$library_dir/libsluice_primitives.so" | awk '{print $3}' | sort >"$work/exported"
! grep -v '^sl_' "$work/exported" || fail "these exported symbols lack the prefix sl_"
grep -rhoE 'SL_API [a-z_ 0-9]*\*?sl_[a-z0-9_]+\(' "$include" | grep -oE 'sl_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$work/declared"
! comm -13 "$work/exported" "$work/declared" | grep . || fail "these functions are declared, but not exported"
! comm -23 "$work/exported" "$work/declared" | grep -vE '^sl_(scan|compact|sort|deflate|expand)_' || # backends: from backends.def
	fail "no installed header declares these exported symbols"

# --- every installed header of the library can be included first, in C and in C++
mkdir "$work/alone"
for header in $(find "$include" -path "$include/model" -prune -o -name '*.h' -printf '%P\n'); do
	printf '#include "%s"\nextern int alone;\n' "$header" >"$work/alone/${header//\//_}.c"
done
test "$(find "$work/alone" -type f | wc -l)" -ge 8
cc -std=c17 "${strict[@]}" -Wc++-compat -fsyntax-only -I"$include" "$work"/alone/*.c
c++ -std=c++17 "${strict[@]}" -fsyntax-only -I"$include" -x c++ "$work"/alone/*.c

if [ -n "$cuda" ]; then
	cc -std=c17 -DEXAMPLE_CUDA "$work/example.c" -isystem "$cuda" "${flags[@]}" -o "$work/with_cuda"
	code=0
	"$work/with_cuda" || code=$?
	[ $code -eq 0 ] || [ $code -eq 77 ] # 77: no GPU
fi

# --- programs, files, manual pages of all commands, and completion of the shells
cd "$installed"
for file in include/sluice/primitives/primitives.h share/sluice/{examples/example.c,scripts/{plot,plot_run,load_run}.py,scripts/cluster/slurm.sbatch} \
	share/sluice/bench/{plot,stages}.py share/doc/Sluice/docs/{quickstart,running,configuration}.md; do
	test -f "$file" || fail "$file is not installed"
done
# an external model is built from the installed files, by a compiler that saves the time for the speed of the model
printf '#!/bin/sh\nexec cc "$@" -O0\n' >"$work/fast" && chmod +x "$work/fast"
(cp share/sluice/models/rod.* "$work" && cd "$work" && export NVCC= CC=./fast && "$installed/bin/sluice" model build rod.h &&
	"$installed/bin/sluice" run rod.yaml --device cpu --quiet --set run.particles=1e4 --out rod)
for page in share/doc/Sluice/{,docs/}*.md; do
	for link in $(grep -oE '\]\([^)#: ]+' "$page" | cut -c 3-); do
		test -e "${page%/*}/$link" || fail "$page: there is no $link"
	done
done
command -v help2man >/dev/null || echo "SKIP: help2man is not installed, so there are no manual pages"
for command in $(command -v help2man >/dev/null && bin/sluice --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'); do
	grep -q "^\.SH SYNOPSIS" "share/man/man1/sluice-$command.1" || fail "there is no manual page of sluice $command"
done
for program in sluice sluice-bench; do
	[ -e "$build/$program" ] || continue # the bench is part of every build except one with ThreadSanitizer
	"bin/$program" --help >/dev/null
	grep -q "^complete -F" "share/bash-completion/completions/$program"
	grep -q "^#compdef sluice sluice-bench$" share/zsh/site-functions/_sluice
	grep -q "^complete -c $program " "share/fish/vendor_completions.d/$program.fish"
done
