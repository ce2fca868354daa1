#!/usr/bin/env bash
# ci_compilers.sh - builds with compilers other than gcc 12, warnings are errors, and runs a share of the tests.
#
#	scripts/ci_compilers.sh clang     clang of this Debian
#	scripts/ci_compilers.sh gcc14     gcc 14 and the libraries of Debian 13, in a system of its own in build/trixie
#
# Both build without device backends. gcc14 needs root: debootstrap makes the system from the package mirror of this
# machine's apt, once for a build folder, and the build runs there in a mount namespace of its own.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Tests that run quickly and cover each folder; of sweeps over many cases, one case in 13.
share='^(primitives/(specification|wrong_use|keys|base/.*|files/.*|deflate/planes|scan/look_ahead)'
share+='|stages/((particle|models|selection|host|formats)/.*|device/pack)'
share+='|pipeline/((config|text|report|resolve)/.*|results/manifest|run/allocations)'
share+='|end_to_end/(cli/commands_refused|bits/histograms|faults/memory_faults)|example)$'
share_tests=50 # at least: fewer means that tests were renamed
export SLUICE_ONE_IN=13

fail() {
	echo "ci_compilers.sh: $*" >&2
	exit 1
}

# Builds with the compilers CC and CXX, and CMake options, and runs the share.
build_and_test() {
	local found

	echo "$($CC --version | head -1), HDF5 $(pkg-config --modversion hdf5)"
	build ci-compiler "$@"
	found=$(ctest --preset ci-compiler -N -R "$share" | grep -c 'Test *#')
	[ "$found" -ge "$share_tests" ] || fail "share names $found tests, not $share_tests or more. Correct the names in it"
	ctest --preset ci-compiler -j $(($(nproc) + 1)) -R "$share"
}

# A Debian 13 with what the build needs. It is complete when it has its name.
make_trixie() {
	local root=$1 mirror

	[ "$(id -u)" -eq 0 ] || fail "gcc14 needs root: debootstrap and chroot do. Run it as root"
	mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		sed -n "s/^$(. /etc/os-release && echo "$VERSION_CODENAME") //p" | head -1)
	[ -n "$mirror" ] || fail "gcc14 needs a mirror of Debian: apt's configuration names none. Add one to /etc/apt"
	install_missing debootstrap
	rm -rf --one-file-system "$root.part"
	debootstrap --variant=minbase --include=ca-certificates trixie "$root.part" "$mirror" >"$root.log" 2>&1 || {
		tail -5 "$root.log" >&2
		fail "debootstrap cannot make a Debian 13 from $mirror; all it said is in $root.log"
	}
	cp -r /etc/apt/apt.conf.d "$root.part/etc/apt/" # a proxy, for example
	cp /etc/resolv.conf /etc/hosts "$root.part/etc/"
	in_root "$root.part" bash -c '. scripts/setup.sh && install_missing $BUILD_PACKAGES libcmocka-dev'
	mv "$root.part" "$root"
}

# Runs a command in the system below a folder, with the repository as its working folder. The mounts end with the command.
in_root() {
	unshare --mount bash -euc '
		root=$1
		shift
		mkdir -p "$root/project"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount --bind . "$root/project"
		path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
		exec env -i HOME=/root LANG=C.UTF-8 PATH=$path $(env | grep -iE "^(https?|no)_proxy=") \
			chroot "$root" bash -c "cd /project && exec \"\$@\"" -- "$@"' -- "$@"
}

case ${1:-} in
clang)
	install_missing $BUILD_PACKAGES libcmocka-dev clang
	# Its warnings do not depend on the optimization; those of gcc do.
	export CC=clang CXX=clang++
	build_and_test -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1
	;;
gcc14)
	[ -d build/trixie ] || { mkdir -p build && make_trixie build/trixie; }
	in_root build/trixie env CC=gcc CXX=g++ scripts/ci_compilers.sh here
	;;
here)
	build_and_test
	;;
*)
	sed -n '4,5s/^#//p' "$0"
	exit 2
	;;
esac
