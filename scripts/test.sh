#!/usr/bin/env bash
# test.sh - installs what is missing, builds, and runs the whole test suite.
#
#	scripts/test.sh                 release build, device backends too when there is an nvcc
#	scripts/test.sh sanitize        those that need no GPU, under AddressSanitizer and UndefinedBehaviorSanitizer
#	scripts/test.sh thread          those of several threads, under ThreadSanitizer
#	scripts/test.sh release -L gpu  further words go to ctest
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

preset=${1:-release}
[ $# -gt 0 ] && shift
install_missing $BUILD_PACKAGES $TEST_PACKAGES
options=(-DSLUICE_TESTS=ON)
case $preset in *release) options+=(-DSLUICE_CUDA=ON) ;; esac # scripts/demo.sh may have set it to OFF in this build folder
build "$preset" "${options[@]}"
ctest --preset "$preset" -j $(($(nproc) + 1)) "$@" # many wait for a disk or a process
