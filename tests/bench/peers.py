#!/usr/bin/env python3
"""peers.py SLUICE SLUICE-BENCH SOURCE - tests the scripts of bench/peers.

Every script must print its help, and end with exit code 77 and one sentence if something that it needs is missing.
numpy_list.py runs with a small list. The other programs are replaced by small ones that give the right answers: the
scripts then must print ratios, and must print none if an answer is wrong. Exit code: 0 if all is right, 77 (skipped)
without numpy.
"""
import array
import csv
import ctypes
import importlib.util
import math
import os
import stat
import subprocess
import sys
import tempfile
import types
import zlib

SLUICE, BENCH, SOURCE = sys.argv[1:4]
PEERS = os.path.join(SOURCE, "bench", "peers")
SCRIPTS = ("mcx.py", "nvcomp.py", "mcpltool.py", "mcml.py", "numpy_list.py", "arrays_to_mcpl.py",
           "cuda_compute.py", "read_mcpl.py")
sys.dont_write_bytecode = True
WORK = tempfile.TemporaryDirectory()
ENVIRONMENT = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", TMPDIR=WORK.name)


def path(name):
    return os.path.join(WORK.name, name)


def write(name, text, executable=False):
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    if executable:
        os.chmod(path(name), stat.S_IRWXU)
    return path(name)


