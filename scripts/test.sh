#!/usr/bin/env bash
# test.sh - installs missing packages, builds everything and runs the tests.
#
#	scripts/test.sh                 the tests of the release build; with device backends if nvcc is installed
#	scripts/test.sh sanitize        tests that need no GPU, under AddressSanitizer and UndefinedBehaviorSanitizer
#	scripts/test.sh thread          tests with several threads, under ThreadSanitizer
#	scripts/test.sh ci-compiler     the tests of a build without device backends by the compilers CC and CXX
#	scripts/test.sh release -L gpu  the words after the preset are options of ctest, instead of -LE slow: without them, tests
#	                                that find little per minute do not run
#
# Long tests of the release build try one in 7 of their variants; the commit selects which. SLUICE_ONE_IN=1 tries all
# (tests/cases/sampling.h).
#
# Exit code: 0 if the build and all tests succeed.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

preset=${1:-release}
install_missing $BUILD_PACKAGES $TEST_PACKAGES
options=(-DSLUICE_TESTS=ON)
# scripts/demo.sh may have configured this build folder with -DSLUICE_CUDA=OFF.
case $preset in *release) options+=(-DSLUICE_CUDA=ON) ;; esac
# The Python of Debian, whose packages the tests use, although another one may come first on the PATH.
case $preset in *release | ci-compiler | sanitize) options+=(-DSLUICE_PYTHON_PACKAGE=ON -DPython_EXECUTABLE=/usr/bin/python3) ;; esac
build "$preset" "${options[@]}"
case $preset in *release) export SLUICE_ONE_IN=${SLUICE_ONE_IN:-7} SLUICE_SHARE=${SLUICE_SHARE:-$(commit_number)} ;; esac
[ $# -gt 1 ] || set -- "$preset" -LE slow
run_tests "$preset" "${@:2}"
