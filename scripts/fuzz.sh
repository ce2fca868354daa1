#!/usr/bin/env bash
# fuzz.sh - feeds random bytes to the readers of configurations and of files, and to the encoder of DEFLATE, under ASan and UBSan
# (libFuzzer).
#
#	scripts/fuzz.sh [SECONDS]              default 600, a third of it for each; findings are left in build/fuzz
#	scripts/fuzz.sh TARGET [OPTION...]     one of them, as long as libFuzzer is told: fuzz.sh deflate -runs=10000000
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

targets="config files deflate"
case ${1:-600} in
*[!0-9]*)
	targets=$1
	[ -f "tests/fuzz/$1.c" ] || { echo "fuzz.sh: unknown target $1: there is no tests/fuzz/$1.c; use config, files or deflate" >&2; exit 2; }
	ends=("${@:2}")
	;;
*)
	ends=("-max_total_time=$((${1:-600} / 3))")
	;;
esac

install_missing $BUILD_PACKAGES clang libclang-rt-14-dev
export CC=clang CXX=clang++
build fuzz

# Options of libFuzzer for each target: input sizes and the corpus.
told_config="-max_len=4096 -dict=../../tests/fuzz/config.dict corpus_config ../../tests/fuzz/corpus/config ../../data/configs"
told_files="-max_len=4096 corpus_files ../../tests/fuzz/corpus/files ../../tests/stages/formats/mcpl/reference"
told_deflate="-max_len=100000 -len_control=10 corpus_deflate"

for target in $targets; do
	told=told_$target
	clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all "tests/fuzz/$target.c" build/fuzz/libsluice.a build/fuzz/libsluice_primitives.a \
		$(pkg-config --libs yaml-0.1 libdeflate zlib libpng hdf5) -fsanitize-link-c++-runtime -lpthread -lm -lstdc++ \
		-o "build/fuzz/$target"
	mkdir -p "build/fuzz/corpus_$target"
	(cd build/fuzz && "./$target" -print_final_stats=1 "${ends[@]}" ${!told} 2>"log_$target") ||
		{ tail -40 "build/fuzz/log_$target"; exit 1; }
	echo "$target:"
	grep -E 'number_of_executed_units|slowest_unit' "build/fuzz/log_$target"
done
