#!/usr/bin/env bash
# demo.sh - installs what is missing, builds, and runs the demo: a soft shadow on a pixel detector.
#
#	scripts/demo.sh [OPTION...]     options are those of sluice run, --threads 2 for example
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_missing $BUILD_PACKAGES
build release -DSLUICE_TESTS=OFF
sluice=build/release/sluice
echo
$sluice plan data/configs/demo.yaml "$@" --out out/demo
echo
$sluice run data/configs/demo.yaml "$@" --out out/demo --force
echo
$sluice verify out/demo
cat <<'TXT'

The survivors are openPMD files (HDF5): out/demo/demo_000000.h5 and so on. To look at them:
  build/release/sluice info out/demo/demo_000000.h5
  python3 scripts/plot.py out/demo         a picture of the detector (needs python3-h5py, python3-matplotlib)
Another run:  build/release/sluice run data/configs/vandehulst.yaml --out out/v
TXT
