#!/usr/bin/env python3
"""mutants.py - breaks the kernels one line at a time; every break must turn something red.

	tests/mutants/mutants.py [--only scan/shared] [--list] [--jobs 2]

A mutant is one change that a pattern below makes in one line of a kernel: a barrier gone, a bound one too far, a ticket replaced
by the block's number, ... Its file alone is compiled, for the emulated device, and linked before the library, so that it takes the
place of the right one. trial.c then tries it, in several orders, under AddressSanitizer; what survives that is tried under
ThreadSanitizer, for races that no output shows. equivalent.txt lists the changes that change nothing, and why.

Needs build/sanitize and build/thread (scripts/test.sh sanitize and thread make them). Ends with 1 if a mutant survives.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
KERNELS = ["primitives/scan", "primitives/compact", "primitives/sort", "primitives/base/look_back.cuh", "stages"]

# (what it is called, pattern, replacement)
MUTATIONS = [
    ("barrier gone", r"__syncthreads\(\);", ";"),
    ("warp barrier gone", r"__syncwarp\(\);", ";"),
    ("bound one too far", r"(?<=[\w\]]) < ((?:\w+(?:\.|->))*(?:n|left|n_survivors))\b(?!\w)", r" <= \1"),
    ("bound one too far", r">= ((?:\w+(?:\.|->))*n)\b", r"> \1"),
    ("ticket by block", r"= (?:\(uint32_t\))?atomicAdd\((?:state\.words|p\.ticket|[\w.]*ticket[\w.]*), 1\)", "= blockIdx.x"),
    ("release relaxed", r"sl_store_release", "sl_store_relaxed"),
    ("acquire relaxed", r"sl_load_acquire", "sl_load_relaxed"),
    ("own sum taken for all", r"\? SL_KNOWN_ALL : SL_KNOWN_OWN", "? SL_KNOWN_ALL : SL_KNOWN_ALL"),
    ("not waited for", r"known == SL_KNOWN_NOTHING", "false && known == SL_KNOWN_NOTHING"),
    ("window overlaps", r"end -= 32\b", "end -= 31"),
    ("lanes below with its own", r"\(1u << (lane_number\(\)|lane)\) - 1", r"(2u << \1) - 1"),
    ("scan of a warp off by one", r"lane >= (by|distance)\b", r"lane > \1"),
    ("scan of a warp off by one", r"lane_number\(\) >= (by|distance)\b", r"lane_number() > \1"),
    ("digit not masked", r"\(key >> d\.shift\) & d\.mask", "(key >> d.shift)"),
    ("digit in the wrong place", r"key >> d\.shift\)", "key >> (d.shift + 1))"),
    ("flag not seen", r"__ballot_sync\(SL_LANES, ", "__ballot_sync(SL_LANES, threadIdx.x % 32 != 7 && "),
    ("sum forgotten", r"\+= other\b", "+= 0 * other"),
    ("exclusive for inclusive", r"(?:job(?:\.|->)|p\.)?\binclusive \? ", r"!\g<0>"),
    ("distance of the wrong power", r"\bby \*= 2", "by *= 4"),
    ("distance of the wrong power", r"\bdistance \*= 2", "distance *= 4"),
    ("not cleared", r"SL_TRY\(sl_look_back_clear\([^;]*\);", ";"),
    ("not cleared", r"SL_TRY\(sl_fill\([^;]*\);", ";"),
    ("tally kept from before", r"block\.word\[k\] = 0;", ";"),
    ("wrong id", r"first_id \+ ", "first_id + 1 + "),
    ("digest of another row", r"sl_digest_item\(j,", "sl_digest_item(j + 1,"),
]


def kernel_files():
    for place in KERNELS:
        path = os.path.join(ROOT, place)
        names = [place] if os.path.isfile(path) else sorted(os.path.join(place, n) for n in os.listdir(path))
        for name in names:
            if name.endswith((".cu", ".cuh")) and not name.endswith("/thrust.cu"):
                yield name


def is_code(line):
    text = line.strip()
    return text and not text.startswith(("*", "/*", "//", "#include"))


def mutants_of(name):
    """(line number, what, the line as it becomes) of each place in a file that a pattern meets."""
    lines = open(os.path.join(ROOT, name)).read().split("\n")
    for number, line in enumerate(lines):
        for what, pattern, replacement in MUTATIONS:
            if not is_code(line):
                continue
            for m in re.finditer(pattern, line.split("/*")[0]):
                yield number, what, line[: m.start()] + m.expand(replacement) + line[m.end() :]


def equivalents():
    known = set()
    for line in open(os.path.join(HERE, "equivalent.txt")):
        if line.strip() and not line.startswith("#"):
            name, text, _ = (part.strip() for part in line.split("|", 2)) if line.count("|") == 2 else split_line(line)
            known.add((name, text))
    return known


def split_line(line):
    """The code itself may have bars: the file stands before the first, the reason behind the last."""
    name, rest = line.split("|", 1)
    text, why = rest.rsplit("|", 1)
    return name.strip(), text.strip(), why.strip()


class Build:
    """A build's commands for one file, and what a trial is linked with."""

    def __init__(self, folder):
        self.folder = os.path.join(ROOT, "build", folder)
        self.commands = {}
        for entry in json.load(open(os.path.join(self.folder, "compile_commands.json"))):
            if "/emulated/" in entry["file"]:
                source = open(entry["file"]).read()
                self.commands[re.search(r'#include "([^"]+)"', source)[1]] = entry
            elif entry["file"].endswith("tests/cases/case.c"):
                self.trial = entry
        self.libraries = [os.path.join(self.folder, "tests", "libsluice_support.a"), os.path.join(self.folder, "tests", "libsluice_cases.a"), os.path.join(self.folder, "libsluice.a")]

    def compile(self, entry, source, output, tree):
        words = shlex.split(entry["command"])
        out = words.index("-o")
        words[out + 1] = output
        words = [w for w in words if w != entry["file"]] + (["-x", "c++"] if source.endswith(".cu") else []) + [source]
        if "-MF" in words:
            words[words.index("-MF") + 1] = output + ".d"
        words = ["-I" + tree if w == "-I" + ROOT else "-O0" if w in ("-O2", "-O3") else "-g0" if w == "-g" else w for w in words]
        return subprocess.run([*words, "-w"], cwd=entry["directory"], capture_output=True, text=True)

    def link(self, objects, output):
        sanitize = ["-fsanitize=" + ("thread" if self.folder.endswith("thread") else "address,undefined")]
        words = ["cc", *sanitize, *objects, *self.libraries, "-o", output, "-lcmocka", "-lz", "-ldeflate", "-lyaml",
                 *shlex.split(os.environ.get("MUTANTS_LIBS", "")), *hdf5(), "-lpthread", "-ldl", "-lm"]
        return subprocess.run(words, capture_output=True, text=True)


