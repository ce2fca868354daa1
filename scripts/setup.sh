# setup.sh - functions that the scripts of this folder and .ci/run share; they source it. The working folder becomes
# the root of the repository, and nvcc of the default installation is put on the PATH.
#
#	fail TEXT                                         prints the text with the name of the script; exit code 1
#	usage                                             prints the banner of the script; exit code 2
#	install_missing PACKAGE...                        installs missing packages of Debian
#	build PRESET [OPTION...] [-- BUILD-OPTION...]     configures and builds a preset of CMake
#	run_tests PRESET [OPTION...]                      runs the tests of a preset
#	commit_number                                     a number that selects shares: another one for each commit
#	part NAME COMMAND [WORD...]                       runs a program as a part of a long check; returns its exit code
#	print_parts                                       prints the table of all parts: seconds and result
set -euo pipefail
script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BUILD_PACKAGES="build-essential cmake ninja-build pkg-config zlib1g-dev libpng-dev libdeflate-dev libisal-dev libhdf5-dev libyaml-dev"
TEST_PACKAGES="libcmocka-dev git help2man locales strace python3 python3-dev python3-h5py python3-matplotlib python3-numpy python3-pytest python3-yaml hdf5-tools"

fail() {
	echo "$(basename "$script"): $1" >&2
	exit 1
}

# The banner: the comment lines after the first line of the script.
usage() {
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script" >&2
	exit 2
}

is_installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

# Needs root or sudo only if a package is missing. The CUDA toolkit is never installed.
install_missing() {
	local missing=() as_root=() package

	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	echo "installing: ${missing[*]}"
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || fail "missing packages: ${missing[*]}. Install them as root (there is no sudo)"
		as_root=(sudo)
	fi
	export DEBIAN_FRONTEND=noninteractive
	# Another program that installs packages holds a lock: wait for it.
	"${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 update
	"${as_root[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# nvcc is often installed but not on the PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
	export PATH=/usr/local/cuda/bin:$PATH
fi

# CMake refuses a build folder that was moved or copied together with its sources. This message also says what to do.
check_build_folder() {
	local cache=build/$1/CMakeCache.txt source
	[ -f "$cache" ] || return 0
	source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
	[ "$source" = "$(pwd -P)" ] || [ "$source" = "$PWD" ] ||
		fail "build/$1 was configured for the source folder $source, but the source folder is $PWD (it was moved or \
copied with its build folder). Remove the build folder: rm -r '$PWD/build/$1'"
}

# Shows the progress of the build as one line on a terminal, and every 20 seconds elsewhere. Prints the whole log if the
# build fails.
build() {
	local preset=$1 log status=0
	local configure=() compile=()
	shift
	check_build_folder "$preset"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do configure+=("$1"); shift; done
	[ $# -eq 0 ] || { shift; compile=("$@"); }
	log=$(mktemp)
	cmake --preset "$preset" "${configure[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
	grep -h '^-- Sluice' "$log" || true
	cmake --build --preset "$preset" "${compile[@]}" >"$log" 2>&1 &
	show_progress $! "$log"
	wait $! || status=$?
	[ "$status" -eq 0 ] || { cat "$log" >&2; exit 1; }
	rm -f "$log"
}

# show_progress PROCESS LOG: prints the last step of ninja in the log, "[12/250]", until the process ends.
show_progress() {
	local pause=20 from='' to='\n'
	[ ! -t 1 ] || { pause=1 from='\r'; to=''; }
	while kill -0 "$1" 2>/dev/null; do
		printf "${from}building %s${to}" "$(grep -o '^\[[0-9]*/[0-9]*\]' "$2" | tail -1)"
		for _ in $(seq "$pause"); do
			kill -0 "$1" 2>/dev/null || break
			sleep 1
		done
	done
	printf "${from}building done after %s s\n" "$SECONDS"
}

# One test more than there are cores at a time, because many tests wait for a disk or for a process. Prints what the
# skipped tests need. With SLUICE_NO_SKIPS set, a skipped test is an error, except for tests with the label gpu
# (tests/tests.def).
run_tests() {
	local log folder skipped
	log=$(mktemp)
	folder=$(ctest --preset "$1" -N | sed -n 's/^Test project //p')
	ctest --preset "$1" -j $(($(nproc) + 1)) --output-log "$log" "${@:2}" || { rm "$log"; return 1; }
	sed -n 's/^SKIP: //p' "$folder/Testing/Temporary/LastTest.log" | sort | uniq -c | sed 's/^ *\([0-9]*\)/skipped (\1):/'
	skipped=$(comm -23 <(sed -n 's/^\s*[0-9]* - \(.*\) (Skipped)$/\1/p' "$log" | sort) \
		<(ctest --preset "$1" -N -L '^gpu$' | sed -n 's/^ *Test *#[0-9]*: //p' | sort))
	rm "$log"
	[ -z "${SLUICE_NO_SKIPS:-}" ] || [ -z "$skipped" ] ||
		fail "tests without the label gpu were skipped: ${skipped//$'\n'/, }. Each prints after 'SKIP:' what it needs"
}

# At least 1; also 1 where there is no repository.
commit_number() {
	local hash
	hash=$(git rev-parse HEAD 2>/dev/null) || hash=0
	echo $((16#${hash:0:6} + 1))
}

# The command is a program, not a function: in a function, a failure that || handles would not end at its first error.
part_rows=()
part() {
	local name=$1 start=$SECONDS status=0 result=passed
	shift
	echo "== $name: $*"
	"$@" || status=$?
	[ "$status" -eq 0 ] || result="FAILED (exit code $status)"
	part_rows+=("$(printf '%-14s %6d s  %s' "$name" $((SECONDS - start)) "$result")")
	echo "== ${part_rows[-1]}; $SECONDS s since the start"
	return "$status"
}

print_parts() {
	printf '%s\n' "${part_rows[@]}" "$(printf '%-14s %6d s' total "$SECONDS")"
}
