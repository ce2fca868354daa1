#!/usr/bin/env python3
"""mutants.py - changes the kernels in one place at a time; every change must make a trial fail.

	tests/mutants/mutants.py [--only scan/shared]
	tests/mutants/mutants.py --one N [--seconds 60]     for CI: a part of the mutants of one kernel source

A mutant is one change that a pattern of MUTATIONS makes in one place of a kernel: a barrier is removed, a bound is one too large, a
ticket is replaced by the number of the block, and so on. All mutants are compiled at once for the emulated device, in a copy of the
kernels in which each place tests whether its number is selected. The copy is linked before the library and replaces its kernels.
The variable SLUICE_MUTANT selects a mutant; trial.c tries it, until a trial fails, in this order:

	1. one size and one order of threads, under AddressSanitizer
	2. the same under ThreadSanitizer, which finds races that change no output
	3. several sizes and orders, under AddressSanitizer

First, the copy must pass with no mutant selected: this checks the copy, and its time limits the time of a mutant. equivalent.txt
lists the changes that have no effect, with the reason; a line of it that matches no mutant is an error.

--one takes kernel source number N, counted modulo their number, and compiles nothing but this source, with AddressSanitizer. It tries
mutants until they have used the processor time, from another one for each N. Those that only ThreadSanitizer finds are left out.

Builds the libraries of build/sanitize and build/thread first, as far as they are not up to date. Prints each mutant that survives,
and the numbers of mutants. Exit code: 1 if a mutant survives or a line of equivalent.txt matches none, otherwise 0.
"""
import argparse
import collections
import concurrent.futures
import functools
import glob
import itertools
import json
import math
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
RACE = 66  # exit code of a program in which ThreadSanitizer finds a race
LIBRARIES = ["tests/CMakeFiles/sluice_faults.dir/faults/fault_injection.c.o", "tests/libsluice_support.a", "libsluice_cases.a", "libsluice.a",
             "libsluice_primitives.a"]  # of a build, in link order; the object comes first, because it replaces one of a library
PACKAGES = ["cmocka", "zlib", "libdeflate", "libisal", "yaml-0.1", "hdf5"]
RIGHT_SECONDS = 900  # limit for a trial with no mutant selected
LOOK_AHEAD = "tests/primitives/scan/look_ahead_kernels.cu"  # with tiles and grids small enough for a trial
RACES = ["barrier gone", "warp barrier gone", "fence gone", "release relaxed", "acquire relaxed"]  # only ThreadSanitizer finds all of these
KERNELS = ["primitives/scan/*", "primitives/compact/*", "primitives/expand/*", "primitives/sort/*", "primitives/deflate/*",
           "primitives/deflate/encoder/*", "primitives/kernel/item_loops.cuh", "primitives/kernel/look_back.cuh", "stages/*", "stages/counting/*",
           "stages/device/*", "stages/fused/*", "stages/rounds/*"]

# Names of upper bounds that kernels compare an index with.
BOUND = r"(?:\w+(?:\.|->))*(?:n|n_\w+|left|leaves|nodes|warps|end)"

