"""common.py - what the scripts of this folder share: options, versions, alternated runs, tables, exit codes.

A script is a function that takes the parsed options and a Report. It raises NotRun if something that it
needs is missing (exit code 77) and WrongAnswer if two programs disagree (exit code 1), both before any
time is printed.
"""
import argparse
import csv
import json
import os
import platform
import re
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_RUN = 77
# Stages of times.thread_seconds in run.json that are no part of the figure "before compression".
AFTER_COMPUTING = ("transfer", "compress", "assemble", "commit")
COLUMNS = ("work", "program", "quantity", "unit", "median", "least", "largest", "runs",
           "sluice_times", "sluice_times_least", "sluice_times_largest")


class NotRun(Exception):
    """Something that the comparison needs is missing; the message is one sentence that names it."""


class WrongAnswer(Exception):
    """Two programs, or a program and a published value, do not agree."""


# --- options --------------------------------------------------------------------------------------

def positive(text):
    """A whole number of at least 1, such as 1000000, 1e6 or 2^20."""
    base, _, power = text.partition("^")
    try:
        value = float(base) ** float(power or 1)
    except (ValueError, ArithmeticError):
        value = 0
    if not value >= 1 or value != int(value):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return int(value)


def positives(text):
    return [positive(word) for word in text.split(",")]


MORE = {
    "--bench": {"default": os.path.join(ROOT, "build", "release", "sluice-bench"), "metavar": "PROGRAM",
                "help": "the program sluice-bench (default build/release/sluice-bench)"},
    "--config": {"action": "append", "metavar": "NAME",
                 "help": "configuration of a slab (default vandehulst and isotropic_099); can be repeated"},
    "--device": {"default": "cuda", "metavar": "DEVICE", "help": "device of sluice (default cuda)"},
    "--threads": {"type": positive, "default": 1, "metavar": "N", "help": "threads of sluice (default 1)"},
}