def hdf5():
    found = subprocess.run(["pkg-config", "--libs", "hdf5"], capture_output=True, text=True)
    return shlex.split(found.stdout) if found.returncode == 0 else ["-L/usr/lib/x86_64-linux-gnu/hdf5/serial", "-lhdf5"]


def users_of(name, build):
    """The kernels' files that a file is part of, by the compiler's own word."""
    if name.endswith(".cu"):
        return [name]
    users = []
    for source, entry in build.commands.items():
        words = [w for w in shlex.split(entry["command"]) if not w.startswith("-M")]
        seen = subprocess.run(["c++", "-MM", "-DSL_EMULATED", "-I" + ROOT, "-std=c++20", "-x", "c++", os.path.join(ROOT, source)],
                              capture_output=True, text=True).stdout
        if words and name in seen.replace("\\\n", " "):
            users.append(source)
    return users


def trial_name(source):
    m = re.match(r"primitives/(\w+)/(\w+)\.cu", source)
    return "%s/%s" % m.groups() if m else "stages"


def run(words, seconds):
    try:
        env = dict(os.environ, TSAN_OPTIONS="exitcode=66:halt_on_error=1")
        return subprocess.run(words, capture_output=True, text=True, timeout=seconds, env=env).returncode
    except subprocess.TimeoutExpired:
        return -1