# (name, pattern, replacement); MUTANT is 1 if the mutant is selected, otherwise 0. Matches of two patterns must not overlap.
MUTATIONS = [
    ("barrier gone", r"__syncthreads\(\);", r"MUTANT ? (void)0 : __syncthreads();"),
    ("warp barrier gone", r"__syncwarp\(\);", r"MUTANT ? (void)0 : __syncwarp();"),
    ("fence gone", r"(__threadfence(?:_block|_system)?)\(\);", r"MUTANT ? (void)0 : \1();"),
    ("bound one too far", r"(?<=[\w\])] < )(?=%s\b(?![\w(]))" % BOUND, r"MUTANT + "),
    ("bound one too far", r"(?<=>= )(?=%s\b(?![\w(]))" % BOUND, r"MUTANT + "),
    ("bound one too far", r"(?<=[\w\])])( <= | > )(?=n\b)", r"\1MUTANT + "),
    ("tail taken for full", r"\bleft(?= >= )", r"left + MUTANT"),
    ("tail not checked", r"\bFULL \|\| ", r"MUTANT || \g<0>"),
    ("ticket by block", r"(?<== )((?:\(uint32_t\))?atomicAdd\((?:state\.words|p\.ticket|[\w.]*ticket[\w.]*), 1\))", r"MUTANT ? blockIdx.x : \1"),
    ("release relaxed", r"sl_store_release(\([^;]*\));", r"MUTANT ? sl_store_relaxed\1 : sl_store_release\1;"),
    ("acquire relaxed", r"sl_load_acquire(\((?:[^()]|\([^()]*\))*\))", r"(MUTANT ? sl_load_relaxed\1 : sl_load_acquire\1)"),
    ("own sum taken for all", r": SL_TILE_AGGREGATE", r": MUTANT ? SL_TILE_PREFIX : SL_TILE_AGGREGATE"),
    ("not waited for", r"known == SL_TILE_INVALID", r"!MUTANT && \g<0>"),
    ("window overlaps", r"end -= 32\b", r"end -= 32 - MUTANT"),
    ("lanes below with its own", r"\(1u << (lane_index\(\)|lane)\) - 1", r"(1u + MUTANT << \1) - 1"),
    ("scan of a warp off by one", r"(?:\blane|lane_index\(\)|LANES) >= (?=by\b|distance\b)", r"\g<0>MUTANT + "),
    ("digit not masked", r"(?<=key >> d\.shift\) & )d\.mask\b", r"(MUTANT ? ~0u : d.mask)"),
    ("digit in the wrong place", r"(?<=key >> )d\.shift(?=\))", r"(d.shift + MUTANT)"),
    ("flag not seen", r"(?<=__ballot_sync\(SL_LANES, )", r"!(MUTANT && threadIdx.x % 32 == 7) && "),
    ("sum forgotten", r"\b(?:sum|next|offset|value|mine|right) \+= ", r"\g<0>MUTANT ? 0 : "),
    ("exclusive for inclusive", r"(?:job(?:\.|->)|p\.)?\binclusive(?= \? )", r"(MUTANT != \g<0>)"),
    ("distance of the wrong power", r"\b(?:by|distance) \*= 2", r"\g<0> + 2 * MUTANT"),
    ("not cleared", r"(?=SL_TRY\(sl_look_back_clear\()", r"if (!MUTANT) "),
    ("not cleared", r"(?=SL_TRY\(sl_fill\()", r"if (!MUTANT) "),
    ("not cleared", r"t\.next_pass\[(.*)\] = 0;", r"MUTANT ? 0 : \g<0>"),
    ("not cleared", r"s_count\.of\[threadIdx\.x\] = 0;", r"MUTANT ? 0 : \g<0>"),
    ("root kept", r"\(\*this\)\[leaves - 1\] = 0;", r"MUTANT ? 0 : \g<0>"),
    ("sum of the tiles before forgotten", r"(?<= \+= )before\[", r"MUTANT ? 0 : before["),
    ("left child keeps its sum", r"\bleft = before_left;", r"MUTANT ? left : \g<0>"),
    ("tally kept from before", r"block\.word\[k\] = 0;", r"MUTANT ? 0 : \g<0>"),
    ("wrong id", r"first_id \+ ", r"\g<0>MUTANT + "),
    ("digest of another row", r"(?<=sl_digest_item\()j\b", r"j + MUTANT"),
]


# --- mutants --------------------------------------------------------------------------------------

# text replaces the characters start .. end - 1 of the line with the index line; whole is the changed line.
Mutant = collections.namedtuple("Mutant", "file line what start end text whole")


def read(name):
    return open(os.path.join(ROOT, name)).read()


def kernel_files():
    found = sorted(name for place in KERNELS for name in glob.glob(place, root_dir=ROOT))
    return [name for name in found if name.endswith((".cu", ".cuh")) and not name.endswith("/thrust.cu")]


def mutants_of(name):
    """The mutants of a file, one per match of a pattern, in the order of their places."""
    found = []
    for number, line in enumerate(read(name).split("\n")):
        if re.match(r"\s*(\*([\s/]|$)|/\*|//|#include)", line):
            continue
        for what, pattern, replacement in MUTATIONS:
            for m in re.finditer(pattern, line.split("/*")[0]):
                text = m.expand(replacement)
                whole = line[: m.start()] + text + line[m.end() :]
                found.append(Mutant(name, number, what, m.start(), m.end(), text, whole.strip()))
    found.sort(key=lambda m: (m.line, m.start, m.end))
    for a, b in zip(found, found[1:]):
        if a.line == b.line and a.end > b.start:
            sys.exit("mutants.py: %s:%d: the patterns '%s' and '%s' match the same characters; change one of them in MUTATIONS"
                     % (name, a.line + 1, a.what, b.what))
    return found


def equivalents():
    """(file, changed line) of each line of equivalent.txt. Code may contain bars: the first and the last bar separate the fields."""
    lines = [line for line in read("tests/mutants/equivalent.txt").split("\n") if line.strip() and not line.startswith("#")]
    return {(line.split("|", 1)[0].strip(), line.split("|", 1)[1].rsplit("|", 1)[0].strip()) for line in lines}


@functools.cache
def included(name):
    """The kernel files that a file includes, itself first; names are below the folder of the file that includes them, or the root."""
    found = [name]
    for path in found:
        for to in re.findall(r'^#include "([^"]+\.cuh?)"', read(path), re.M):
            near = os.path.join(os.path.dirname(path), to)
            to = near if os.path.exists(os.path.join(ROOT, near)) else to
            if to not in found:
                found.append(to)
    return found


