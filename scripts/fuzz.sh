#!/usr/bin/env bash
# fuzz.sh - runs the libFuzzer targets of tests/fuzz under AddressSanitizer and UndefinedBehaviorSanitizer: one for each
# reader, the DEFLATE encoder, and the C library.
#
#	scripts/fuzz.sh [SECONDS]              all targets, an equal share of the time each; 600 s by default
#	scripts/fuzz.sh TARGET [OPTION...]     one target with options of libFuzzer: fuzz.sh deflate -runs=10000000
#	scripts/fuzz.sh --build                only builds the targets, in build/fuzz
#
# Prints for each target how many inputs were executed, how many edges of the code they reached, and the seconds of the
# slowest. Exit code: 0 if no target fails, 1 at the first failure, 2 for wrong arguments. Logs, failing inputs and the
# grown corpus are in build/fuzz.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

targets=$(cd tests/fuzz && ls ./*.c | sed 's|./||; s|\.c$||')
limits=()
case ${1:-600} in
--build) ;;
*[!0-9]*)
	[ -f "tests/fuzz/$1.c" ] || usage
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

# shellcheck disable=SC2016 # the shell that xargs starts expands it
libraries="$(pkg-config --libs yaml-0.1 libdeflate libisal zlib libpng hdf5) -fsanitize-link-c++-runtime -lpthread -lm -lstdc++"
xargs -P "$(nproc)" -I{} clang -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=fuzzer,address,undefined \
	-fno-sanitize-recover=all tests/fuzz/{}.c build/fuzz/libsluice.a build/fuzz/libsluice_primitives.a \
	$libraries -o build/fuzz/{} <<<"$(tr ' ' '\n' <<<"$targets")"
[ "${1:-}" != --build ] || exit 0

# An input frees all its memory and is short. With the default quarantine of freed memory, 256 MiB, the pages of each
# input are new to the process, which takes half of the time.
export ASAN_OPTIONS=${ASAN_OPTIONS-quarantine_size_mb=1:malloc_context_size=5}

# Options and corpora of targets that need more than the default. libFuzzer adds new inputs to the first folder.
declare -A options=(
	[config]="-dict=../../tests/fuzz/config.dict ../../data/configs"
	[expression]="-dict=../../tests/fuzz/config.dict"
	[run_json]="-max_len=8192"
	[mcpl]="../../tests/stages/formats/mcpl/reference"
	[deflate]="-max_len=100000 -len_control=10"
	[api]="-max_len=256 -entropic_scale_per_exec_time=1" # longer inputs are more calls, not other ones
)

for target in $targets; do
	log=build/fuzz/log_$target
	corpus="corpus_$target"
	mkdir -p "build/fuzz/$corpus"
	[ ! -d "tests/fuzz/corpus/$target" ] || corpus+=" ../../tests/fuzz/corpus/$target"
	# shellcheck disable=SC2086 # words of options and folders
	(cd build/fuzz && "./$target" -max_len=4096 -print_final_stats=1 "${limits[@]}" $corpus ${options[$target]:-}) 2>"$log" || {
		tail -40 "$log" >&2
		fail "the target $target failed; the failing input is in build/fuzz, and the log is $log"
	}
	awk -v target="$target" '/ cov: / { edges = $4 } /number_of_executed_units/ { runs = $2 } /slowest_unit/ { slowest = $2 }
		END { printf "%-12s %10d executions %7d edges %4d s slowest\n", target, runs, edges, slowest }' "$log"
done
