#!/usr/bin/env bash
# demo.sh - installs missing packages, builds the program, and runs and verifies the demo: the soft shadow of a disk
# on a pixel detector.
#
#	scripts/demo.sh [--cuda] [OPTION...]
#
# --cuda builds the CUDA kernels even if there is no GPU. Other options are passed to sluice run, for example
# --threads 2. With a GPU and the CUDA toolkit the kernels are built for that GPU; otherwise the demo builds no CUDA
# code and runs on the CPU. Exit code: 0 if the run is complete and verified.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Prints the compute capability of the first GPU without its dot, "90"; nothing if there is no GPU.
gpu_architecture() {
	nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -cd '0-9'
}

cuda=OFF
if [ "${1:-}" = --cuda ]; then
	cuda=ON
	shift
fi
architecture=$(gpu_architecture || true)
options=(-DSLUICE_TESTS=OFF)
if command -v nvcc >/dev/null && [ -n "$architecture" ]; then
	options+=(-DSLUICE_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$architecture-real")
	echo "building for the GPU of this machine (compute capability $architecture); this takes about 3 minutes on two cores"
elif [ "$cuda" = ON ]; then
	options+=(-DSLUICE_CUDA=ON)
	echo "building with CUDA kernels for all supported GPUs; this takes about 15 minutes on two cores"
else
	options+=(-DSLUICE_CUDA=OFF)
	echo "no GPU found: building for the CPU only (--cuda builds the CUDA kernels too); this takes about 2 minutes on two cores"
fi
install_missing $BUILD_PACKAGES
build release "${options[@]}" -- --target sluice_program
sluice=build/release/sluice
echo
$sluice plan data/configs/demo.yaml "$@" --out out/demo
echo
$sluice run data/configs/demo.yaml "$@" --out out/demo --force
echo
$sluice verify out/demo
cat <<'TXT'

The survivors are openPMD files (HDF5): out/demo/demo_000000.h5 and so on. To view them:
  build/release/sluice info out/demo
  python3 scripts/plot.py out/demo         a picture of the detector (needs python3-h5py, python3-matplotlib)
Another run:  build/release/sluice run data/configs/vandehulst.yaml --out out/v
TXT
