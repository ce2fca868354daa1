#!/usr/bin/env python3
"""run.py - checks README.md, CHANGELOG.md and docs/: runs what they show, follows their links.

    run.py SLUICE SOURCE [--update] [FILE.md...]

SLUICE is the program, SOURCE the root of the repository. Fenced blocks are treated by their language:

    sh        a script for bash, which must end with exit code 0
    console   lines that begin with "$ " are commands; the lines below each are its output, where a
              line "..." matches any lines; the last line "[exit code N]" is an expected failure
    python    a script for python3; skipped where a module that it imports is not installed
    yaml      saved in the working folder where the first line is a comment "# NAME.yaml"
    diff      not run, and not checked for long lines or unknown functions (see extending.py)
    others    not run (text, c, ...)

All blocks of one document run in order in one temporary folder, which has links to data/, scripts/
and the like, with SLUICE on the PATH and no GPU visible. Without FILE.md, all documents are checked, and
with SLUICE_ONE_IN=N, at least 3, the scripts of a third of them run, which SLUICE_SHARE selects.
--update replaces what is generated: the output in console blocks and the reference in
docs/configuration.md. Needs the standard library only.
"""
import functools
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time

COLUMNS, TABLE_COLUMNS, README_LINES, SECONDS = 100, 120, 200, 120
LONG_LINES = ("console", "text", "diff")  # languages of blocks whose lines may be longer
MARKER = "<!-- The rest is what `sluice help --markdown` prints; tests/docs/run.py --update fits it. -->\n"
LINKED = ("data", "scripts", "bench", "docs", "primitives")


class Block:
    """A fenced block: its language, the number of its first line, its lines, and those that --update writes."""

    def __init__(self, language, at):
        self.language, self.at, self.lines, self.shown = language, at, [], None

    def text(self):
        return "".join(line + "\n" for line in self.lines)

    def numbers(self):
        return range(self.at, self.at + len(self.lines))


@functools.cache
def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def blocks_of(lines):
    """The fenced blocks of a document, and the indices of all lines inside of them."""
    blocks, inside, block = [], set(), None
    for i, line in enumerate(lines):
        fence = re.match(r"\s*```(\S*)", line)
        if fence and block is None:
            block = Block(fence.group(1), i + 1)
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block.lines.append(line)
            inside.add(i)
    return blocks, inside


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@functools.cache
def anchors_of(path):
    lines = read(path).splitlines()
    _, inside = blocks_of(lines)
    return {slug(m.group(1)) for i, line in enumerate(lines) if i not in inside
            for m in [re.match(r"#+ (.*)", line)] if m}