def write_copy(tree, mutants):
    """Writes the kernels to the folder tree, with all mutants; SLUICE_MUTANT selects them by number, from 1."""
    for folder in ("primitives", "stages"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(tree, folder))
    for name, numbered in itertools.groupby(enumerate(mutants, 1), key=lambda pair: pair[1].file):
        lines = read(name).split("\n")
        for number, m in sorted(numbered, reverse=True):  # from the right, because start and end refer to the unchanged line
            chosen = m.text.replace("MUTANT", "(sluice_mutant == %d)" % number)
            lines[m.line] = lines[m.line][: m.start] + chosen + lines[m.line][m.end :]
        open(os.path.join(tree, name), "w").write("\n".join(lines))


# --- builds ---------------------------------------------------------------------------------------

def run_or_end(words, folder=ROOT):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (shlex.join(words), (done.stdout + done.stderr)[-4000:]))


class Build:
    """
    The build of a preset: its libraries, and its compile commands of the emulated kernels and of a test. Kernels that call rules
    are compiled once for each model.
    """

    def __init__(self, preset):
        run_or_end(["cmake", "--preset", preset, "-DSLUICE_TESTS=ON"])
        run_or_end(["cmake", "--build", "--preset", preset, "--target", "sluice_support", "sluice_faults"])
        self.preset, self.kernels = preset, {}
        for entry in json.loads(read("build/%s/compile_commands.json" % preset)):
            if entry["file"].endswith(".cu.cpp"):
                source = re.search(r'#include "([^"]+)"', read(entry["file"]))[1]
                self.kernels.setdefault(source, []).append(entry)
            elif entry["file"].endswith("tests/cases/case.c"):
                self.case = entry
        # any scan will do: the build with ThreadSanitizer does not have that test
        self.kernels[LOOK_AHEAD] = self.kernels["primitives/scan/shared.cu"]

    def compile(self, entry, source, output, tree):
        """Compiles a source with the headers of tree, without UBSan, which takes a third of the compile time."""
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = output
        words = [words[0], "-I" + tree] + [w for w in words[1:] if w not in (entry["file"], "-g1")]
        words += ["-w", "-fno-sanitize=undefined", "-include", os.path.join(ROOT, "tests/mutants/mutant.h")]
        run_or_end(words + (["-x", "c++"] if source.endswith(".cu") else []) + [source], entry["directory"])
        return output

    def link(self, objects, program):
        sanitize = "-fsanitize=" + ("thread" if self.preset == "thread" else "address,undefined")
        libraries = shlex.split(subprocess.check_output(["pkg-config", "--libs", *PACKAGES], text=True))
        ours = [os.path.join(ROOT, "build", self.preset, name) for name in LIBRARIES]
        run_or_end(["cc", sanitize, *objects, *ours, "-o", program, *libraries, "-lpthread", "-ldl", "-lm"])


# --- trials ---------------------------------------------------------------------------------------

def trial_name(source):
    if source == LOOK_AHEAD:
        return "scan/look_ahead"
    m = re.match(r"primitives/(\w+)/(\w+)\.cu", source)
    return "%s/%s" % m.groups() if m else "stages"


