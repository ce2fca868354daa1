#!/usr/bin/env bash
# nightly.sh - runs everything that tests this repository, part by part, and prints a table of the parts at the end.
#
#	scripts/nightly.sh             all parts, also after one has failed; hours on two cores
#	scripts/nightly.sh PART...     only these, for example: scripts/nightly.sh clang thread
#	scripts/nightly.sh --turn      the part that CI runs for this commit, besides those of each commit; of debian13 and clang
#	                               a share
#
#	format    clang-format, the order of the folders, and the list of mutants without effect
#	release   all tests of the release build, with all variants, in folders on a disk
#	sanitize  AddressSanitizer and UndefinedBehaviorSanitizer, one in 13 variants; with the Python package
#	clang     clang with Open MPI: warnings, a share of the tests, all tests of MPI
#	debian13  all tests on a fresh Debian 13 (gcc 14, NumPy 2)
#	aarch64   each configuration in qemu: the files are those of x86-64
#	thread    ThreadSanitizer: the tests of several threads
#	slow      the recipes of docs/extending.md, the scripts of bench/peers, the Python package with AddressSanitizer, the
#	          emulated device in valgrind
#	analyze   gcc -fanalyzer and clang-tidy
#	sweeps    every byte of a run flipped; 100 rounds of two programs in one folder
#	mutants   all mutants of the kernels
#	fuzz      ten minutes of fuzzing
#	coverage  the share of the lines of each folder that the tests execute (gcov); not part of all
#	gpu       the tests on a GPU and under compute-sanitizer; skipped without a GPU
#
# Exit code: 0 if all parts succeed, 1 if one fails, 2 for an unknown part.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

all=(format release sanitize clang debian13 aarch64 thread slow analyze sweeps mutants fuzz gpu)
# What CI runs in turn: each finds little per minute. The number of commits selects one.
turns=(clang debian13 aarch64 thread slow)

check_format() {
	install_missing clang-format
	git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs -n 50 -P "$(nproc)" clang-format --dry-run --Werror
	scripts/check_layers.py
	tests/mutants/mutants.py --check
}

run_in_valgrind() {
	local folder
	install_missing valgrind
	folder=$(mktemp -d)
	valgrind --quiet --error-exitcode=1 build/release/sluice run data/configs/demo.yaml --device emulated --threads 1 \
		--set run.particles=700 --out "$folder/run" --quiet
	rm -r "$folder"
}

# Tests try one in 7 variants. Prints executed lines, all lines, their ratio and the folder; the files are in
# build/coverage/lines.csv.
measure_coverage() {
	install_missing $BUILD_PACKAGES $TEST_PACKAGES gcovr
	build coverage -DSLUICE_TESTS=ON
	find build/coverage -name '*.gcda' -delete
	SLUICE_ONE_IN=${SLUICE_ONE_IN:-7} run_tests coverage -LE slow
	gcovr --root . --object-directory build/coverage --filter '(primitives|stages|pipeline)/' \
		--gcov-ignore-parse-errors --csv >build/coverage/lines.csv
	awk -F, 'NR > 1 { sub(/\/[^\/]*$/, "", $1); all[$1] += $2; done[$1] += $3 }
		END { for (f in all) printf "%6d %6d %5.1f %%  %s\n", done[f], all[f], 100 * done[f] / all[f], f }' \
		build/coverage/lines.csv | sort -k5
}

run_part() {
	case $1 in
	format) check_format ;;
	release) TMPDIR=/var/tmp SLUICE_ONE_IN=1 scripts/test.sh ci-release ;;
	sanitize) scripts/test.sh sanitize ;;
	clang | debian13) scripts/ci_compilers.sh "$1" ${2:-all} ;;
	aarch64) scripts/ci_compilers.sh aarch64 ;;
	thread) scripts/test.sh thread ;;
	slow)
		scripts/test.sh ci-release -L slow
		scripts/test.sh sanitize -L slow
		run_in_valgrind
		;;
	analyze) scripts/analyze.sh ;;
	sweeps)
		build ci-release -DSLUICE_TESTS=ON
		export SLUICE=$PWD/build/release/tests/sluice SLUICE_SOURCE=$PWD
		build/release/tests/sluice_tests faults/damage 1
		build/release/tests/sluice_tests faults/processes 100
		;;
	mutants) tests/mutants/mutants.py ;;
	fuzz) scripts/fuzz.sh ;;
	coverage) measure_coverage ;;
	gpu)
		if [ -e /dev/nvidia0 ]; then
			scripts/test_gpu.sh build/release
		else
			echo "SKIP: the machine has no GPU of NVIDIA"
		fi
		;;
	*) usage ;;
	esac
}

case ${1:-} in
--turn)
	turn=${turns[$(git rev-list --count HEAD) % ${#turns[@]}]}
	echo "the turn of the part $turn"
	run_part "$turn" share
	exit
	;;
-*) usage ;;
esac
if [ $# -eq 1 ]; then
	run_part "$1"
	exit
fi
[ $# -gt 0 ] || set -- "${all[@]}"
failed=0
for name; do
	part "$name" "$script" "$name" || failed=1
done
print_parts
exit "$failed"
