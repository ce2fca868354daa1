#!/usr/bin/env python3
"""extending.py - applies the recipes of docs/extending.md to a copy of the sources and runs them.

    extending.py SOURCE SCRATCH CMAKE [OPTION OF CMAKE...]
    extending.py --apply SOURCE SCRATCH     only applies the recipes, to a copy of the sources

SOURCE is the root of the repository. SCRATCH is a folder that is made new for the copy and its build
(host only, warnings are errors; -Og, because headers of gcc cause warnings without optimisation).
Each recipe is the ```diff block of one section. They are applied in the order of the document. Then
the program and the new test are built, and the test runs:

    model, fate, column   the configuration of the document on the CPU and on the emulated device,
                          staged and fused: equal manifests, and each particle has a fate
    model of several steps, device backend: the same, with this scan
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

RECIPES = ["A model", "A backend", "A command", "A format", "A fate", "A column", "A test",
           "A model of several steps", "A device backend"]
COPIED = ["CMakeLists.txt", "cmake", "primitives", "stages", "pipeline", "bench", "tests"]
PARTICLES = "run.particles=20000"
# In rounds, compaction moves columns as well; a model with one step has no rounds.
ROUNDS = """run: {name: rounds, seed: 1, particles: 20000, device: cpu}
model: {slab: {mu_a: 1 /cm, mu_s: 9 /cm, thickness: 1 cm}}
transport: {schedule: rounds}
keep: reflected
"""


def expect(condition, text):
    if not condition:
        sys.exit(f"extending.py: {text}")


def call(folder, *words, **settings):
    """Runs a command in a folder; returns its output. Ends the test if it fails."""
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, CUDA_VISIBLE_DEVICES="", **settings), errors="replace")
    expect(done.returncode == 0, f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-6000:]}")
    return done.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def recipes_of(document):
    """The diffs by heading, in the order of the document, and its configurations."""
    with open(document, encoding="utf-8") as f:
        text = f.read()
    diffs = {section.splitlines()[0]: re.findall(r"^```diff\n(.*?)^```$", section, re.M | re.S)
             for section in re.split(r"^## ", text, flags=re.M)[1:]}
    configs = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    expect(list(diffs) == RECIPES and all(len(blocks) == 1 for blocks in diffs.values()) and len(configs) == 2,
           f"{document}: expected one diff in each of the sections {RECIPES}, and two configurations (yaml)")
    return {heading: diff for heading, (diff,) in diffs.items()}, configs


def copy_and_change(source, scratch, diffs):
    """Copies the sources and applies each diff. In a git repository `git apply` would skip a folder that git ignores."""
    tree = os.path.join(scratch, "source")
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(tree)
    call(source, "cp", "-r", *COPIED, tree)
    for heading, diff in diffs.items():
        write(os.path.join(scratch, "recipe.diff"), diff)
        print(f"{heading}: git apply", flush=True)
        call(tree, "git", "apply", "../recipe.diff", GIT_CEILING_DIRECTORIES=scratch)
        for file in re.findall(r"^\+\+\+ b/(\S+)", diff, re.M):
            expect(os.path.exists(os.path.join(tree, file)), f"{heading}: git apply made no {file}")
    return tree


def build(tree, scratch, cmake, options):
    folder = os.path.join(scratch, "build")
    settings = {"CCACHE_BASEDIR": scratch, "CCACHE_NOHASHDIR": "1"}
    call(tree, cmake, "-S", tree, "-B", folder, *options, "-DSLUICE_CUDA=OFF", "-DSLUICE_WERROR=ON",
         "-DSLUICE_TEST_FILES=^stages/models/absorber", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-Og",
         "-DCMAKE_CXX_FLAGS_DEBUG=-Og", **settings)
    call(tree, cmake, "--build", folder, "--parallel", "2", "--target", "sluice_program", "sluice_tests", **settings)
    return folder


def check_runs(sluice, folder, config, rod):
    def run(out, *words, config="absorber.yaml"):
        """Runs a configuration into a folder; returns the manifest of the run, in which each particle has a fate."""
        call(folder, sluice, "run", config, "--quiet", "--out", out, "--set", PARTICLES, *words)
        with open(os.path.join(folder, out, "manifest.jsonl"), encoding="utf-8") as f:
            text = f.read()
        total = sum(sum(json.loads(line)["fates"].values()) for line in text.splitlines())
        expect(total == 20000, f"run {out}: the fates of {total} particles are known, 20000 were generated")
        return text

    def expect_equal(one, other, what):
        expect(one == other, f"{what}: the manifests differ\n{one}\n{other}")

    write(os.path.join(folder, "absorber.yaml"), config)
    write(os.path.join(folder, "rounds.yaml"), ROUNDS)
    write(os.path.join(folder, "rod.yaml"), rod)
    cpu = run("cpu", "--device", "cpu")
    for mode in ("staged", "fused"):
        expect_equal(cpu, run(mode, "--device", "emulated", "--mode", mode), f"CPU and emulated device, {mode} mode")
    walk = run("rod", "--device", "cpu", config="rod.yaml")
    for mode, words in (("fused", []), ("staged", ["--compact", "naive", "--scan", "one_block"])):
        expect_equal(walk, run("rod_" + mode, "--device", "emulated", "--mode", mode, *words, config="rod.yaml"),
                     f"the rod on CPU and emulated device, {mode} mode")
    decayed = run("decay", "--device", "cpu", "--set", "model.absorber.lifetime=0.01 ns", "--set", "keep=decayed", "--set",
                  "check={}")
    expect(json.loads(decayed.splitlines()[0])["fates"].get("decayed"), "fate: no particle has the fate decayed in 0.01 ns")
    expect("path" in json.loads(cpu.splitlines()[0])["digests"], "column: the manifest has no digest of the column path")
    expect_equal(cpu, run("branch", "--device", "cpu", "--compact", "cpu_branch"), "compact backends cpu and cpu_branch")
    expect_equal(*(run("rounds_" + name, "--compact", name, config="rounds.yaml") for name in ("cpu", "cpu_branch")),
                 "compact backends cpu and cpu_branch, in rounds")
    cases = call(folder, sluice, "compare", "absorber.yaml", "--device", "cpu", "--csv", "--set", PARTICLES)
    expect("cpu_branch" in cases, f"backend: sluice compare has no case of it:\n{cases}")
    run("plain", "--device", "cpu", "--set", "output.format=binary")
    call(folder, sluice, "verify", "plain", "--quiet")
    digests = {call(folder, sluice, "digest", out) for out in ("cpu", "fused", "plain")}
    expect(len(digests) == 1 and "path" in min(digests),
           f"command: sluice digest prints different digests of equal runs, or none of path:\n{digests}")


def main():
    if not shutil.which("git"):
        print("skipped: git, which applies the diffs, is not installed")
        sys.exit(77)
    apply_only = sys.argv[1] == "--apply"
    source, scratch = map(os.path.abspath, sys.argv[2:4] if apply_only else sys.argv[1:3])
    diffs, configs = recipes_of(os.path.join(source, "docs", "extending.md"))
    if apply_only:
        copy_and_change(source, scratch, diffs)
        return shutil.rmtree(scratch)
    folder = build(copy_and_change(source, scratch, diffs), scratch, sys.argv[3], sys.argv[4:])
    check_runs(os.path.join(folder, "sluice"), scratch, *configs)
    call(scratch, os.path.join(folder, "tests", "sluice_tests"), "stages/models/absorber")
    shutil.rmtree(scratch)
    print(f"{len(diffs)} recipes applied, built and run")


main()