def verdict(work, builds, trials, patience, name, sources, line_number, text):
    """How a mutant is found out; None if it survives."""
    tree = os.path.join(work, "tree")
    shutil.copytree(os.path.join(ROOT, "primitives"), os.path.join(tree, "primitives"))
    shutil.copytree(os.path.join(ROOT, "stages"), os.path.join(tree, "stages"))
    lines = open(os.path.join(ROOT, name)).read().split("\n")
    lines[line_number] = text
    open(os.path.join(tree, name), "w").write("\n".join(lines))
    for source in sources:
        for build, words in ((builds[0], []), (builds[1], ["brief"])):
            objects = os.path.join(work, "kernel.o")
            done = build.compile(build.commands[source], os.path.join(tree, source), objects, tree)
            if done.returncode != 0:
                return None  # no mutant at all: the pattern is wrong
            program = os.path.join(work, "trial")
            done = build.link([trials[build.folder], objects], program)
            if done.returncode != 0:
                sys.exit("linking failed: " + done.stderr[-2000:])
            code = run([program, trial_name(source), *words], patience[build.folder, source])
            if code != 0:
                return "a race" if code == 66 else "no end" if code == -1 else "a wrong answer"
    return None


def one(job):
    builds, trials, patience, name, sources, number, what, text = job
    work = tempfile.mkdtemp(prefix="mutant.")
    start = time.time()
    try:
        how = verdict(work, builds, trials, patience, name, sources, number, text)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return name, number + 1, what, text.strip(), how, time.time() - start


def make_trials(builds, work):
    trials = {}
    for build in builds:
        output = os.path.join(work, os.path.basename(build.folder) + ".o")
        done = build.compile(build.trial, os.path.join(HERE, "trial.c"), output, ROOT)
        if done.returncode != 0:
            sys.exit(done.stderr)
        trials[build.folder] = output
    return trials


def patience_of(builds, trials, sources, work):
    """Seconds to wait for a trial: many times what the right kernel takes, which must pass."""
    patience = {}
    for build, words in zip(builds, ([], ["brief"])):
        for source in sources:
            program = os.path.join(work, "right")
            done = build.link([trials[build.folder]], program)
            if done.returncode != 0:
                sys.exit("linking failed: " + done.stderr[-2000:])
            start = time.time()
            if run([program, trial_name(source), *words], 300) != 0:
                sys.exit("%s is not right as it is" % source)
            patience[build.folder, source] = 20 + 20 * (time.time() - start)
    return patience


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants of files whose path holds this")
    parser.add_argument("--list", action="store_true", help="list them and end")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    known = equivalents()
    found = [(name, *m) for name in kernel_files() if asked.only in name for m in mutants_of(name)]
    found = [(n, l, w, t) for n, l, w, t in found if (n, t.strip()) not in known]
    if asked.list:
        for name, number, what, text in found:
            print("%s:%d: %s: %s" % (name, number + 1, what, text.strip()))
        return 0
    builds = [Build("sanitize"), Build("thread")]
    users = {name: users_of(name, builds[0]) for name in {f[0] for f in found}}
    with tempfile.TemporaryDirectory(prefix="mutants.") as work:
        trials = make_trials(builds, work)
        patience = patience_of(builds, trials, sorted({s for u in users.values() for s in u}), work)
        jobs = [(builds, trials, patience, n, users[n], l, w, t) for n, l, w, t in found]
        with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
            results = []
            for r in pool.map(one, jobs):
                results.append(r)
                print("%-40s %-28s %-18s %5.1f s  %s" % ("%s:%d" % r[:2], r[2], r[4] or "SURVIVES", r[5], r[3]), flush=True)
    alive = [r for r in results if not r[4]]
    print("%d mutants, %d survive" % (len(results), len(alive)))
    return 1 if alive or not results else 0


if __name__ == "__main__":
    sys.exit(main())
