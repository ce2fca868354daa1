#!/usr/bin/env bash
# test_gpu.sh - runs the tests of an existing build on a GPU, then its kernels under compute-sanitizer.
#
#	scripts/test_gpu.sh BUILD              the tests with the label gpu, then memcheck, racecheck, initcheck, synccheck
#	scripts/test_gpu.sh BUILD racecheck    only the tests under the named tools
#
# Exit code: 0 if all tests succeed and no tool reports an error, 1 otherwise, 2 without BUILD.
#
# A tool makes kernels hundreds of times slower. Tests under a tool therefore try a share of the variants and sizes;
# they print which share (tests/cases/sampling.h), and SLUICE_ONE_IN and SLUICE_LARGEST change it. The look-ahead scan
# is used only above those sizes; sluice-bench runs it and checks its answer. As many tests run at a time as there are
# cores, because most of the time is spent on the host. Each test function of stages/device/device_pipeline_gpu, which
# takes longest, is a separate process.
[ $# -eq 0 ] || build_folder=$(realpath -- "$1")
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

[ $# -gt 0 ] || usage
[ -f "$build_folder/CTestTestfile.cmake" ] ||
	fail "$1 is not a build folder with tests. Run scripts/test.sh, then name build/release"
tools=("${@:2}")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
runs=() failed=0

# start COMMAND...: starts a command when a core is free. Its output goes to a log, which is printed when all commands
# before it have been printed.
start() {
	local log=$logs/${#runs[@]}
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		sleep 0.2
	done
	(
		SECONDS=0
		# compute-sanitizer of CUDA 13.0 loses the exit code of some programs that have ended: of 4 of 69 commands.
		for ((attempt = 1; attempt <= 3; attempt++)); do
			echo "== $*" >"$log"
			status=0
			"$@" >>"$log" 2>&1 || status=$?
			grep -q "^========= Error: couldn't find exit code" "$log" || break
		done
		[ "$status" -ne 77 ] || status=0 # skipped; the test has printed why
		echo "== exit $status, took $SECONDS s" >>"$log"
		exit "$status"
	) &
	runs+=("$!")
}

if [ ${#tools[@]} -eq 0 ]; then
	ctest --test-dir "$build_folder" -L gpu --output-on-failure || failed=1
	ctest --test-dir "$build_folder" -R '^primitives/(wrong_use|device/memory)$' --output-on-failure || failed=1 # emulated, then real
	tools=(memcheck racecheck initcheck synccheck)
fi
export SLUICE_SOURCE=$PWD SLUICE=$build_folder/sluice SLUICE_ONE_IN=${SLUICE_ONE_IN:-331} SLUICE_LARGEST=${SLUICE_LARGEST:-700} \
	SLUICE_DEFLATE_JOBS=${SLUICE_DEFLATE_JOBS:-10}
for tool in "${tools[@]}"; do
	sanitizer=(compute-sanitizer --tool "$tool" --error-exitcode 1)
	# Tests exhaust the device memory on purpose; memcheck would report the failed allocations.
	[ "$tool" != memcheck ] || sanitizer+=(--report-api-errors no)
	for name in $(sed -n 's/^TEST(\(.*\))$/\1/p' tests/stages/device/device_pipeline_gpu.c); do
		start env SLUICE_TEST="$name" "${sanitizer[@]}" "$build_folder/tests/sluice_tests" stages/device/device_pipeline_gpu
	done
	for test in primitives/backends_gpu primitives/device/memory primitives/deflate/deflate_gpu stages/rules; do
		start "${sanitizer[@]}" "$build_folder/tests/sluice_tests" "$test"
	done
	# Scores whose counters are in shared memory, of collisions by the kernels for bins of equal width, and of flights: the
	# sizes above are too small.
	for tallies in '[[deposit, r:100:0 mm..5 mm, z:100]]' '[[fluence_collision, r:100:0 mm..5 mm, z:100]]' \
		'[[deposit, r:90:0 mm..5 mm, z:100], [fluence_collision, z:4]]' \
		'[[fluence_track, r:50:0 mm..5 mm, z:100], [crossing:0.01 cm, w:20]]'; do
		start "${sanitizer[@]}" "$SLUICE" run data/configs/vandehulst.yaml --device cuda --quiet --force \
			--out "$logs/scores-${#runs[@]}" --set run.particles=300000 --set output.format=none \
			--set model.slab.absorption=implicit --set "tallies=$tallies"
	done
	start "${sanitizer[@]}" "$build_folder/sluice-bench" primitives --only scan/shared --n '2^24-3' --samples 1
done
for run in "${!runs[@]}"; do
	wait "${runs[run]}" || failed=1
	cat "$logs/$run"
done
exit "$failed"