def run(script, *words, code=0, python=(sys.executable,), says="", **environment):
    """Runs a script, which must end with the exit code and say the text; returns all it printed."""
    program = python if script.endswith(".py") else ()
    done = subprocess.run([*program, os.path.join(PEERS, script), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", env={**ENVIRONMENT, **environment}, check=False)
    assert done.returncode == code, (script, words, done.returncode, done.stdout)
    assert says in done.stdout, (script, words, says, done.stdout)
    assert code == 0 or "times (" not in done.stdout, (script, words, done.stdout)
    return done.stdout


def rows_of(name):
    """The rows of a CSV file, whose first lines must name its origin."""
    with open(path(name), encoding="utf-8", newline="") as f:
        lines = f.read().splitlines()
    for word in ("device", "host", "sluice", "peer", "command", "date"):
        assert any(line.startswith(f"# {word}: ") for line in lines), (name, word)
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def check_ratios(name, expected, timed=True):
    """The CSV file has that many rows with a ratio, each between its least and its largest, or not a number."""
    rows = [row for row in rows_of(name) if row["sluice_times"]]
    assert len(rows) == expected, (name, rows)
    for row in rows:
        ratios = [float(row["sluice_times" + end]) for end in ("_least", "", "_largest")]
        assert 0 < ratios[0] <= ratios[1] <= ratios[2] if timed else all(map(math.isnan, ratios)), row


# --- help, and what is missing --------------------------------------------------------------------

def test_help_and_missing():
    ours = ("--sluice", SLUICE)
    for script in SCRIPTS:
        run(script, "--help", says="--repeat N")
        run(script, "--repeat", "0", code=2, says="'0' is not a whole number of at least 1")
        run(script, "--sluice", path("nothing"), code=77, says="not run: the program sluice is missing")
    bare = (sys.executable, "-S")  # finds no installed package
    for script, package in (("mcx.py", "numpy"), ("numpy_list.py", "numpy"), ("mcpltool.py", "numpy"),
                            ("arrays_to_mcpl.py", "numpy"), ("cuda_compute.py", "torch"), ("read_mcpl.py", "numpy"),
                            ("nvcomp.py", "nvidia-nvcomp-cu13")):
        run(script, *ours, code=77, python=bare, says=f"not run: the Python package {package}")
    run("mcml.py", *ours, code=77, says="not run: --program PATH is missing")
    run("mcml.py", *ours, "--program", path("nothing"), code=77, says="not run: the program MCML is missing")
    run("cub.sh", "--help", says="--repeat N")
    run("cub.sh", code=2, says="no DIR is given")
    run("cub.sh", "--repeat", "x", "toolkit", code=2, says="--repeat 'x'")
    run("cub.sh", WORK.name, code=77, says="has no cub/version.cuh")
    run("cub.sh", "toolkit", code=77, says="not run: the program cmake is missing", PATH=folder_of_tools())


def folder_of_tools():
    """A folder with the programs that cub.sh itself calls, and no cmake."""
    os.makedirs(path("tools"), exist_ok=True)
    for tool in ("bash", "dirname", "realpath", "cat"):
        target = os.path.join(path("tools"), tool)
        if not os.path.exists(target):
            os.symlink(subprocess.check_output(["which", tool], encoding="utf-8").strip(), target)
    return path("tools")


# --- lists ----------------------------------------------------------------------------------------

def test_numpy_list():
    words = ("--particles", "20000", "--repeat", "2", "--csv", path("numpy.csv"))
    for more in ((), ("--gzip",)):
        run("numpy_list.py", "--sluice", SLUICE, *words, *more, says="sluice")
        check_ratios("numpy.csv", 2)
    damaged = write("damaged", f"""#!/bin/bash
        {SLUICE} "$@" || exit
        for file in {WORK.name}/*/by_sluice/sorted_000000.mcpl; do
            at=$(($(stat -c %s "$file" 2>/dev/null || echo 30) - 30))
            [ ! -e "$file" ] || printf x | dd of="$file" bs=1 conv=notrunc seek=$at 2>/dev/null
        done
        """, executable=True)
    run("numpy_list.py", "--sluice", damaged, *words, code=1, says="filter and sort: the")


WRITER = """import os, sys
import numpy
def write_mcpl(path, columns, force):
    sys.modules["__main__"].by_numpy(numpy, columns, path)
    with open(path, "r+b") as f:
        f.seek(-%(damage)d, os.SEEK_END)
        f.write(b"x" if %(damage)d else b"")
"""


def test_arrays_to_mcpl():
    """The package is replaced by a module that writes with numpy; with damage, another PDG code."""
    words = ("--sluice", SLUICE, "--particles", "2000", "--repeat", "2", "--csv", path("arrays.csv"))
    os.makedirs(path("writer"), exist_ok=True)
    write("writer/sluice.py", WRITER % {"damage": 0})
    run("arrays_to_mcpl.py", *words, says="2000 particles", PYTHONPATH=path("writer"))
    check_ratios("arrays.csv", 2)
    write("writer/sluice.py", WRITER % {"damage": 4})
    run("arrays_to_mcpl.py", *words, code=1, says="write arrays: the pdg differs", PYTHONPATH=path("writer"))
    write("writer/sluice.py", "raise ImportError('none')")
    run("arrays_to_mcpl.py", *words, code=77, says="not run: the Python package sluice-particles",
        PYTHONPATH=path("writer"))


MCPLTOOL = """#!/bin/bash
set -e
case $1 in
--version) echo "stand-in 1.0" ;;
--merge) %(sluice)s convert --quiet "$3" "$4" --to "$2" %(damage)s ;;
--extract)
    echo '{run: {name: x, batch: 1000000}, output: {format: mcpl.gz}, key: [],' >$4.yaml
    echo 'model: {list: {files: ["'$3'"]}}, keep: "pdg == '${2#-p}'"}' >>$4.yaml
    %(sluice)s run $4.yaml --device cpu --quiet --force --out $4.run
    mv $4.run/x_000000.mcpl.gz $4.gz ;;
esac
"""


def test_mcpltool():
    words = ("--sluice", SLUICE, "--particles", "3000", "--repeat", "2", "--csv", path("tool.csv"))
    tool = write("mcpltool", MCPLTOOL % {"sluice": SLUICE, "damage": ""}, executable=True)
    run("mcpltool.py", *words, "--mcpltool", tool, says="merge gzip")
    check_ratios("tool.csv", 6)
    assert "stand-in 1.0" in open(path("tool.csv"), encoding="utf-8").read()
    tool = write("mcpltool", MCPLTOOL % {"sluice": SLUICE, "damage": "&& printf x >>$2"}, executable=True)
    run("mcpltool.py", *words, "--mcpltool", tool, code=1,
        says="merge: the files of sluice and mcpltool are not the same")
    run("mcpltool.py", *words, "--mcpltool", path("nothing"), code=77,
        says="not run: mcpltool of the Python package mcpl")


# --- slabs ----------------------------------------------------------------------------------------

MCML = """#!%(python)s
import random, sys
lines = open(sys.argv[1]).read().split("\\n")
print("Version 1.2.2, 2000")
for k in range(int(lines[1])):
    out, photons, cell, grid, layers, above, layer, below = lines[2 + 8 * k:10 + 8 * k]
    assert grid == "1 1 1" and layers == above == below == "1", lines
    n, mu_a, mu_s, g, depth = map(float, layer.split())
    assert photons == "1" or (n, mu_a, mu_s, g, depth) == (1, 10, 90, 0.75, 0.02), layer
    r, t = random.gauss(0.0973946, 1e-3), random.gauss(0.6609577 + %(wrong)s, 1e-3)
    with open(out.split()[0], "w") as f:
        f.write("RAT\\n0  \\t#Specular reflectance [-]\\n%%.6G \\t#Diffuse reflectance [-]\\n"
                "%%.6G \\t#Absorbed fraction [-]\\n%%.6G \\t#Transmittance [-]\\n" %% (r, 1 - r - t, t))
"""


def test_mcml():
    words = ("--sluice", SLUICE, "--config", "vandehulst", "--particles", "20000", "--runs", "20", "--repeat", "2",
             "--csv", path("mcml.csv"))
    program = write("mcml", MCML % {"python": sys.executable, "wrong": 0}, executable=True)
    run("mcml.py", *words, "--program", program, says="MCML against sluice, implicit")
    check_ratios("mcml.csv", 6)
    assert "MCML 1.2.2" in open(path("mcml.csv"), encoding="utf-8").read()
    program = write("mcml", MCML % {"python": sys.executable, "wrong": 0.01}, executable=True)
    run("mcml.py", *words, "--program", program, code=1, says="MCML: the fraction transmitted is")
    run("mcml.py", "--sluice", SLUICE, "--program", program, "--config", "vandehulst_diffuse", code=77,
        says="is not a slab of one layer with normal incidence")


PMCX = """
import numpy as np
R, T, A = 0.0973946, 0.6609577, 0.2416477 + %s
def gpuinfo():
    return [{"name": "stand-in"}]
def run(cfg):
    n, layers = cfg["nphoton"], cfg["vol"].shape[2]
    assert cfg["bc"][:6] == "cc_cc_" and cfg["vol"].shape[:2] == (1, 1) and abs(cfg["unitinmm"] * layers - 0.2) < 1e-9
    mu_a, mu_s, g, index = cfg["prop"][1]
    assert (mu_a, mu_s, g, index) == (1, 9, 0.75, 1) and cfg["srcpos"][2] == 0 and cfg["issrcfrom0"] == 1
    result = {"stat": {"runtime": 200, "nphoton": n, "energytot": float(n), "energyabs": A * n}}
    if cfg["issavedet"]:
        assert cfg["savedetflag"] == "px" and cfg["bc"][6:] == "001001" and cfg["maxdetphoton"] > n
        z = np.where(np.arange(n) < round(n * R / (R + T)), 0.0, layers)
        path = np.full(n, -np.log(1 - A) / (mu_a * cfg["unitinmm"]))
        result["detp"] = np.array([path, 0 * z, 0 * z, z], dtype="f4")
    return result
"""


def test_mcx():
    words = ("--sluice", SLUICE, "--device", "emulated", "--config", "vandehulst", "--photons", "3000",
             "--check-photons", "1000000", "--repeat", "2", "--csv", path("mcx.csv"))
    os.makedirs(path("package"))
    write("package/pmcx.py", PMCX % 0)
    run("mcx.py", *words, says="MCX, fluence; against sluice, analogue", PYTHONPATH=path("package"))
    check_ratios("mcx.csv", 4)
    write("package/pmcx.py", PMCX % 0.01)
    run("mcx.py", *words, code=1, says="MCX: the fraction", PYTHONPATH=path("package"))
    write("package/pmcx.py", "def gpuinfo():\n    raise RuntimeError('no driver')\n")
    run("mcx.py", *words, code=77, says="not run: there is no CUDA GPU that pmcx can use", PYTHONPATH=path("package"))


# --- DEFLATE --------------------------------------------------------------------------------------

class Memory:
    """Stands in for a GPU: addresses are those of buffers of this process."""
    name, stream = "stand-in", ctypes.c_void_p(1)

    def __init__(self):
        self.kept = []

    def allocate(self, size):
        return self.upload(bytearray(max(1, size)))

    def upload(self, data):
        self.kept.append((ctypes.c_char * len(data)).from_buffer(bytearray(data)))
        return ctypes.addressof(self.kept[-1])

    def download(self, address, size):
        return bytearray(ctypes.string_at(address, size))

    def free_all(self):
        self.kept = []

    def seconds(self, work):
        work()
        return 1e-3


class Function:
    """A function of a library, whose argument types can be set."""

    def __init__(self, call):
        self.call = call

    def __call__(self, *arguments):
        self.call(*arguments)
        return 0


def nvcomp_with(damage):
    """Stands in for the library nvCOMP; damage: the first chunk gets other bytes."""
    def store(to, value, kind):
        ctypes.cast(to, ctypes.POINTER(kind))[0] = value

    def compress(inputs, in_sizes, most, n, _temp, _temp_bytes, outputs, out_sizes, options, statuses, _stream):
        words = [array.array("Q", ctypes.string_at(address, 8 * n)) for address in (inputs, in_sizes, outputs)]
        sizes = []
        for k, (at, size, to) in enumerate(zip(*words)):
            assert 0 < size <= most == 65536 and options.algorithm <= 5
            engine = zlib.compressobj(1, zlib.DEFLATED, -15)
            data = ctypes.string_at(at, size)
            stream = engine.compress(bytes(size) if damage and k == 0 else data) + engine.flush()
            ctypes.memmove(to, stream, len(stream))
            sizes.append(len(stream))
        ctypes.memmove(out_sizes, array.array("Q", sizes).tobytes(), 8 * n)
        ctypes.memset(statuses, 0, 4 * n)

    library = types.SimpleNamespace(
        nvcompGetProperties=Function(lambda to: store(to, 6000, ctypes.c_uint32)),
        nvcompBatchedDeflateCompressGetMaxOutputChunkSize=Function(
            lambda _n, _o, to: store(to, 70000, ctypes.c_size_t)),
        nvcompBatchedDeflateCompressGetTempSize=Function(lambda _n, _c, _o, to, *_: store(to, 8, ctypes.c_size_t)),
        nvcompBatchedDeflateCompressAsync=Function(compress))
    return types.SimpleNamespace(load_library=lambda: library)


def call_nvcomp(damage):
    """Runs nvcomp.py in this process with both stand-ins; its exit code."""
    sys.path.insert(0, PEERS)
    import nvcomp
    nvcomp.cuda.Cuda = Memory
    nvcomp.common.require = lambda module, package: nvcomp_with(damage)
    sys.argv = ["nvcomp.py", "--sluice", SLUICE, "--bench", BENCH, "--device", "emulated", "--n", "40000", "--dir",
                WORK.name, "--algorithms", "0,2", "--repeat", "2", "--csv", path("nvcomp.csv")]
    try:
        nvcomp.main()
    except SystemExit as e:
        return e.code
    raise AssertionError("nvcomp.py did not exit")


def test_nvcomp():
    run("nvcomp.py", "--algorithms", "0,6", code=2, says="'0,6' is not a list of numbers from 0 to 5")
    assert call_nvcomp(damage=True) == 1 and not os.path.exists(path("nvcomp.csv"))
    assert call_nvcomp(damage=False) == 0
    check_ratios("nvcomp.csv", 4, timed=False)  # sluice-bench does not time the emulated device


# --- CUB ------------------------------------------------------------------------------------------

def test_cub_ratios():
    head = ("primitive,backend,type,n,bits,entropy,survivors_percent,columns,column_bytes,items_off,items_off_second,"
            "ms_median,times_cub\n")
    tables = []
    for k, (version, ratio) in enumerate((("3.0.1", 1.2), ("3.6.0", 1.1), ("3.0.1", 1.4), ("3.0.1", 1.25))):
        tables.append(write(f"cub{k}.csv", f"# CUDA: driver serves 13.0, CCCL {version}\n# device: stand-in\n{head}"
                            f"scan,CUB,u32,1024,,,,,,0,0,2,\nscan,shared,u32,1024,,,,,,0,0,1,{ratio}\n"))
    shown = run("cub_ratios.py", "--csv", path("cub.csv"), *tables)
    assert "1.25 times (1.2 to 1.4, 3 rounds)" in shown and "1.1 times (1.1 to 1.1, 1 rounds)" in shown, shown
    with open(path("cub.csv"), encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    assert [(r["job"], r["cccl"], r["sluice_times"]) for r in rows] == [
        ("scan u32, n 1024", "3.0.1", "1.25"), ("scan u32, n 1024", "3.6.0", "1.1")], rows
    run("cub_ratios.py", write("none.csv", f"# device: x\n{head}"), code=1, says="names no CCCL version")


def main():
    test_help_and_missing()
    test_cub_ratios()
    test_mcml()
    test_nvcomp()
    if importlib.util.find_spec("numpy") is None:
        print(f"SKIP: {sys.executable} has no numpy, which the scripts for lists and for MCX need")
        sys.exit(77)
    test_numpy_list()
    test_arrays_to_mcpl()
    test_mcpltool()
    test_mcx()
    print("the scripts of bench/peers print what they should, and nothing if an answer is wrong")


main()