def run(words, mutant, seconds):
    """
    Runs a trial; returns its exit code and its processor time in seconds. The limit is processor time, so that other work on the
    machine does not change the result.
    """
    env = dict(os.environ, SLUICE_MUTANT=str(mutant), TSAN_OPTIONS="exitcode=%d:halt_on_error=1" % RACE, ASAN_OPTIONS="detect_leaks=0")
    limited = ["sh", "-c", 'ulimit -t %d; exec "$@"' % math.ceil(seconds), "sh", *words]
    trial = subprocess.Popen(limited, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(trial.pid, 0)
    trial.returncode = os.waitstatus_to_exitcode(status)
    return trial.returncode, used.ru_utime + used.ru_stime


class Trials:
    """The trial programs, which contain all mutants: one for each build. sources are the kernels that contain them."""

    def __init__(self, work, mutants, sources, builds, most):
        self.mutants, self.sources = mutants, sources
        self.left = most  # seconds
        tree = os.path.join(work, "tree")
        write_copy(tree, mutants)
        programs = {build: os.path.join(work, build.preset) for build in builds}
        brief = [([programs[build]], ["brief"]) for build in builds]
        self.ways = brief + [([programs[builds[0]]], [])]  # the fastest first
        self.seconds = {}  # of each way and trial with no mutant selected
        jobs = []
        for build in builds:
            jobs.append((build, build.case, os.path.join(ROOT, "tests/mutants/trial.c")))
            for source in sources:
                for entry in build.kernels[source]:  # a file that includes the source, found in tree
                    jobs.append((build, entry, os.path.join(ROOT, source) if source == LOOK_AHEAD else entry["file"]))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(lambda k: jobs[k][0].compile(*jobs[k][1:], "%s/%d.o" % (work, k), tree), range(len(jobs))))
        for build, program in programs.items():
            build.link([o for o, job in zip(objects, jobs) if job[0] is build], program)
        for way in range(len(brief)):
            for trial in set(map(trial_name, sources)):
                self.seconds_of(way, trial)

    def seconds_of(self, way, trial):
        """Seconds of a trial with no mutant selected, which must pass; measured at the first call."""
        if (way, trial) not in self.seconds:
            program, words = self.ways[way]
            code, self.seconds[way, trial] = run([*program, trial, *words], 0, RIGHT_SECONDS)
            if code != 0:
                sys.exit("mutants.py: the trial %s fails without a mutant (%s): the kernels or the trial are wrong; run scripts/test.sh "
                         "sanitize, and thread" % (trial, os.path.basename(program[0])))
        return self.seconds[way, trial]

    def is_found(self, number):
        """Whether a mutant is found; None if the time is over before."""
        users = [source for source in self.sources if self.mutants[number - 1].file in included(source)]
        for way, (program, words) in enumerate(self.ways):
            for trial in sorted(set(map(trial_name, users)), key=lambda t: self.seconds_of(0, t)):
                if self.left <= 0:
                    return None
                # a long trial with no mutant would need most of a short time
                patience = self.left if not words and self.left < math.inf else 2 + 2 * self.seconds_of(way, trial)
                code, seconds = run([*program, trial, *words], number, patience)
                self.left -= seconds
                if code in (-signal.SIGKILL, -signal.SIGXCPU) and self.left <= 0:
                    return None
                if code != 0:
                    return True
        return False


def try_all(mutants, sources, builds, first, most, own):
    """
    Tries mutants, from the one with the index first on, until they have used that many seconds. Prints those that survive, if their
    file is in own, and returns their number.
    """
    start, missed, tried = time.time(), 0, 0
    with tempfile.TemporaryDirectory(prefix="mutants.") as work, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        trials = Trials(work, mutants, sources, builds, most)
        built = time.time()
        order = [(first + k) % len(mutants) for k in range(len(mutants))]
        for k, found in zip(order, pool.map(trials.is_found, [k + 1 for k in order])):
            m = mutants[k]
            tried += found is not None
            if found is False and m.file in own:
                missed += 1
                print("%s:%d: %s SURVIVES: %s" % (m.file, m.line + 1, m.what, m.whole), flush=True)
    print("%s: %d of %d mutants tried, %d not found; built in %.0f s, tried in %.0f s"
          % (" ".join(sources), tried, len(mutants), missed, built - start, time.time() - built))
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants of files whose path contains this text")
    parser.add_argument("--one", type=int, metavar="N", help="a part of the mutants of one kernel source, with AddressSanitizer only")
    parser.add_argument("--seconds", type=float, default=60, help="of the processors, for the trials of --one")
    parser.add_argument("--check", action="store_true", help="only check that each line of equivalent.txt names a mutant")
    options = parser.parse_args()
    known, files = equivalents(), kernel_files()
    mutants = [m for name in files if options.only in name for m in mutants_of(name)]
    gone = {k for k in known if options.only in k[0]} - {(m.file, m.whole) for m in mutants}
    for name, text in sorted(gone):
        print("equivalent.txt: %s has no mutant with the line below; correct or remove the entry\n  %s" % (name, text))
    if options.check:
        return 1 if gone else 0
    mutants = [m for m in mutants if (m.file, m.whole) not in known]
    builds = [Build(preset) for preset in (["sanitize", "thread"] if options.one is None else ["sanitize"])]
    kernels = [name for name in files if name in builds[0].kernels]
    first, most, own = 0, math.inf, set(files)
    if options.one is not None:
        source = kernels[options.one % len(kernels)]
        mutants = [m for m in mutants if m.file in included(source) and m.what not in RACES]
        first, most = options.one // len(kernels) * 7, options.seconds
        own -= {name for other in kernels if other != source for name in included(other)}  # trials of others may find the rest
        kernels = [source]
    if not mutants:
        sys.exit(0 if options.one is not None else "mutants.py: no file with a mutant has '%s' in its path" % options.only)
    changed = {m.file for m in mutants}
    sources = [name for name in kernels if changed & set(included(name))]
    if "primitives/scan/shared.cu" in sources:
        sources.append(LOOK_AHEAD)
    return 1 if try_all(mutants, sources, builds, first, most, own) or gone else 0


if __name__ == "__main__":
    sys.exit(main())
