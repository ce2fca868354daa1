#!/usr/bin/env python3
"""extending.py - applies the recipes of docs/extending.md to a copy of the sources and runs them.

    extending.py SOURCE SCRATCH CMAKE [OPTION OF CMAKE...]

SOURCE is the root of the repository. SCRATCH is a folder that is made new for the copy and its build
(host only, warnings are errors; -Og, because headers of gcc cause warnings without optimisation).
Each recipe is the ```diff block of one section. They are applied in the order of the document. Then
the program and the new test are built, and the test runs:

    model, fate, column   the configuration of the document on the CPU and on the emulated device,
                          staged and fused: equal manifests, and each particle has a fate
    backend               the same manifests with it, also in rounds; sluice compare has it as a case
    command, format       the command on these runs; a run in the format, which sluice verify accepts
    test                  its program

Needs git (skipped without it) and the standard library only.
"""
import json
import os
import re
import shutil
import subprocess
import sys

RECIPES = ["A model", "A backend", "A command", "A format", "A fate", "A column", "A test"]
COPIED = ["CMakeLists.txt", "cmake", "primitives", "stages", "pipeline", "bench", "tests"]
PARTICLES = 20000
# In rounds, compaction moves columns as well; a model with one step has no rounds.
ROUNDS = """run: {name: rounds, seed: 1, particles: 20000, device: cpu}
model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}
transport: {schedule: rounds, steps_per_launch: 1, compact: every}
keep: reflected
"""


def fail(text):
    sys.exit(f"extending.py: {text}")


