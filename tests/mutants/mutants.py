#!/usr/bin/env python3
"""mutants.py - changes the kernels in one place at a time; every change must make a trial fail.

	tests/mutants/mutants.py [--only scan/shared] [--share 1/4] [--list] [--all] [--jobs 2]
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

Builds the libraries of build/sanitize and build/thread first, as far as they are not up to date. Prints a line per file, and each
mutant that survives. Exit code: 1 if a mutant survives or a line of equivalent.txt matches none, otherwise 0.
"""
import argparse
import collections
import concurrent.futures
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
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "mutants")
RACE = 66  # exit code of a program in which ThreadSanitizer finds a race
LIBRARIES = ["tests/CMakeFiles/sluice_faults.dir/faults/fault_injection.c.o", "tests/libsluice_support.a", "libsluice_cases.a", "libsluice.a",
             "libsluice_primitives.a"]  # of a build, in link order; the object comes first, because it replaces one of a library
PACKAGES = ["cmocka", "zlib", "libdeflate", "libisal", "yaml-0.1", "hdf5"]
RIGHT_SECONDS = 900  # limit for a trial with no mutant selected
LOOK_AHEAD = "tests/primitives/scan/look_ahead_kernels.cu"  # with tiles and grids small enough for a trial
LOOK_AHEAD_OBJECT = "tests/CMakeFiles/sluice_tests.dir/emulated/tests_primitives_scan_look_ahead_kernels.cpp.o"
RACES = ["barrier gone", "warp barrier gone", "fence gone", "release relaxed", "acquire relaxed"]  # only ThreadSanitizer finds all of these
KERNELS = ["primitives/scan", "primitives/compact", "primitives/sort", "primitives/global_sort", "primitives/deflate", "primitives/deflate/encoder",
           "primitives/kernel/item_loops.cuh", "primitives/kernel/look_back.cuh", "stages", "stages/counting", "stages/device", "stages/fused",
           "stages/rounds"]

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


# text replaces the characters start .. end - 1 of the line with the index line; whole is the changed line.
Mutant = collections.namedtuple("Mutant", "file line what start end text whole")


def mutants_of(name):
    """The mutants of a file, one per match of a pattern, in the order of their places."""
    found = []
    for number, line in enumerate(open(os.path.join(ROOT, name)).read().split("\n")):
        if not is_code(line):
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
    known = set()
    for line in open(os.path.join(HERE, "equivalent.txt")):
        if line.strip() and not line.startswith("#"):
            name, rest = line.split("|", 1)
            known.add((name.strip(), rest.rsplit("|", 1)[0].strip()))
    return known


def write_copy(tree, mutants):
    """Writes the kernels to the folder tree, with all mutants; SLUICE_MUTANT selects them by number, from 1."""
    for folder in ("primitives", "stages"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(tree, folder))
    for name, numbered in itertools.groupby(enumerate(mutants, 1), key=lambda pair: pair[1].file):
        lines = open(os.path.join(ROOT, name)).read().split("\n")
        for number, m in sorted(numbered, reverse=True):  # from the right, because start and end refer to the unchanged line
            chosen = m.text.replace("MUTANT", "(sluice_mutant == %d)" % number)
            lines[m.line] = lines[m.line][: m.start] + chosen + lines[m.line][m.end :]
        open(os.path.join(tree, name), "w").write("\n".join(lines))


