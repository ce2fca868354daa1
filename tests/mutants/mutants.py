#!/usr/bin/env python3
"""mutants.py - breaks the kernels one line at a time; every break must turn something red.

	tests/mutants/mutants.py [--only scan/shared] [--list] [--all] [--jobs 2]

A mutant is one change that a pattern below makes in one line of a kernel: a barrier gone, a bound one too far, a ticket replaced
by the block's number, ... Its file alone is compiled, for the emulated device, and linked before the library, so that it takes the
place of the right one. trial.c then tries it, in several orders, under AddressSanitizer; only what survives that is compiled a
second time and tried under ThreadSanitizer, for races that no output shows. equivalent.txt lists the changes that change nothing,
and why; a line of it that meets no mutant any more is an error.

Needs build/sanitize and build/thread (scripts/test.sh sanitize and thread make them). Prints a line a file, and each mutant that
survives; ends with 1 if one does.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
RACE = 66  # the exit status that ThreadSanitizer is told
RIGHT_SECONDS = 300  # that a trial of right kernels may take
KERNELS = ["primitives/scan", "primitives/compact", "primitives/sort", "primitives/base/look_back.cuh", "stages"]

# What an index is held below, as kernels call it.
BOUND = r"(?:\w+(?:\.|->))*(?:n|n_\w+|left|nodes|warps|end)"

# (what it is called, pattern, replacement)
MUTATIONS = [
    ("barrier gone", r"__syncthreads\(\);", ";"),
    ("warp barrier gone", r"__syncwarp\(\);", ";"),
    ("fence gone", r"__threadfence(?:_block|_system)?\(\);", ";"),
    ("bound one too far", r"(?<=[\w\])]) < (%s)\b(?![\w(])" % BOUND, r" <= \1"),
    ("bound one too far", r">= (%s)\b(?![\w(])" % BOUND, r"> \1"),
    ("bound one too far", r"(?<=[\w\])]) (<=|>) n\b", r" \1 n + 1"),
    ("tail taken for full", r"\bleft >= ", "left + 1 >= "),
    ("tail not checked", r"\bFULL \|\| ", "true || "),
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
    return text and not re.match(r"\*([\s/]|$)|/\*|//|#include", text)


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
    """The code itself may have bars: the file stands before the first, the reason behind the last."""
    known = set()
    for line in open(os.path.join(HERE, "equivalent.txt")):
        if line.strip() and not line.startswith("#"):
            name, rest = line.split("|", 1)
            known.add((name.strip(), rest.rsplit("|", 1)[0].strip()))
    return known


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
        faster = ["-w", "-fno-sanitize=undefined"]  # whose checks are a third of the compiler's time
        return subprocess.run([*words, *faster], cwd=entry["directory"], capture_output=True, text=True)

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
        if source.startswith("tests/"):
            continue
        words = [w for w in shlex.split(entry["command"]) if not w.startswith("-M")]
        seen = subprocess.run(["c++", "-MM", "-DSL_EMULATED", "-I" + ROOT, "-std=c++20", "-x", "c++", os.path.join(ROOT, source)],
                              capture_output=True, text=True).stdout
        if words and name in seen.replace("\\\n", " "):
            users.append(source)
    return sorted(users)


def trial_name(source):
    m = re.match(r"primitives/(\w+)/(\w+)\.cu", source)
    return "%s/%s" % m.groups() if m else "stages"


def run(words, seconds):
    """The exit status, by which the trial tells: of processor time, as other work must not change what is found."""
    env = dict(os.environ, TSAN_OPTIONS="exitcode=%d:halt_on_error=1" % RACE)
    limited = ["sh", "-c", 'ulimit -t %d; exec "$@"' % seconds, "sh", *words]
    try:
        return subprocess.run(limited, capture_output=True, env=env, timeout=20 * seconds).returncode
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL


def how_found(code):
    return {0: None, RACE: "race", -signal.SIGKILL: "no end", -signal.SIGXCPU: "no end"}.get(code, "wrong answer")


class Trials:
    """The two builds, each with trial.c compiled for it and what it takes of the right kernels."""

    def __init__(self, work):
        self.work = work
        self.builds = [(Build("sanitize"), []), (Build("thread"), ["brief"])]
        self.objects = {}
        self.seconds = {}
        for build, _ in self.builds:
            self.objects[build] = os.path.join(work, os.path.basename(build.folder) + ".o")
            done = build.compile(build.trial, os.path.join(HERE, "trial.c"), self.objects[build], ROOT)
            if done.returncode != 0:
                sys.exit(done.stderr)

    def link(self, build, kernels, program):
        done = build.link([self.objects[build], *kernels], program)
        if done.returncode != 0:
            sys.exit("linking failed: " + done.stderr[-2000:])

    def try_right(self, sources, pool):
        """Right kernels must pass; what that takes says how long to wait for others."""
        right = {}
        for build, _ in self.builds:
            right[build] = os.path.join(self.work, "right." + os.path.basename(build.folder))
            self.link(build, [], right[build])
        asked = [(build, words, source) for build, words in self.builds for source in sources]

        def time_one(one):
            build, words, source = one
            start = time.time()
            if run([right[build], trial_name(source), *words], RIGHT_SECONDS) != 0:
                sys.exit("%s is not right as it is" % source)
            return time.time() - start

        for (build, _, source), seconds in zip(asked, pool.map(time_one, asked)):
            self.seconds[build, source] = seconds

    def verdict(self, work, name, sources, line_number, text):
        """How a mutant is found out; None if it survives."""
        tree = os.path.join(work, "tree")
        for folder in ("primitives", "stages"):
            shutil.copytree(os.path.join(ROOT, folder), os.path.join(tree, folder))
        lines = open(os.path.join(ROOT, name)).read().split("\n")
        lines[line_number] = text
        open(os.path.join(tree, name), "w").write("\n".join(lines))
        for build, words in self.builds:
            for source in sources:
                kernel, program = os.path.join(work, "kernel.o"), os.path.join(work, "trial")
                done = build.compile(build.commands[source], os.path.join(tree, source), kernel, tree)
                if done.returncode != 0:
                    return "does not compile"
                self.link(build, [kernel], program)
                patience = 5 + 5 * self.seconds[build, source]  # theirs is compiled without optimisation
                how = how_found(run([program, trial_name(source), *words], patience))
                if how:
                    return how
        return None

    def try_one(self, mutant, sources):
        name, number, what, text = mutant
        start = time.time()
        with tempfile.TemporaryDirectory(prefix="mutant.") as work:
            how = self.verdict(work, name, sources, number, text)
        return "%s:%d" % (name, number + 1), what, text.strip(), how, time.time() - start


def is_found(how):
    return how not in (None, "does not compile")


def tell_file(name, results, all_of_them):
    """A line a file, and one for each mutant that is not found or, when asked, for each."""
    ways = collections.Counter(how for _, _, _, how, _ in results if is_found(how))
    print("%-36s %2d of %2d found: %s" % (name, sum(ways.values()), len(results),
                                         ", ".join("%s %d" % way for way in ways.most_common())), flush=True)
    for place, what, text, how, seconds in results:
        if all_of_them or not is_found(how):
            print("  %-38s %-28s %-16s %5.1f s  %s" % (place, what, how or "SURVIVES", seconds, text), flush=True)


def try_all(found, jobs, all_of_them):
    """How many are not found."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="mutants.") as work, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        trials = Trials(work)
        users = {name: users_of(name, trials.builds[0][0]) for name in {f[0] for f in found}}
        trials.try_right(sorted({s for u in users.values() for s in u}), pool)
        results = pool.map(lambda f: trials.try_one(f, users[f[0]]), found)
        for name, of_file in itertools.groupby(zip(found, results), key=lambda pair: pair[0][0]):
            of_file = [r for _, r in of_file]
            tell_file(name, of_file, all_of_them)
            missed += sum(not is_found(r[3]) for r in of_file)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants of files whose path holds this")
    parser.add_argument("--list", action="store_true", help="list them and end")
    parser.add_argument("--all", action="store_true", help="print how each was found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    start = time.time()
    known = equivalents()
    found = [(name, *m) for name in kernel_files() if asked.only in name for m in mutants_of(name)]
    gone = {k for k in known if asked.only in k[0]} - {(n, t.strip()) for n, _, _, t in found}
    for name, text in sorted(gone):
        print("equivalent.txt: no mutant of %s is: %s" % (name, text))
    found = [f for f in found if (f[0], f[3].strip()) not in known]
    if asked.list:
        for name, number, what, text in found:
            print("%s:%d: %s: %s" % (name, number + 1, what, text.strip()))
        return 0
    missed = try_all(found, asked.jobs, asked.all)
    print("%d mutants, %d not found, %.0f s" % (len(found), missed, time.time() - start))
    return 1 if missed or gone or not found else 0


if __name__ == "__main__":
    sys.exit(main())