def call(folder, *words, **settings):
    """Runs a command in a folder; returns its output. Ends the test if it fails."""
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, CUDA_VISIBLE_DEVICES="", **settings), errors="replace")
    if done.returncode != 0:
        fail(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def recipes_of(document):
    """The diffs by heading, in the order of the document, and its configuration."""
    with open(document, encoding="utf-8") as f:
        text = f.read()
    diffs = {}
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        blocks = re.findall(r"^```diff\n(.*?)^```$", section, re.M | re.S)
        if len(blocks) != 1:
            fail(f"{document}: section '{section.splitlines()[0]}' has {len(blocks)} diffs; one is needed")
        diffs[section.splitlines()[0]] = blocks[0]
    config = re.search(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    if list(diffs) != RECIPES or not config:
        fail(f"{document}: has the recipes {list(diffs)}, expected {RECIPES} and one configuration (yaml)")
    return diffs, config.group(1)


def copy_sources(source, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    tree = os.path.join(scratch, "source")
    os.makedirs(tree)
    for name in COPIED:
        path = os.path.join(source, name)
        copy = shutil.copytree if os.path.isdir(path) else shutil.copy2
        copy(path, os.path.join(tree, name))
    return tree


def apply_diffs(tree, diffs):
    """Applies each diff. In a git repository `git apply` would skip a folder that git ignores."""
    for heading, diff in diffs.items():
        recipe = os.path.join(os.path.dirname(tree), "recipe.diff")
        with open(recipe, "w", encoding="utf-8") as f:
            f.write(diff)
        print(f"{heading}: git apply", flush=True)
        call(tree, "git", "apply", recipe, GIT_CEILING_DIRECTORIES=os.path.dirname(tree))
        for file in re.findall(r"^\+\+\+ b/(\S+)", diff, re.M):
            if not os.path.exists(os.path.join(tree, file)):
                fail(f"{heading}: git apply made no {file}")


def build(tree, cmake, options):
    folder = os.path.join(os.path.dirname(tree), "build")
    settings = {"CCACHE_BASEDIR": os.path.dirname(tree), "CCACHE_NOHASHDIR": "1"}
    call(tree, cmake, "-S", tree, "-B", folder, *options, "-DSLUICE_CUDA=OFF", "-DSLUICE_WERROR=ON",
         "-DSLUICE_TEST_FILES=^stages/models/absorber",
         "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_FLAGS_DEBUG=-Og", "-DCMAKE_CXX_FLAGS_DEBUG=-Og", **settings)
    call(tree, cmake, "--build", folder, "--parallel", "2", "--target", "sluice_program",
         "sluice_tests", **settings)
    return folder


class Runs:
    """Runs the configurations, each into a separate folder next to it."""

    def __init__(self, sluice, folder, config):
        self.sluice, self.folder = sluice, folder
        for name, text in (("absorber.yaml", config), ("rounds.yaml", ROUNDS)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)

    def sluice_prints(self, *words):
        return call(self.folder, self.sluice, *words)

    def manifest(self, out, *words, config="absorber.yaml"):
        """Runs a configuration; returns the manifest of the run, after a check of its fates."""
        self.sluice_prints("run", config, "--quiet", "--out", out, "--set",
                           f"run.particles={PARTICLES}", *words)
        with open(os.path.join(self.folder, out, "manifest.jsonl"), encoding="utf-8") as f:
            text = f.read()
        lines = [json.loads(line) for line in text.splitlines()]
        total = sum(sum(line["fates"].values()) for line in lines)
        if total != PARTICLES:
            fail(f"run {out}: the fates of {total} particles are known, {PARTICLES} were generated")
        return text

    def expect_equal(self, one, other, what):
        if one != other:
            fail(f"{what}: the manifests differ\n{one}\n{other}")


def check_model(runs):
    cpu = runs.manifest("cpu", "--device", "cpu")
    for mode in ("staged", "fused"):
        emulated = runs.manifest(mode, "--device", "emulated", "--mode", mode)
        runs.expect_equal(cpu, emulated, f"CPU and emulated device, {mode} mode")
    decayed = runs.manifest("decay", "--device", "cpu", "--set", "model.absorber.lifetime=0.01 ns", "--set",
                            "keep=decayed", "--set", "check={}")
    if not json.loads(decayed.splitlines()[0])["fates"].get("decayed"):
        fail("fate: no particle has the fate decayed with a lifetime of 0.01 ns")
    if "path" not in json.loads(cpu.splitlines()[0])["digests"]:
        fail("column: the manifest has no digest of the column path")
    return cpu


def check_others(runs, cpu):
    branch = runs.manifest("branch", "--device", "cpu", "--compact", "cpu_branch")
    runs.expect_equal(cpu, branch, "compact backends cpu and cpu_branch")
    rounds = [runs.manifest("rounds_" + name, "--compact", name, config="rounds.yaml")
              for name in ("cpu", "cpu_branch")]
    runs.expect_equal(*rounds, "compact backends cpu and cpu_branch, in rounds")
    cases = runs.sluice_prints("compare", "absorber.yaml", "--device", "cpu", "--csv", "--set",
                               f"run.particles={PARTICLES}")
    if "cpu_branch" not in cases:
        fail(f"backend: sluice compare has no case of it:\n{cases}")
    runs.manifest("plain", "--device", "cpu", "--set", "output.format=binary")
    runs.sluice_prints("verify", "plain", "--quiet")
    digests = [runs.sluice_prints("digest", out) for out in ("cpu", "fused", "plain")]
    if len(set(digests)) != 1 or "path" not in digests[0]:
        fail(f"command: sluice digest prints different digests of equal runs, or none of path:\n{digests}")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    if not shutil.which("git"):
        print("skipped: git, which applies the diffs, is not installed")
        sys.exit(77)
    source, scratch = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    diffs, config = recipes_of(os.path.join(source, "docs", "extending.md"))
    tree = copy_sources(source, scratch)
    apply_diffs(tree, diffs)
    folder = build(tree, sys.argv[3], sys.argv[4:])
    runs = Runs(os.path.join(folder, "sluice"), scratch, config)
    check_others(runs, check_model(runs))
    call(scratch, os.path.join(folder, "tests", "sluice_tests"), "stages/models/absorber")
    shutil.rmtree(scratch)
    print(f"{len(diffs)} recipes applied, built and run")


if __name__ == "__main__":
    main()