class Checker:
    def __init__(self, sluice, source, update, cache):
        self.cache = cache  # list of fonts of matplotlib, which takes ten seconds to make
        self.sluice, self.source, self.update = os.path.abspath(sluice), os.path.abspath(source), update
        self.problems, self.skipped, self.run_blocks = [], [], 0
        self.functions = {name for top in ("primitives", "stages", "pipeline")
                          for folder, _, files in os.walk(os.path.join(self.source, top)) for file in files
                          if file.endswith((".c", ".h", ".cu", ".cuh"))
                          for name in re.findall(r"\b(sl_\w+)\(", read(folder, file))}

    def problem(self, name, line, text):
        self.problems.append(f"{name}:{line}: {text}")

    def check_lines(self, name, lines, blocks, inside):
        """Lengths of lines, languages of blocks, and functions `sl_name()`, which are in the sources, unless a diff adds them."""
        output = {k for b in blocks if b.language in LONG_LINES for k in b.numbers()}
        diffs = {k for b in blocks if b.language == "diff" for k in b.numbers()}
        for i, line in enumerate(lines):
            limit = TABLE_COLUMNS if line.lstrip().startswith("|") and i not in inside else COLUMNS
            if len(line) > limit and i not in output:
                self.problem(name, i + 1, f"{len(line)} columns, at most {limit} are allowed; break the line")
            for function in () if i in diffs else re.findall(r"\b(sl_\w+)\(", line):
                if function not in self.functions:
                    self.problem(name, i + 1, f"{function}(): there is no such function in the sources")
        for b in blocks:
            if not b.language:
                self.problem(name, b.at, "a block without a language; use sh, console, text, ...")

    def check_links(self, name, lines, inside):
        document = os.path.join(self.source, name)
        for i, line in enumerate(lines):
            prose = "" if i in inside else re.sub(r"`[^`]*`", "", line)
            for text, target in (re.findall(r"\[([^]]*)\]\(([^)\s]+)", prose)
                                 + re.findall(r"^\[([^]]*)\]: (\S+)", prose)):
                if re.search(r"\.(c|h|cu|cuh|def)$", text) and not ("/" + target).endswith("/" + text):
                    self.problem(name, i + 1, f"link to {target}: its text is {text}")
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                path = os.path.join(os.path.dirname(document), path) if path else document
                if not os.path.exists(path):
                    self.problem(name, i + 1, f"link to {target}: there is no such file")
                elif anchor and path.endswith(".md") and anchor not in anchors_of(path):
                    self.problem(name, i + 1, f"link to {target}: there is no such heading")

    def check_reachable(self, documents):
        """Each file of docs/ is linked from README.md."""
        text = read(self.source, "README.md")
        if text.count("\n") > README_LINES:
            self.problem("README.md", 1, f"{text.count(chr(10))} lines, at most {README_LINES} are allowed")
        for name in documents:
            if name.startswith("docs/") and name not in text:
                self.problem("README.md", 1, f"no link to {name}")

    def check_configuration(self):
        path = os.path.join(self.source, "docs", "configuration.md")
        text = subprocess.run([self.sluice, "help", "--markdown"], check=True, capture_output=True, text=True).stdout
        head, marker, rest = read(path).partition(MARKER)
        if not marker:
            self.problem("docs/configuration.md", 1, f"has no line {MARKER.strip()}")
        elif rest != "\n" + text and self.update:
            write(path, head + MARKER + "\n" + text)
        elif rest != "\n" + text:
            self.problem("docs/configuration.md", 1,
                         "is not what sluice help --markdown prints; run tests/docs/run.py --update")

    def check_exit_codes(self):
        defined = re.findall(r'^SL_STATUS\((\w+), (\d+), ".*"\)$', read(self.source, "primitives/base/status.def"), re.M)
        rows = re.findall(r"^\| (\d+) \| `SL_(\w+)` \|", read(self.source, "docs/running.md"), re.M)
        if [(code, name) for name, code in defined] != rows:
            self.problem("docs/running.md", 1, "its table is not that of primitives/base/status.def")

    def check_packages(self):
        """The commands for pip and the message of CMake name the packages that scripts/setup.sh installs."""
        packages = re.search(r'^BUILD_PACKAGES="(.*)"$', read(self.source, "scripts/setup.sh"), re.M).group(1).split()
        for name in ("README.md", "docs/python.md", "CMakeLists.txt"):
            for package in packages:
                if package not in ("cmake", "ninja-build") and package not in read(self.source, name):  # pip fetches these
                    self.problem(name, 1, f"does not name the package {package}, which the build needs")

    def run_script(self, name, block, folder, *argv):
        """Its output, to which the exit code is appended if it is not 0."""
        path = ":".join([folder + "/.bin", os.path.dirname(sys.executable), os.environ["PATH"]])
        env = dict(os.environ, PATH=path, HOME=folder, CUDA_VISIBLE_DEVICES="", LC_ALL="C.UTF-8",
                   PYTHONDONTWRITEBYTECODE="1", MPLCONFIGDIR=self.cache)
        for name_of_user in ("XDG_CONFIG_HOME", "SL_FAULT", "SL_EMULATOR", "SL_LEVEL"):
            env.pop(name_of_user, None)
        self.run_blocks += 1
        done = subprocess.run(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=SECONDS, errors="replace")
        return [line.rstrip() for line in done.stdout.splitlines()] + [f"[exit code {done.returncode}]"] * bool(done.returncode)

    def expect_success(self, name, block, folder, *argv):
        output = self.run_script(name, block, folder, *argv)
        if output and output[-1].startswith("[exit code"):
            self.problem(name, block.at, "\n".join(output))

    def is_installed(self, name, block, modules):
        missing = [m for m in sorted(modules) if importlib.util.find_spec(m) is None]
        if missing:
            self.skipped.append(f"{name}:{block.at}: python3 has no module {', '.join(missing)}")
        return not missing

    def run_block(self, name, block, folder):
        text = block.text()
        title = re.match(r"# (\S+\.yaml)\n", text)
        if block.language == "yaml" and title:
            write(os.path.join(folder, title.group(1)), text)
        elif block.language == "python":
            imported = ",".join(re.findall(r"^\s*(?:import|from) (.+)", text, re.M))
            if self.is_installed(name, block, set(re.findall(r"(?:^|,)\s*(\w+)", imported))):
                self.expect_success(name, block, folder, sys.executable, "-c", text)
        elif block.language == "sh":
            if "scripts/plot" not in text or self.is_installed(name, block, {"h5py", "matplotlib"}):
                self.expect_success(name, block, folder, "bash", "-euxo", "pipefail", "-c", text)
        elif block.language == "console":
            self.run_console(name, block, folder)

    def run_console(self, name, block, folder):
        """Runs each command and compares its output; with --update, block.shown gets the output."""
        block.shown = []
        for text in re.findall(r"^\$ .*\n(?:(?!\$ ).*\n)*", block.text(), re.M):
            command, *expected = text.splitlines()
            actual = self.run_script(name, block, folder, "bash", "-uo", "pipefail", "-c", command[2:])
            if self.update and "..." not in expected:
                expected = actual
            elif not matches(expected, actual):
                self.problem(name, block.at, "\n".join([command, "prints", *actual, "", "but the document shows", *expected]))
            block.shown += [command, *expected]
        if not block.lines or not block.lines[0].startswith("$ "):
            self.problem(name, block.at, "a console block begins with a command, '$ COMMAND'")

    def run_blocks_of(self, name, blocks):
        with tempfile.TemporaryDirectory(prefix="sluice-docs-") as folder:
            for link in LINKED:
                os.symlink(os.path.join(self.source, link), os.path.join(folder, link))
            os.mkdir(folder + "/.bin")
            for program in ("sluice", "sluice-bench"):
                os.symlink(os.path.join(os.path.dirname(self.sluice), program), f"{folder}/.bin/{program}")
            for block in blocks:
                self.run_block(name, block, folder)

    def check_document(self, name, runs):
        path = os.path.join(self.source, name)
        lines = read(path).splitlines()
        blocks, inside = blocks_of(lines)
        self.check_lines(name, lines, blocks, inside)
        self.check_links(name, lines, inside)
        if runs:
            self.run_blocks_of(name, blocks)
        for block in reversed(blocks):
            if self.update and block.shown not in (None, block.lines):
                lines[block.at:block.at + len(block.lines)] = block.shown
                write(path, "".join(line + "\n" for line in lines))


