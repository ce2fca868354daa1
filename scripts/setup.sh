# setup.sh - sourced by demo.sh and test.sh: installs what is missing from Debian's packages.
#
#	install_missing PACKAGE...
#
# Needs root or sudo only when something is missing. The CUDA toolkit is used when nvcc is there and is never installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

BUILD_PACKAGES="build-essential cmake ninja-build pkg-config zlib1g-dev libpng-dev libdeflate-dev libhdf5-dev libyaml-dev"
TEST_PACKAGES="libcmocka-dev strace python3 python3-h5py python3-matplotlib python3-yaml hdf5-tools"

is_installed() {
	dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

install_missing() {
	local missing=() as_root=() package

	for package in "$@"; do
		is_installed "$package" || missing+=("$package")
	done
	[ ${#missing[@]} -eq 0 ] && return
	echo "installing: ${missing[*]}"
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "these packages are missing and need root to install: ${missing[*]}" >&2
			exit 1
		}
		as_root=(sudo)
	fi
	export DEBIAN_FRONTEND=noninteractive
	"${as_root[@]}" apt-get -qq update
	"${as_root[@]}" apt-get -qq install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# nvcc is often installed but not on the PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
	export PATH=/usr/local/cuda/bin:$PATH
fi

# A build folder belongs to the source folder that it was configured in. CMake refuses one that was moved or copied along
# with its sources; say so before it does, and what to do.
check_build_folder() {
	local cache=build/$1/CMakeCache.txt source
	[ -f "$cache" ] || return 0
	source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
	[ "$source" = "$(pwd -P)" ] || [ "$source" = "$PWD" ] || {
		echo "build/$1 cannot be used: it was configured for the source folder $source, and this one is $PWD" >&2
		echo "(the sources were moved or copied with their build folder); remove it: rm -r '$PWD/build/$1'" >&2
		return 1
	}
}

# build PRESET [OPTION...] [-- BUILD-OPTION...]: configures and builds a preset. Shows the progress of the build as one line
# on a terminal, and every 20 seconds elsewhere. The whole log is printed if the build fails.
build() {
	local preset=$1 log status=0
	local configure=() compile=()
	shift
	check_build_folder "$preset" || exit 1
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

# show_progress PROCESS LOG: the step that ninja is at, "[12/250]", until the process ends.
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
