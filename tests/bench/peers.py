#!/usr/bin/env python3
"""peers.py SLUICE SOURCE - tests the scripts of bench/peers.

Every script must print its help, and end with exit code 77 and one sentence if something that it needs is missing.
numpy_list.py runs with a small list; MCML, mcpltool and the package particles are replaced by small ones that give the
right answers: the scripts then must print ratios, and must print none if an answer is wrong. Scripts for GPUs are not
tried further.
Exit code: 0 if all is right, 77 (skipped) without numpy.
"""
import csv
import importlib.util
import os
import stat
import subprocess
import sys
import tempfile

SLUICE, SOURCE = sys.argv[1:3]
PEERS = os.path.join(SOURCE, "bench", "peers")
SCRIPTS = ("mcx.py", "nvcomp.py", "mcpltool.py", "mcml.py", "numpy_list.py", "cuda_compute.py", "smc.py")
sys.dont_write_bytecode = True
WORK = tempfile.TemporaryDirectory()
ENVIRONMENT = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", TMPDIR=WORK.name)


def path(name):
    return os.path.join(WORK.name, name)


def write(name, text):
    """Writes a file, which may be a program."""
    with open(path(name), "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path(name), stat.S_IRWXU)
    return path(name)


def run(script, *words, code=0, python=(sys.executable,), says="", **environment):
    """Runs a script, which must end with the exit code and say the text; returns all it printed."""
    done = subprocess.run([*python, os.path.join(PEERS, script), *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", env={**ENVIRONMENT, **environment}, check=False)
    assert done.returncode == code, (script, words, done.returncode, done.stdout)
    assert says in done.stdout, (script, words, says, done.stdout)
    assert code == 0 or "times (" not in done.stdout, (script, words, done.stdout)
    return done.stdout


def check_ratios(name, expected, peer=""):
    """The CSV file names its origin, and has that many rows with a ratio, each between its least and its largest."""
    with open(path(name), encoding="utf-8", newline="") as f:
        lines = f.read().splitlines()
    about = [line for line in lines if line.startswith("# ")]
    rows = [row for row in csv.DictReader(lines[len(about):]) if row["sluice_times"]]
    for word in ("# device: ", "# host: ", "# sluice: ", "# peer: ", "# command: ", "# date: ", peer):
        assert any(word in line for line in about), (name, word)
    assert len(rows) == expected, (name, rows)
    ratios = [[float(row["sluice_times" + end]) for end in ("_least", "", "_largest")] for row in rows]
    assert all(0 < least <= middle <= largest for least, middle, largest in ratios), rows


# --- help, and what is missing --------------------------------------------------------------------

def test_help_and_missing():
    for script in SCRIPTS:
        run(script, "--help", says="--repeat N")
    run("mcpltool.py", "--repeat", "0", code=2, says="'0' is not a whole number of at least 1")
    run("mcpltool.py", "--sluice", path("nothing"), code=77, says="not run: the program sluice is missing")
    for script, package in (("mcx.py", "numpy"), ("numpy_list.py", "numpy"), ("mcpltool.py", "numpy"),
                            ("cuda_compute.py", "torch"), ("nvcomp.py", "nvidia-nvcomp-cu13")):  # -S: no installed package is found
        run(script, "--sluice", SLUICE, code=77, python=(sys.executable, "-S"), says=f"not run: the Python package {package}")
    run("mcml.py", "--sluice", SLUICE, code=77, says="not run: --program PATH is missing")
    run("mcml.py", "--sluice", SLUICE, "--program", path("nothing"), code=77, says="not run: the program MCML is missing")


# --- lists ----------------------------------------------------------------------------------------

def test_numpy_list():
    words = ("--particles", "20000", "--repeat", "2", "--csv", path("numpy.csv"))
    for more in ((), ("--gzip",)):
        run("numpy_list.py", "--sluice", SLUICE, *words, *more, says="sluice")
        check_ratios("numpy.csv", 2)
    damaged = write("damaged", f"""#!/bin/bash
        {SLUICE} "$@" || exit
        for file in $(ls {WORK.name}/*/by_sluice/sorted_000000.mcpl 2>/dev/null); do
            printf x | dd of="$file" bs=1 conv=notrunc seek=$(($(stat -c %s "$file") - 30)) 2>/dev/null
        done""")
    run("numpy_list.py", "--sluice", damaged, *words, code=1, says="filter and sort: the")


MCPLTOOL = """#!/bin/bash
set -e
case $1 in
--version) echo "stand-in 1.0" ;;
--merge) %s convert --quiet "$3" "$4" --to "$2" %s ;;
--extract)
    echo '{run: {name: x, batch: 1000000}, output: {format: mcpl.gz}, key: [],' >$4.yaml
    echo 'model: {list: {files: ["'$3'"]}}, keep: "pdg == '${2#-p}'"}' >>$4.yaml
    %s run $4.yaml --device cpu --quiet --force --out $4.run
    mv $4.run/x_000000.mcpl.gz $4.gz ;;
esac
"""


def test_mcpltool():
    words = ("--sluice", SLUICE, "--particles", "3000", "--repeat", "2", "--csv", path("tool.csv"))
    run("mcpltool.py", *words, "--mcpltool", write("mcpltool", MCPLTOOL % (SLUICE, "", SLUICE)), says="merge gzip")
    check_ratios("tool.csv", 6, "stand-in 1.0")
    tool = write("mcpltool", MCPLTOOL % (SLUICE, "&& printf x >>$2", SLUICE))
    run("mcpltool.py", *words, "--mcpltool", tool, code=1, says="the files of sluice and mcpltool are not the same")
    run("mcpltool.py", *words, "--mcpltool", path("nothing"), code=77, says="run: mcpltool of the Python package mcpl")


# --- slabs ----------------------------------------------------------------------------------------

MCML = """#!%s
import random, sys
lines = open(sys.argv[1]).read().split("\\n")
print("Version 1.2.2, 2000")
for k in range(int(lines[1])):
    out, photons, cell, grid, layers, above, layer, below = lines[2 + 8 * k:10 + 8 * k]
    assert grid == "1 1 1" and layers == above == below == "1", lines
    n, mu_a, mu_s, g, depth = map(float, layer.split())
    assert photons == "1" or (n, mu_a, mu_s, g, depth) == (1, 10, 90, 0.75, 0.02), layer
    r, t = random.gauss(0.0973946, 1e-3), random.gauss(0.6609577 + %s, 1e-3)
    with open(out.split()[0], "w") as f:
        f.write("RAT\\n0  \\t#Specular reflectance [-]\\n%%.6G \\t#Diffuse reflectance [-]\\n"
                "%%.6G \\t#Absorbed fraction [-]\\n%%.6G \\t#Transmittance [-]\\n" %% (r, 1 - r - t, t))
"""


def test_mcml():
    words = ("--sluice", SLUICE, "--config", "vandehulst", "--particles", "20000", "--runs", "20", "--repeat", "2",
             "--csv", path("mcml.csv"))
    run("mcml.py", *words, "--program", write("mcml", MCML % (sys.executable, 0)), says="MCML against sluice, implicit")
    check_ratios("mcml.csv", 6, "MCML 1.2.2")
    program = write("mcml", MCML % (sys.executable, 0.01))
    run("mcml.py", *words, "--program", program, code=1, says="MCML: the fraction transmitted is")
    run("mcml.py", "--sluice", SLUICE, "--program", program, "--config", "vandehulst_diffuse", code=77, says="is not a slab")


# --- filters --------------------------------------------------------------------------------------

PARTICLES = """import sys
sys.modules["particles.state_space_models"] = distributions = sys.modules["particles"]
SMC, StateSpaceModel, Bootstrap, Normal, run, logLt = (lambda **job: distributions), object, dict, dict, dict, -641.6 + %s
"""


def test_smc():
    words = ("--sluice", SLUICE, "--peers", "particles", "--sizes", "2^12", "--repeat", "2", "--csv", path("smc.csv"))
    run("smc.py", *words, code=77, python=(sys.executable, "-S"), says="the Python package particles is missing")
    for wrong, code, says in ((0, 0, "1 core"), (2, 1, "WRONG by more than 1.2")):
        write("particles.py", PARTICLES % wrong)
        run("smc.py", *words, code=code, says=says, PYTHONPATH=WORK.name)
        check_ratios("smc.csv", 1 - code, "peer: particles")


test_help_and_missing()
test_mcml()
test_smc()
if importlib.util.find_spec("numpy") is None:
    print(f"SKIP: {sys.executable} has no numpy, which the scripts for lists need")
    sys.exit(77)
test_numpy_list()
test_mcpltool()
print("the scripts of bench/peers print what they should, and nothing if an answer is wrong")
