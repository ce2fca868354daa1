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
build "$preset" -DSLUICE_TESTS=ON
ctest --preset "$preset" -j $(($(nproc) + 1)) "$@" # many wait for a disk or a process