class Build:
    """The build of a preset: its compile commands of the emulated kernels and of a test, and its libraries."""

    def __init__(self, preset):
        self.preset = preset
        self.kernels = {}
        folder = os.path.join(ROOT, "build", preset)
        for entry in json.load(open(os.path.join(folder, "compile_commands.json"))):
            if "/emulated/" in entry["file"]:
                source = re.search(r'#include "([^"]+)"', open(entry["file"]).read())[1]
                if not source.startswith("tests/"):
                    self.kernels[source] = entry
                if source.startswith("primitives/scan/"):
                    self.kernels[LOOK_AHEAD] = entry  # any scan will do: the build with ThreadSanitizer does not have that test
            elif entry["file"].endswith("tests/cases/case.c"):
                self.case = entry
        self.libraries = [os.path.join(folder, name) for name in LIBRARIES]
        self.look_ahead = os.path.join(folder, LOOK_AHEAD_OBJECT)

    def missing(self, sources):
        """The kernels of trials that are compiled beside sources: none if the build has them as they are."""
        return {LOOK_AHEAD} if "primitives/scan/shared.cu" in sources or not os.path.exists(self.look_ahead) else set()

    def compile(self, entry, source, output, tree):
        """Compiles a source with the headers of tree, without UBSan, which takes a third of the compile time."""
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = output
        words = [words[0], "-I" + tree] + [w for w in words[1:] if w not in (entry["file"], "-g1")]
        words += ["-w", "-fno-sanitize=undefined", "-include", os.path.join(HERE, "mutant.h")]
        run_or_end(words + (["-x", "c++"] if source.endswith(".cu") else []) + [source], entry["directory"])
        return output

    def link(self, objects, program, sources):
        objects = objects + ([] if self.missing(sources) else [self.look_ahead])
        sanitize = "-fsanitize=" + ("thread" if self.preset == "thread" else "address,undefined")
        libraries = shlex.split(subprocess.check_output(["pkg-config", "--libs", *PACKAGES], text=True))
        run_or_end(["cc", sanitize, *objects, *self.libraries, "-o", program, *libraries, "-lpthread", "-ldl", "-lm"], ROOT)


def run_or_end(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (shlex.join(words), (done.stdout + done.stderr)[-4000:]))


