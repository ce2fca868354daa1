#!/usr/bin/env bash
# fuzz.sh - runs the libFuzzer targets of tests/fuzz under AddressSanitizer and UndefinedBehaviorSanitizer: config
# (the reader of configurations), files (the readers of files), deflate (the DEFLATE encoder).
#
#	scripts/fuzz.sh [SECONDS]              all targets, a third of the time each; 600 s by default
#	scripts/fuzz.sh TARGET [OPTION...]     one target with options of libFuzzer: fuzz.sh deflate -runs=10000000
#
# Exit code: 0 if no target fails, 1 at the first failure, 2 for wrong arguments. Logs, failing inputs and the grown
# corpus are in build/fuzz.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

case ${1:-600} in
*[!0-9]*)
	targets=$1
	[ -f "tests/fuzz/$1.c" ] || usage
	limits=("${@:2}")
	;;
*)
	targets="config files deflate"
	limits=("-max_total_time=$((${1:-600} / 3))")
	;;
esac

install_missing $BUILD_PACKAGES clang libclang-rt-14-dev
export CC=clang CXX=clang++
build fuzz

# Input sizes and corpus of each target. libFuzzer adds new inputs to the first folder.
declare -A options=(
	[config]="-max_len=4096 -dict=../../tests/fuzz/config.dict corpus_config ../../tests/fuzz/corpus/config ../../data/configs"
	[files]="-max_len=4096 corpus_files ../../tests/fuzz/corpus/files ../../tests/stages/formats/mcpl/reference"
	[deflate]="-max_len=100000 -len_control=10 corpus_deflate"
)

for target in $targets; do
	log=build/fuzz/log_$target
	clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all "tests/fuzz/$target.c" build/fuzz/libsluice.a build/fuzz/libsluice_primitives.a \
		$(pkg-config --libs yaml-0.1 libdeflate zlib libpng hdf5) -fsanitize-link-c++-runtime -lpthread -lm -lstdc++ \
		-o "build/fuzz/$target"
	mkdir -p "build/fuzz/corpus_$target"
	(cd build/fuzz && "./$target" -print_final_stats=1 "${limits[@]}" ${options[$target]}) 2>"$log" || {
		tail -40 "$log" >&2
		fail "the target $target failed; the failing input is in build/fuzz, and the log is $log"
	}
	echo "$target:"
	grep -E 'number_of_executed_units|slowest_unit' "$log"
done
