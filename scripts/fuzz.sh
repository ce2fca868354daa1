#!/usr/bin/env bash
# fuzz.sh - runs the fuzz targets of tests/fuzz/targets.def by libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer: readers, the DEFLATE encoder, and the C library.
#
#	scripts/fuzz.sh [SECONDS]              all targets, an equal share of the time each; 600 s by default
#	scripts/fuzz.sh TARGET [OPTION...]     one target with options of libFuzzer: fuzz.sh deflate -runs=10000000
#	scripts/fuzz.sh --build                only builds the targets, in build/fuzz
#
# Prints for each target how many inputs were executed, how many edges of the code they reached, and the seconds of the
# slowest. Exit code: 0 if no target fails, 1 at the first failure, 2 for wrong arguments. Logs, failing inputs and the
# grown corpus are in build/fuzz.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# The name of each target, with its options of libFuzzer and its folders besides the corpus.
declare -A options
while IFS='|' read -r target words; do
	options[$target]=$words
done < <(sed -n 's/^TARGET(\(.*\), "\(.*\)")$/\1|\2/p' tests/fuzz/targets.def)
targets=${!options[*]}
limits=()
case ${1:-600} in
--build) ;;
*[!0-9]*)
	[ -v "options[$1]" ] || usage
	targets=$1
	limits=("${@:2}")
	;;
*)
	share=$((${1:-600} / $(wc -w <<<"$targets")))
	limits=("-max_total_time=$((share > 0 ? share : 1))")
	;;
esac

install_missing $BUILD_PACKAGES clang libclang-rt-14-dev
export CC=clang CXX=clang++
build fuzz

libraries="$(pkg-config --libs yaml-0.1 libdeflate libisal zlib libpng hdf5) -fsanitize-link-c++-runtime -lpthread -lm -lstdc++"
# shellcheck disable=SC2086 # words of options
clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-Wl,--wrap=sl_h5_in_child,--wrap=sl_h5_child_free tests/fuzz/*.c build/fuzz/libsluice.a \
	build/fuzz/libsluice_primitives.a $libraries -o build/fuzz/targets
for target in $targets; do
	ln -f build/fuzz/targets "build/fuzz/$target" # the name of the file selects the target
done
[ "${1:-}" != --build ] || exit 0

# An input frees all its memory and is short. With the default quarantine of freed memory, 256 MiB, the pages of each
# input are new to the process, which takes half of the time.
export ASAN_OPTIONS=${ASAN_OPTIONS-quarantine_size_mb=1:malloc_context_size=5}

for target in $targets; do
	log=build/fuzz/log_$target
	corpus="corpus_$target"
	mkdir -p "build/fuzz/$corpus"
	# libFuzzer adds new inputs to the first folder.
	[ ! -d "tests/fuzz/corpus/$target" ] || corpus+=" ../../tests/fuzz/corpus/$target"
	# shellcheck disable=SC2086 # words of options and folders
	(cd build/fuzz && "./$target" -max_len=4096 -print_final_stats=1 "${limits[@]}" $corpus ${options[$target]}) 2>"$log" || {
		tail -40 "$log" >&2
		fail "the target $target failed; the failing input is in build/fuzz, and the log is $log"
	}
	awk -v target="$target" '/ cov: / { edges = $4 } /number_of_executed_units/ { runs = $2 } /slowest_unit/ { slowest = $2 }
		END { printf "%-12s %10d executions %7d edges %4d s slowest\n", target, runs, edges, slowest }' "$log"
done
