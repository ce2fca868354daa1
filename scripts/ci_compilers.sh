#!/usr/bin/env bash
# ci_compilers.sh - builds with a compiler other than gcc 12, with warnings as errors, and runs tests.
#
#	scripts/ci_compilers.sh clang [all]     a share of the tests with clang of the installed Debian, with Open MPI; all
#	                                  compiles all tests, but runs the same
#	scripts/ci_compilers.sh debian13  the same share, with the package of Python, on a fresh Debian 13 (gcc 14, CPython
#	                                  3.13, NumPy 2), in a chroot in build/trixie
#	scripts/ci_compilers.sh debian13 all    all tests, and the recipes of the docs, by scripts/test.sh
#	scripts/ci_compilers.sh aarch64   gcc 14 for AArch64, in a chroot in build/trixie-aarch64; no tests, but each
#	                                  configuration runs in qemu, and its files must be those of build/release
#
# Exit code: 0 if the build and the tests succeed, 2 for wrong arguments. All build without device backends. debian13 and
# aarch64 need root: debootstrap creates the chroot once per build folder, from the package mirror that apt is
# configured with. The build runs in a mount namespace.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Tests that run quickly and cover each folder. Sweeps over many cases try one case in 13.
share='^(primitives/(wrong_use|keys|base/.*|files/.*|scan/look_ahead)|(property|stages/(particle|models|host|formats))/.*'
share+='|stages/selection|pipeline/((config|text|report|resolve)/.*|results/manifest|run/allocations)'
share+='|text/(refused|tallies|ranks)|faults/limits|end_to_end/ranks/.*|example|python)'
share_min=45 # number of tests; fewer means that tests were renamed

# build_and_test FILES OPTION...: builds with the compilers CC and CXX and the options of CMake the files of tests whose lines
# match, and runs the share of the tests.
build_and_test() {
	local found

	echo "$($CC --version | head -1), HDF5 $(pkg-config --modversion hdf5)"
	build ci-compiler -DSLUICE_TEST_FILES="$1" "${@:2}"
	found=$(ctest --preset ci-compiler -N -R "$share\$" | grep -c 'Test *#')
	[ "$found" -ge "$share_min" ] ||
		fail "only $found tests match the pattern 'share', at least $share_min are expected: tests were renamed. Correct the pattern"
	SLUICE_ONE_IN=13 run_tests ci-compiler -R "$share\$"
}

# make_trixie ROOT COMMAND...: creates a Debian 13, in which the command installs packages. The folder gets its final
# name when it is complete.
make_trixie() {
	local root=$1 mirror
	shift
	mkdir -p build
	[ "$(id -u)" -eq 0 ] || fail "the chroot of Debian 13 needs root for debootstrap and chroot. Run the script as root"
	mirror=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
		sed -n "s/^$(. /etc/os-release && echo "$VERSION_CODENAME") //p" | head -1)
	[ -n "$mirror" ] || fail "the chroot of Debian 13 needs a Debian mirror, but the configuration of apt has none. Add one to /etc/apt"
	install_missing debootstrap
	rm -rf --one-file-system "$root.part"
	debootstrap --variant=minbase --include=ca-certificates trixie "$root.part" "$mirror" >"$root.log" 2>&1 || {
		tail -5 "$root.log" >&2
		fail "debootstrap cannot install Debian 13 from $mirror: see the end of its log above. The whole log is $root.log"
	}
	cp -r /etc/apt/apt.conf.d "$root.part/etc/apt/" # for example a proxy
	cp /etc/resolv.conf /etc/hosts "$root.part/etc/"
	in_root "$root.part" "$@"
	mv "$root.part" "$root"
}

# in_root FOLDER COMMAND...: runs a command in the chroot FOLDER, with the repository as its working folder. The
# mounts end with the command.
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

# run_configurations FOLDER COMMAND...: runs each configuration with few particles into a folder of FOLDER. The encoder
# is that of this project, because the output of ISA-L depends on its version and the processor.
run_configurations() {
	local folder=$1 config device batch
	shift
	rm -rf "$folder"
	mkdir -p "$folder"
	for config in data/configs/*.yaml data/configs/*/*.yaml; do
		[[ $config == */smc/* ]] && batch=500 || batch=6000 # filters have whole batches
		for device in cpu:20000 emulated:1500; do
			echo "$config" --set "run.particles=${device#*:}" --set run.batch=$batch --device "${device%:*}" \
				--out "$folder/$(basename "$config" .yaml)-${device%:*}"
		done
	done | xargs -P "$(nproc)" -L 1 "$@" run --threads 1 --deflate cpu --quiet
}

case ${1:-} in
clang)
	install_missing $BUILD_PACKAGES libcmocka-dev clang libopenmpi-dev openmpi-bin
	# Warnings of clang do not depend on the optimization level; those of gcc do.
	export CC=clang CXX=clang++
	[ "${2:-}" = all ] && files=. || files="$share "
	build_and_test "$files" -DSLUICE_MPI=ON -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS=-O1
	;;
debian13)
	[ -d build/trixie ] || make_trixie build/trixie true
	if [ "${2:-}" = all ]; then
		in_root build/trixie env CC=gcc CXX=g++ SLUICE_ONE_IN="${SLUICE_ONE_IN:-1}" scripts/test.sh ci-compiler -L cpu
	else
		in_root build/trixie env CC=gcc CXX=g++ scripts/ci_compilers.sh debian13_in_chroot
	fi
	;;
debian13_in_chroot)
	install_missing $BUILD_PACKAGES $TEST_PACKAGES python3-pandas
	build_and_test "$share " -DSLUICE_PYTHON_PACKAGE=ON -DPython_EXECUTABLE=/usr/bin/python3
	;;
aarch64)
	[ -d build/trixie-aarch64 ] || make_trixie build/trixie-aarch64 scripts/ci_compilers.sh aarch64_packages
	in_root build/trixie-aarch64 scripts/ci_compilers.sh aarch64_in_chroot
	build ci-release -- --target sluice_program
	run_configurations build/runs build/release/sluice
	# run.json contains times and the machine.
	diff -r --exclude=run.json build/runs build/runs-aarch64 || fail "the files of some runs differ on AArch64"
	echo "$(ls build/runs | wc -l) runs have the same files on $(uname -m) and AArch64"
	rm -r build/runs build/runs-aarch64
	;;
aarch64_packages)
	dpkg --add-architecture arm64
	install_missing cmake ninja-build pkg-config gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user \
		zlib1g-dev:arm64 libpng-dev:arm64 libdeflate-dev:arm64 libisal-dev:arm64 \
		libhdf5-dev:arm64 libyaml-dev:arm64
	;;
aarch64_in_chroot)
	build ci-aarch64
	run_configurations build/runs-aarch64 qemu-aarch64 build/ci-aarch64/sluice
	;;
*)
	usage
	;;
esac
