#!/usr/bin/env python3
"""packaging.py - checks the recipes of packaging/ against the sources and the built program.

    packaging.py SLUICE SOURCE

Versions are those of CMakeLists.txt, the recipes name each library that the build needs, scripts and
recipes are well-formed, and on Debian 12 the containers install each library that SLUICE is linked with.
pip compiles kernels only for the GPU of the machine, and no build compiles them with an nvcc that is too old.
Needs the standard library, and PyYAML to read the recipe of conda.
"""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile

# The libraries of the build, by the names of Debian's packages, in conda-forge and in Spack.
LIBRARIES = {"zlib1g-dev": ("zlib", "zlib-api"), "libpng-dev": ("libpng", "libpng"),
             "libdeflate-dev": ("libdeflate", "libdeflate"), "libisal-dev": ("isa-l", "isa-l"),
             "libhdf5-dev": ("hdf5", "hdf5"), "libyaml-dev": ("yaml", "libyaml")}
BASE = {"libc6", "libgcc-s1", "libstdc++6"}  # in every Debian


def read(source, *path):
    with open(os.path.join(source, *path), encoding="utf-8") as f:
        return f.read()


def build_libraries(source):
    """The packages with headers that scripts/setup.sh installs; each must be in the table above."""
    packages = re.search(r'^BUILD_PACKAGES="(.*)"$', read(source, "scripts", "setup.sh"), re.M).group(1).split()
    libraries = [p for p in packages if p.endswith("-dev")]
    assert sorted(libraries) == sorted(LIBRARIES), f"{libraries} are not the libraries that packaging.py knows"
    return libraries


def check_spack(source, version, libraries):
    folder = ("packaging", "spack", "spack_repo", "sluice")
    text = read(source, *folder, "packages", "sluice", "package.py")
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    first = {name: [c.args[0].value for c in calls if c.func.id == name] for name in ("version", "depends_on")}
    assert first["version"] == [version], first["version"]
    depends = {re.match(r"[a-z0-9-]+", spec).group(0) for spec in first["depends_on"]}
    for library in libraries:
        assert LIBRARIES[library][1] in depends, f"the Spack package does not depend on {LIBRARIES[library][1]}"
    assert "namespace: sluice" in read(source, *folder, "repo.yaml")


def check_conda(source, version, libraries):
    recipe = yaml.safe_load(read(source, "packaging", "conda", "recipe.yaml"))
    assert recipe["context"]["version"] == version, recipe["context"]
    for library in libraries:
        assert LIBRARIES[library][0] in recipe["requirements"]["host"], f"the recipe does not need {LIBRARIES[library][0]}"
    path = os.path.join(source, "packaging", "conda", recipe["source"]["path"])
    assert os.path.samefile(path, source), path
    assert os.path.exists(os.path.join(path, recipe["about"]["license_file"]))


def output(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options).stdout


def packages_of(program):
    """The packages of Debian with the libraries that the program itself is linked with, which it knows below / or /usr."""
    paths = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", program, check=True)))
    needed = [paths[name].removeprefix("/usr") for name in re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", program))
              if name in paths]
    found = re.findall(r"(?m)^([^:\s]+)\S*: (?:/usr)?(/\S+)$", output("dpkg", "-S", *needed, *("/usr" + p for p in needed)))
    assert needed and {path for _, path in found} == set(needed), (needed, found)
    return {package for package, _ in found}


def check_containers(source, sluice):
    script = os.path.join(source, "packaging", "debian.sh")
    subprocess.run(["bash", "-n", script], check=True)
    for recipe in ("Dockerfile", "sluice.def"):
        text = read(source, "packaging", recipe)
        for step in ("build", "libraries"):
            assert f"debian.sh {step}" in text, f"{recipe} lacks the step {step}"
    if "VERSION_CODENAME=bookworm" not in read("/", "etc", "os-release"):
        print("the libraries of the containers are not checked: this is not Debian 12")
        return
    installed = set(re.search(r"^libraries\)\n\tinstall_packages (.*)$", read(script), re.M).group(1).split())
    missing = packages_of(sluice) - BASE - installed
    assert not missing, f"packaging/debian.sh does not install {missing}, which the program needs"


def check_missing(source):
    """CMake names all missing packages at once, and the line of README all packages, those of the tests included."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DSLUICE_CUDA=OFF"], text=True, capture_output=True,
                               env={**os.environ, "PKG_CONFIG_LIBDIR": folder}).stderr
    for package in ("libyaml-dev", "libdeflate-dev", "libisal-dev", "libcmocka-dev", "-DSLUICE_TESTS=OFF"):
        assert package in found, (package, found)
    line = re.search(r"apt-get install -y (.*\n.*)\npython3 -m venv", read(source, "README.md")).group(1).split()
    packages = re.search(r'^BUILD_PACKAGES="(.*)"$', read(source, "scripts", "setup.sh"), re.M).group(1).split()
    assert set(line) - {"\\"} == {*packages, "libcmocka-dev", "python3-dev", "python3-venv"}, line


def executable(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


def configured(source, smi, nvcc, *options):
    """What CMake prints and compiles with this nvidia-smi, and with this nvcc where one is installed."""
    with tempfile.TemporaryDirectory() as folder:
        executable(f"{folder}/nvidia-smi", smi)
        executable(f"{folder}/nvcc", nvcc)
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        for name in ("CUDACXX", "CUDAARCHS", "CUDAFLAGS"):
            environment.pop(name, None)
        done = subprocess.run(["cmake", "-S", source, "-B", f"{folder}/build", "-G", "Ninja", "-DSLUICE_TESTS=OFF", *options],
                              text=True, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout, read(folder, "build", "compile_commands.json")


def check_kernels(source):
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    pip, no_gpu, hopper = "-DSKBUILD=ON", "exit 9", "echo 9.0"
    text, commands = configured(source, no_gpu, "exit 1", pip)
    assert "no GPU found" in text and "sm_" not in commands, text
    if nvcc is None:
        print("builds with CUDA are not checked: there is no nvcc")
        return
    text, commands = configured(source, hopper, f'exec {nvcc} "$@"', pip)
    assert "device backends are built" in text and set(re.findall(r"sm_[0-9]+", commands)) == {"sm_90"}, text
    # CMake reads the version of nvcc from a program that it compiled with it.
    older = f"{nvcc} \"$@\" || exit 1\n[ ! -f a.out ] || sed -i 's/compiler_version.[0-9.]*/compiler_version[00000012.00000006.00000020/' a.out"
    text, commands = configured(source, no_gpu, older, pip, "-DSLUICE_CUDA=ON")
    assert "no GPU found" not in text and "no nvcc of CUDA 12.8 or newer found" in text and "sm_" not in commands, text


sluice, source = map(os.path.abspath, sys.argv[1:3])
version = re.search(r"project\(Sluice VERSION ([0-9.]+)", read(source, "CMakeLists.txt")).group(1)
libraries = build_libraries(source)
check_spack(source, version, libraries)
check_containers(source, sluice)
check_missing(source)
check_kernels(source)
try:
    import yaml
except ImportError:
    print("SKIP: the recipe of conda: python3 has no module yaml")
    sys.exit(77)
check_conda(source, version, libraries)
