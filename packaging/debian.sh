#!/usr/bin/env bash
# debian.sh - the steps of the containers, as root on Debian 12, with packages of Debian only.
#
#	packaging/debian.sh build      installs compiler and libraries, builds, installs into /opt/sluice
#	packaging/debian.sh libraries  installs the libraries that the installed programs need
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive

install_packages() {
	apt-get -qq -o DPkg::Lock::Timeout=300 update
	apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" >/dev/null
	rm -rf /var/lib/apt/lists/*
}

case ${1:-} in
build)
	# The list of packages; the working folder becomes the root of the repository. git names the commit, help2man makes
	# the manual pages.
	. "$(dirname "$0")/../scripts/setup.sh"
	install_packages $BUILD_PACKAGES git help2man
	# Not below build/, where a copy of a working tree can have the build of another machine.
	folder=$(mktemp -d)
	cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/opt/sluice \
		-DSLUICE_CUDA=OFF -DSLUICE_TESTS=OFF
	cmake --build "$folder"
	cmake --install "$folder" --strip
	rm -rf "$folder"
	;;
libraries)
	install_packages libdeflate0 libhdf5-103-1 libisal2 libpng16-16 libyaml-0-2 zlib1g
	;;
*)
	sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
