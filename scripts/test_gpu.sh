#!/usr/bin/env bash
# test_gpu.sh - on a machine with a GPU, in a build that is made: its tests, and its kernels under compute-sanitizer.
#
#	scripts/test_gpu.sh BUILD              the tests of the GPU as they are, then under memcheck, racecheck, initcheck, synccheck
#	scripts/test_gpu.sh BUILD racecheck    under that tool alone
#
# A tool makes kernels hundreds of times slower. Under one, tests try a share of variants and sizes (tests/cases/sampling.h; they
# print which, SLUICE_ONE_IN and SLUICE_LARGEST say otherwise), and the scan by look-ahead, which takes over above those sizes,
# is run by the bench, which checks its answer. As many runs as there are cores go side by side, as most of their time is the
# host's; stages/device/device_pipeline_gpu, which takes longest, is run test by test.
set -euo pipefail
build=$(cd "${1:?which build? try build/release}" && pwd)
cd "$(dirname "$0")/.."
tools=("${@:2}")
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
runs=() red=0

# Its output, and how long it took, kept until all before it are told.
begin() {
	local log=$logs/${#runs[@]}
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		sleep 0.2
	done
	(
		SECONDS=0
		echo "== $*"
		status=0
		"$@" || status=$?
		echo "== exit $status, took $SECONDS s"
		exit "$status"
	) >"$log" 2>&1 &
	runs+=("$!")
}

if [ ${#tools[@]} -eq 0 ]; then
	ctest --test-dir "$build" -L gpu --output-on-failure || red=1
	tools=(memcheck racecheck initcheck synccheck)
fi
export SLUICE_SOURCE=$PWD SLUICE=$build/sluice SLUICE_ONE_IN=${SLUICE_ONE_IN:-331} SLUICE_LARGEST=${SLUICE_LARGEST:-700} \
	SLUICE_DEFLATE_JOBS=${SLUICE_DEFLATE_JOBS:-10}
for tool in "${tools[@]}"; do
	checked=(compute-sanitizer --tool "$tool" --error-exitcode 1)
	[ "$tool" != memcheck ] || checked+=(--report-api-errors no) # running out of memory is tested
	for name in $(sed -n 's/.*cmocka_unit_test(\(.*\)),/\1/p' tests/stages/device/device_pipeline_gpu.c); do
		begin env SLUICE_TEST="$name" "${checked[@]}" "$build/tests/test_stages_device_device_pipeline_gpu"
	done
	for test in primitives/backends_gpu primitives/deflate/deflate_gpu stages/rules stages/device/pack_gpu; do
		begin "${checked[@]}" "$build/tests/test_${test//\//_}"
	done
	begin "${checked[@]}" "$build/sluice-bench" primitives --only scan/shared --n '2^24-3' --samples 1
done
for run in "${!runs[@]}"; do
	wait "${runs[run]}" || red=1
	cat "$logs/$run"
done
exit "$red"
