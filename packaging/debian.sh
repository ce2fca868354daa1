#!/usr/bin/env bash
# debian.sh - the steps of the containers, as root on Debian 12, with packages of Debian.
#
#	packaging/debian.sh build [cuda] [mpi]      installs compiler and libraries, builds, installs into /opt/sluice
#	packaging/debian.sh libraries [cuda] [mpi]  installs the libraries that the installed programs need
#
# cuda: with the device backends, by the CUDA toolkit of PyPI; at run time only the driver of the host is needed.
# mpi: with Open MPI of Debian.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive

install_packages() {
	apt-get -qq -o DPkg::Lock::Timeout=300 update
	apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null
	rm -rf /var/lib/apt/lists/*
}

with_cuda=OFF with_mpi=OFF
for word in "${@:2}"; do
	case $word in
	cuda) with_cuda=ON ;;
	mpi) with_mpi=ON ;;
	*) echo "$0: $word: unknown; use cuda or mpi" >&2 && exit 2 ;;
	esac
done

case ${1:-} in
build)
	# The list of packages; the working folder becomes the root of the repository. git names the commit, help2man makes
	# the manual pages.
	. "$(dirname "$0")/../scripts/setup.sh"
	install_packages $BUILD_PACKAGES git help2man
	# Not below build/, where a copy of a working tree can have the build of another machine.
	folder=$(mktemp -d) cuda=()
	[ $with_mpi = OFF ] || install_packages libopenmpi-dev
	if [ $with_cuda = ON ]; then
		install_packages python3-venv
		python3 -m venv "$folder/toolkit"
		"$folder/toolkit/bin/pip" install -q 'cuda-toolkit[nvcc,cccl,cudart,curand]==13.0.*'
		toolkit=$(echo "$folder"/toolkit/lib/python3*/site-packages/nvidia/cu13)
		ln -s lib "$toolkit/lib64" # where nvcc looks for its libraries
		cuda=(-DCMAKE_CUDA_COMPILER="$toolkit/bin/nvcc") # so that CMake does not go on without it
	fi
	cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/sluice \
		-DSLUICE_CUDA=$with_cuda "${cuda[@]}" -DSLUICE_MPI=$with_mpi -DSLUICE_TESTS=OFF
	cmake --build "$folder"
	cmake --install "$folder" --strip
	rm -rf "$folder"
	;;
libraries)
	install_packages libdeflate0 libhdf5-103-1 libisal2 libpng16-16 libyaml-0-2 zlib1g
	[ $with_mpi = OFF ] || install_packages openmpi-bin
	;;
*)
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