def matches(expected, actual):
    """Returns true if the lines are equal. A line "..." matches any number of lines."""
    if not expected:
        return not actual
    if expected[0] == "...":
        return any(matches(expected[1:], actual[k:]) for k in range(len(actual) + 1))
    return bool(actual) and expected[0] == actual[0] and matches(expected[1:], actual[1:])


def check(words, cache):
    checker = Checker(words[0], words[1], "--update" in sys.argv, cache)
    documents = ["README.md", "CHANGELOG.md"] + [
        "docs/" + name for name in sorted(os.listdir(os.path.join(checker.source, "docs"))) if name.endswith(".md")]
    checker.check_configuration()
    checker.check_exit_codes()
    checker.check_packages()
    checker.check_reachable(documents)
    n = 1 if words[2:] or checker.update else min(int(os.environ.get("SLUICE_ONE_IN", 1)), 3)
    for i, name in enumerate(words[2:] or documents):
        start = time.monotonic()
        checker.check_document(name, i % n == int(os.environ.get("SLUICE_SHARE", 0)) % n)
        print(f"{name}: {time.monotonic() - start:.1f} s")
    for text in checker.skipped:
        print("skipped:", text)
    for text in checker.problems:
        print(text, file=sys.stderr)
    print(f"{len(documents)} documents, {checker.run_blocks} scripts run, {len(checker.problems)} problems")
    sys.exit(1 if checker.problems else 0)


def main():
    words = [w for w in sys.argv[1:] if w != "--update"]
    if len(words) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="sluice-docs-cache-") as cache:
        check(words, cache)


main()