def options_of(text, *more):
    """A parser with the options of all scripts, and some of MORE; the text is the docstring of the script."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=positive, default=5, metavar="N",
                        help="measured runs of each program, in alternation (default 5)")
    parser.add_argument("--csv", metavar="FILE", help="also write the results to FILE")
    parser.add_argument("--sluice", default=os.path.join(ROOT, "build", "release", "sluice"), metavar="PROGRAM",
                        help="the program sluice (default build/release/sluice)")
    parser.add_argument("--dir", metavar="DIR", help="folder for temporary files (default: that of the system)")
    for name in more:
        parser.add_argument(name, **MORE[name])
    return parser


def run_script(compare, parser):
    """Parses the command line, calls compare(options, report) and prints the report. Ends the process."""
    options = parser.parse_args()
    name = os.path.basename(sys.argv[0])
    options.work = None
    try:
        options.work = tempfile.mkdtemp(prefix="peers-", dir=options.dir)
        report = Report(options)
        compare(options, report)
        report.finish()
        code = 0
    except NotRun as e:
        print(f"{name}: not run: {e}", file=sys.stderr)
        code = NOT_RUN
    except (WrongAnswer, OSError) as e:
        print(f"{name}: error: {e}", file=sys.stderr)
        code = 1
    finally:
        if options.work:
            shutil.rmtree(options.work, ignore_errors=True)
    sys.exit(code)


def require(module, package):
    """Imports a module of a Python package."""
    try:
        return __import__(module, fromlist=["_"])
    except ImportError as e:
        raise NotRun(f"the Python package {package} is missing ({e}); install it for {sys.executable}") from e


def require_program(path, what):
    """The absolute path of a program, which may be a name to be found in PATH."""
    found = shutil.which(path)
    if not found:
        raise NotRun(f"{what} is missing ('{path}' is not a program)")
    return os.path.abspath(found)


# --- programs -------------------------------------------------------------------------------------

def run(words, **how):
    """Runs a program and returns its stdout as text; WrongAnswer contains what it printed if it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace", check=False, **how)
    if done.returncode != 0:
        raise WrongAnswer(f"'{shlex.join(words)}' ended with exit code {done.returncode}:\n"
                          f"{(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def clocks(call):
    """Calls a function; seconds from start to end, of processor time in all threads and child processes, its result."""
    start, before = time.perf_counter(), used_seconds()
    result = call()
    return time.perf_counter() - start, used_seconds() - before, result


def used_seconds():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def sluice_words(options, config, *words, out="run", sets=()):
    """The command that runs a configuration, given by path or name, and prints run.json. sets: for --set."""
    return [require_program(options.sluice, "the program sluice"), "run", config_path(config), "--json", "--quiet",
            "--force", "--out", os.path.join(options.work, out), *words, *(word for s in sets for word in ("--set", s))]


def bench_rows(options, *words, **wanted):
    """Runs sluice-bench primitives; the rows of its table with the wanted values."""
    table = os.path.join(options.work, "bench.csv")
    run([require_program(options.bench, "the program sluice-bench"), "primitives", *words, "--csv", table], cwd=ROOT)
    with open(table, encoding="utf-8", newline="") as f:
        return [row for row in csv.DictReader(line for line in f if not line.startswith("#"))
                if all(row[key] == value for key, value in wanted.items())]


def write_file(options, name, text):
    """The path of a new file of text."""
    path = os.path.join(options.work, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def write_list(options, config, name, *words, sets=()):
    """The path of a list (MCPL): the joined file of a run on the CPU."""
    result = json.loads(run(sluice_words(options, config, "--device", "cpu", *words, sets=sets)))
    path = os.path.join(options.work, name)
    os.replace(os.path.join(options.work, "run", result["joined"]), path)
    return path


def write_reference(options, name, *sets):
    """The same of data/configs/reference.yaml, with half of --particles particles."""
    return write_list(options, "reference", name, sets=(
        "check={}", f"run.particles={options.particles}", "run.batch=auto", "output.format=mcpl", "output.columns=[]",
        "output.joined=true", *sets))


def config_path(config):
    """The file of a configuration given by its path or by its name in data/configs."""
    path = config if os.path.sep in config or config.endswith(".yaml") else os.path.join(
        ROOT, "data", "configs", config + ".yaml")
    if not os.path.exists(path):
        raise NotRun(f"the configuration '{config}' is missing ({path} does not exist)")
    return path


def computing_seconds(result):
    """Seconds before compression, from run.json: all stages up to the finished columns of the survivors."""
    return sum(s for stage, s in result["times"]["thread_seconds"].items() if stage not in AFTER_COMPUTING)


def name_of(config):
    return os.path.splitext(os.path.basename(config))[0]


def slab_of(options, config):
    """The properties of the slab of a configuration, in cm, and the published fractions it is checked with."""
    shown = run(sluice_words(options, config, "--print-config"))
    slab = dict(re.findall(r"^    (\w+): (.+)$", shown.partition("\n  slab:\n")[2].partition("\ntransport:")[0], re.M))
    if not slab or "[" in str(slab) or slab.get("incidence") != "normal":
        raise NotRun(f"{config} is not a slab of one layer with normal incidence, which is the only kind compared")
    cm = {"nm": 1e-7, "um": 1e-4, "mm": 0.1, "cm": 1.0, "m": 100.0, "km": 1e5}
    values = {}
    for key in ("mu_a", "mu_s", "g", "thickness", "n", "n_above", "n_below"):
        number, _, unit = slab[key].partition(" ")
        factor = 1 / cm[unit[1:]] if unit.startswith("/") else cm[unit] if unit else 1
        values[key] = float(number) * factor
    result = json.loads(run(sluice_words(options, config, "--device", "cpu",
                                         sets=("run.particles=2e5", "keep=max_steps"))))
    fates = result["tallies"]["fates"]
    published = {name: fate["check"]["expected"] for name, fate in fates.items() if "check" in fate}
    return values, published


# --- versions -------------------------------------------------------------------------------------

def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return re.search(r"^model name\s*:\s*(.*)$", f.read(), re.M).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def sluice_version(options):
    """Version and commit of the program, such as '0.1.0, commit 5f54069, C 12.2.0'."""
    shown = run([require_program(options.sluice, "the program sluice"), "version"])
    words = dict(line.split(None, 1) for line in shown.splitlines() if len(line.split(None, 1)) == 2)
    compiler = words.get("compilers", "").partition(",")[0]
    return f"{words.get('sluice', '?')}, commit {words.get('commit', '?')}, {compiler}"


def package_version(name):
    from importlib import metadata
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def driver_version():
    """The line of NVIDIA's kernel module, or ''."""
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as f:
            return f.readline().strip()
    except OSError:
        return ""


# --- measuring ------------------------------------------------------------------------------------

def alternate(programs, repeat):
    """Calls each function of a dict repeat times, in alternation; the values of each in order.

    Every second round goes backwards, so that no program always runs after the same other program.
    """
    values = {name: [] for name in programs}
    for k in range(repeat):
        for name in list(programs)[::-1 if k % 2 else 1]:
            values[name].append(programs[name]())
    return values


def agree(what, found, expected, tolerance):
    """Raises WrongAnswer unless found is within the tolerance of expected."""
    if not abs(found - expected) <= tolerance:
        raise WrongAnswer(f"{what} is {found:.7g}, expected {expected:.7g} to within {tolerance:.2g}; "
                          "no time is printed")


class Report:
    """Origin and rows of a comparison; printed as a table and written as CSV."""

    def __init__(self, options):
        self.options = options
        self.about = {
            "device": "CPU",
            "host": f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()} "
                    f"{platform.machine()}",
            "sluice": sluice_version(options),
            "peer": "",
        }
        self.started = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        self.rows = []

    def origin(self, key, text):
        """Sets a line of the origin."""
        self.about[key] = text

    def row(self, work, program, quantity, unit, values, ours=None, higher_is_better=True):
        """Adds a row. ours: the values of sluice in the same rounds; the ratios are those of each round."""
        ratios = []
        if ours:
            ratios = [o / v if higher_is_better else v / o for o, v in zip(ours, values)]
        self.rows.append((work, program, quantity, unit, *spread(values), len(values),
                          *(spread(ratios) if ratios else ("", "", ""))))

    def times(self, work, times):
        """Adds rows of what clocks() returned for each program; the first one is sluice."""
        ours = list(times)[0]
        for name, values in times.items():
            for k, quantity in enumerate(("from start to end", "processor time")):
                self.row(work, name, quantity, "s", [v[k] for v in values],
                         [v[k] for v in times[ours]] if name != ours else None, higher_is_better=False)

    def finish(self):
        print(self.lines(), end="")
        width = [max(len(r[k]) for r in self.rows) for k in range(4)]
        for r in self.rows:
            text = "  ".join(r[k].ljust(width[k]) for k in (0, 1, 2))
            line = f"{text}  {r[4]:>10.4g} ({r[5]:.4g} to {r[6]:.4g}) {r[3]}"
            if r[8] != "":
                line += f"; sluice {r[8]:.3g} times ({r[9]:.3g} to {r[10]:.3g})"
            print(line)
        if self.options.csv:
            self.write()

    def lines(self):
        """The origin as comments; command and date come last."""
        command = shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
        about = {**self.about, "command": command, "date": self.started}
        return "".join(f"# {key}: {text}\n" for key, text in about.items() if text)

    def write(self):
        with open(self.options.csv, "w", encoding="utf-8", newline="") as f:
            f.write(self.lines())
            out = csv.writer(f, lineterminator="\n")
            out.writerow(COLUMNS)
            for r in self.rows:
                out.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in r])


def spread(values):
    return float(statistics.median(values)), float(min(values)), float(max(values))