def users_of(names, sources):
    """For each file the kernel sources that include it, as the compiler lists them."""
    users = {name: [] for name in names}
    for source in sorted(sources):
        words = ["c++", "-MM", "-DSL_EMULATED", "-I" + ROOT, "-std=c++20", "-x", "c++", os.path.join(ROOT, source)]
        seen = subprocess.check_output(words, text=True).replace("\\\n", " ").split()
        for name in names:
            if os.path.join(ROOT, name) in map(os.path.normpath, seen):
                users[name].append(source)
    return users


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
    limited = ["sh", "-c", 'ulimit -t %d; exec "$@"' % seconds, "sh", *words]
    trial = subprocess.Popen(limited, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(trial.pid, 0)
    trial.returncode = os.waitstatus_to_exitcode(status)
    return trial.returncode, used.ru_utime + used.ru_stime


def how_found(code):
    return {0: None, RACE: "race", -signal.SIGKILL: "no end", -signal.SIGXCPU: "no end"}.get(code, "wrong answer")


class NotRight(Exception):
    """A trial fails with no mutant selected."""


class Trials:
    """The two builds, each with a trial program that contains all mutants."""

    def __init__(self, work, mutants, pool, presets, users):
        self.builds = [Build(preset) for preset in presets]
        self.ways = [(build, ["brief"]) for build in self.builds] + [(self.builds[0], [])]  # the fastest first
        tree = os.path.join(work, "tree")
        write_copy(tree, mutants)
        self.users = users
        self.sources = sorted({source for sources in users.values() for source in sources})
        self.program = {build: os.path.join(work, build.preset) for build in self.builds}
        self.seconds, self.locks = {}, collections.defaultdict(threading.Lock)
        jobs = []
        for build in self.builds:
            trial = os.path.join(HERE, "trial.c")
            output = "%s.%%d.o" % self.program[build]
            jobs.append((build, build.case, trial, output % 0, ROOT))
            for k, source in enumerate({*self.sources, *build.missing(self.sources)}, 1):
                jobs.append((build, build.kernels[source], os.path.join(ROOT if source == LOOK_AHEAD else tree, source), output % k, tree))
        jobs.sort(key=lambda job: -os.path.getsize(job[2]))  # the largest first: it takes as long as several others
        objects = list(pool.map(lambda job: (job[0], job[0].compile(*job[1:])), jobs))
        for build in self.builds:
            build.link([o for b, o in objects if b is build], self.program[build], self.sources)

    def seconds_of(self, way, trial):
        """Seconds of a trial with no mutant selected, which must pass; measured at the first call."""
        with self.locks[way, trial]:
            if (way, trial) not in self.seconds:
                build, words = self.ways[way]
                code, self.seconds[way, trial] = run([self.program[build], trial, *words], 0, RIGHT_SECONDS)
                if code != 0:
                    raise NotRight("mutants.py: the trial %s fails without a mutant (build/%s): the kernels or the trial are wrong; "
                                   "run scripts/test.sh %s" % (trial, build.preset, build.preset))
            return self.seconds[way, trial]

    def try_right(self, pool):
        """Runs the brief trials with no mutant selected. Long trials run when the first mutant needs them."""
        brief = [way for way, (_, words) in enumerate(self.ways) if words]
        trials = [(way, trial) for way in reversed(brief) for trial in sorted(set(map(trial_name, self.sources)))]
        list(pool.map(lambda one: self.seconds_of(*one), trials))

    def try_one(self, number, mutant):
        """Returns how the mutant was found, None if it survives, and the processor time in seconds."""
        took = 0
        for way, (build, words) in enumerate(self.ways):
            for trial in sorted(set(map(trial_name, self.users[mutant.file])), key=lambda t: self.seconds_of(0, t)):
                patience = math.ceil(2 + 2 * self.seconds_of(way, trial))
                code, seconds = run([self.program[build], trial, *words], number, patience)
                took += seconds
                if how_found(code):
                    return how_found(code), took
        return None, took


def print_file(name, results, all_of_them):
    """Prints a line for the file, and one for each mutant that survives, or for each mutant."""
    ways = collections.Counter(how for _, (how, _) in results if how)
    print("%-36s %2d of %2d found: %s" % (name, sum(ways.values()), len(results),
                                         ", ".join("%s %d" % way for way in ways.most_common())), flush=True)
    for m, (how, seconds) in results:
        if all_of_them or not how:
            print("  line %-4d %-28s %-12s %5.1f s  %s" % (m.line + 1, m.what, how or "SURVIVES", seconds, m.whole), flush=True)


def try_all(mutants, jobs, all_of_them):
    """Tries all mutants; returns the number of those that survive."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="mutants.") as work, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        start = time.time()
        users = users_of({m.file for m in mutants}, Build("sanitize").kernels)
        trials = Trials(work, mutants, pool, ["sanitize", "thread"], users)
        built = time.time()
        trials.try_right(pool)
        print("built in %.0f s, tried without a mutant in %.0f s" % (built - start, time.time() - built), flush=True)
        results = pool.map(trials.try_one, itertools.count(1), mutants)
        for name, of_file in itertools.groupby(zip(mutants, results), key=lambda pair: pair[0].file):
            of_file = list(of_file)
            print_file(name, of_file, all_of_them)
            missed += sum(not how for _, (how, _) in of_file)
    return missed


def included(name):
    """The kernel files that a file includes, itself first; names are below the folder of the file that includes them, or the root."""
    found = [name]
    for path in found:
        for to in re.findall(r'^#include "([^"]+\.cuh)"', open(os.path.join(ROOT, path)).read(), re.M):
            beside = os.path.join(os.path.dirname(path), to)
            to = beside if os.path.exists(os.path.join(ROOT, beside)) else to
            if to not in found:
                found.append(to)
    return found


def one_source(number, known):
    """
    A kernel source, its mutants that need no ThreadSanitizer, the number of the first one to try, and the files that no other source
    includes: trials of others may find the mutants of the rest.
    """
    files = list(kernel_files())
    sources = [name for name in files if name in Build("sanitize").kernels]
    source = sources[number % len(sources)]
    shared = {name for other in sources if other != source for name in included(other)}
    used = [name for name in included(source) if name in files]
    mutants = [m for name in used for m in mutants_of(name) if m.what not in RACES and (m.file, m.whole) not in known]
    return source, mutants, number // len(sources) * 7, set(used) - shared


def try_source(number, known, jobs, most):
    """Tries mutants of one source until they have used that many seconds of the processors; returns how many survive."""
    start = time.time()
    source, mutants, first, own = one_source(number, known)
    used, missed = [0], []

    def try_mutant(numbered):
        k, m = numbered
        for way, (build, words) in enumerate(trials.ways):
            left = most - used[0]
            if left <= 0:
                return 0
            patience = 2 + 2 * trials.seconds_of(0, trial) if words else left
            code, seconds = run([trials.program[build], trial, *words], k, math.ceil(patience))
            used[0] += seconds
            if how_found(code):
                return bool(words) or how_found(code) != "no end"  # at the end of the time, the answer is not known
        if m.file in own:
            missed.append(m)
        return 1

    with tempfile.TemporaryDirectory(prefix="mutants.") as work, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        trials, trial = Trials(work, mutants, pool, ["sanitize"], {m.file: [source] for m in mutants}), trial_name(source)
        trials.try_right(pool)
        built = time.time()
        order = list(enumerate(mutants, 1))
        first %= max(1, len(order))
        tried = sum(pool.map(try_mutant, order[first:] + order[:first]))
    for m in missed:
        print("%s:%d: %s SURVIVES: %s" % (m.file, m.line + 1, m.what, m.whole))
    print("%s: %d of its %d mutants tried, %d not found; built in %.0f s, tried in %.0f s"
          % (source, tried, len(mutants), len(missed), built - start, time.time() - built))
    return len(missed)


def read_share(text):
    """"K/N" as two numbers."""
    match = re.fullmatch(r"(\d+)/([1-9]\d*)", text)
    if not match:
        raise argparse.ArgumentTypeError("'%s' is not K/N with N above 0; write, for example, 1/12" % text)
    return int(match[1]), int(match[2])


def read_jobs(text):
    if not re.fullmatch(r"[1-9]\d*", text):
        raise argparse.ArgumentTypeError("'%s' is not a number of processes, 1 or more; write, for example, 2" % text)
    return int(text)


def build_libraries(presets):
    """Builds what the trials link with, as far as it is not up to date."""
    for preset in presets:
        run_or_end(["cmake", "--preset", preset, "-DSLUICE_TESTS=ON"], ROOT)
        run_or_end(["cmake", "--build", "--preset", preset, "--target", "sluice_support", "sluice_faults"], ROOT)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="mutants of files whose path contains this text")
    parser.add_argument("--share", default="0/1", type=read_share, help="every N-th mutant, from the K-th: K/N")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument("--all", action="store_true", help="print how each was found")
    parser.add_argument("--one", type=int, metavar="N", help="a part of the mutants of one kernel source, with AddressSanitizer only")
    parser.add_argument("--seconds", type=float, default=60, help="of the processors, for the trials of --one")
    parser.add_argument("--jobs", type=read_jobs, default=os.cpu_count())
    options = parser.parse_args()
    start = time.time()
    known = equivalents()
    if options.one is not None:
        build_libraries(["sanitize"])
        try:
            return 1 if try_source(options.one, known, options.jobs, options.seconds) else 0
        except NotRight as problem:
            sys.exit(str(problem))
    mutants = [m for name in kernel_files() if options.only in name for m in mutants_of(name)]
    gone = {k for k in known if options.only in k[0]} - {(m.file, m.whole) for m in mutants}
    for name, text in sorted(gone):
        print("equivalent.txt: %s has no mutant with the line below; correct or remove the entry\n  %s" % (name, text))
    mutants = [m for m in mutants if (m.file, m.whole) not in known]
    share, shares = options.share
    mutants = mutants[share % shares::shares]
    if options.list:
        for m in mutants:
            print("%s:%d: %s: %s" % (m.file, m.line + 1, m.what, m.whole))
        return 0
    if not mutants:
        sys.exit("mutants.py: no mutant to try: --only '%s' and --share %d/%d select none; --list shows the mutants"
                 % (options.only, share, shares))
    build_libraries(["sanitize", "thread"])
    try:
        missed = try_all(mutants, options.jobs, options.all)
    except NotRight as problem:
        sys.exit(str(problem))
    print("%d mutants, share %d/%d of all, %d not found, %.0f s" % (len(mutants), share, shares, missed, time.time() - start))
    return 1 if missed or gone else 0


if __name__ == "__main__":
    sys.exit(main())
