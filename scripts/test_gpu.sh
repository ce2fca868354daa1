#!/usr/bin/env bash
# test_gpu.sh - on a machine with a GPU, in a build that is made: its tests, and its kernels under compute-sanitizer.
#
#	scripts/test_gpu.sh BUILD              the tests of the GPU as they are, then under memcheck, racecheck, initcheck, synccheck
#	scripts/test_gpu.sh BUILD racecheck    under that tool alone
#
# A tool makes kernels hundreds of times slower. Under one, tests try a share of variants and sizes (tests/cases/thin.h; they
# print which, SLUICE_ONE_IN and SLUICE_LARGEST say otherwise), and the scan by look-ahead, which takes over above those sizes,
# is run by the bench, which checks its answer.
set -euo pipefail
build=$(cd "${1:?which build? try build/release}" && pwd)
cd "$(dirname "$0")/.."
tools=("${@:2}")
kernels=(primitives/device stages/rules stages/lane_device)

timed() {
	local began=$SECONDS
	echo "== $*"
	"$@"
	echo "== took $((SECONDS - began)) s"
}

if [ ${#tools[@]} -eq 0 ]; then
	timed ctest --test-dir "$build" -L gpu --output-on-failure
	tools=(memcheck racecheck initcheck synccheck)
fi
export SLUICE_SOURCE=$PWD SLUICE=$build/sluice SLUICE_ONE_IN=${SLUICE_ONE_IN:-31} SLUICE_LARGEST=${SLUICE_LARGEST:-5000}
for tool in "${tools[@]}"; do
	checked=(compute-sanitizer --tool "$tool" --error-exitcode 1)
	for test in "${kernels[@]}"; do
		timed "${checked[@]}" "$build/tests/test_${test//\//_}"
	done
	timed "${checked[@]}" "$build/sluice-bench" primitives --only scan/shared --n '2^24-3' --samples 1
done
