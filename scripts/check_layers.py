#!/usr/bin/env python3
"""Checks the structure of the source tree and prints file and line of each violation.

	scripts/check_layers.py [--summary]

The rules, for primitives/, stages/, pipeline/, python/ and bench/:

  - A file includes and calls only files of its own folder and of folders that precede it in
    cmake/layers.txt.
  - Files do not include each other in a cycle.
  - A function with external linkage is declared in the header that has the name of the file that
    defines it (x.h for x.c, x.cu) or of its folder (x/x.h), or in the interface headers listed in
    INTERFACES.
  - No folder has more than MAX_FILES source files.
  - In primitives/, stages/ and pipeline/, no two files define a type, a macro or a public enumerator
    (SL_*) of the same name, except the names in TWINS. A macro that its own file undefines is a
    parameter of a .def list and may occur again.

Functions are found by the layout that clang-format enforces: a definition starts in the first
column and its opening brace stands alone on a line. The exit code is 1 if a rule is violated.
"""
import collections
import os
import re
import subprocess
import sys

MAX_FILES = 16
TOP = ("primitives", "stages", "pipeline", "python", "bench")
SOURCES = (".c", ".cu", ".h", ".cuh", ".def")
# Headers that declare functions of several files, each with the reason in the header itself.
INTERFACES = {
    "primitives/primitives.h",
    "primitives/device/device.h",
    "primitives/device/device_driver.h",
    "pipeline/ranks/ranks.h",
    "pipeline/run/workers.h",
}
# Names that two files may define, each with the reason.
TWINS = {
    "sl_mbarrier": "CUDA version in kernel/bulk.cuh, emulated version in emulator/thread.h",
    "SL_SHARED": "CUDA version in kernel/cuda.cuh, emulated version in emulator/cuda_names.h",
    "SL_SHARED_DYNAMIC": "CUDA version in kernel/cuda.cuh, emulated version in emulator/cuda_names.h",
    "SL_MODEL_HEADERS": "switch that a file sets before it includes models.def",
    "SL_MODEL_HOST": "switch that a file sets before it includes the header of a model",
    "SCORED_MODEL": "what a file does for each model with scores; models.def removes it",
    "SL_SIMD_LANES": "switch that a file sets before it includes the rules of the models",
    **{name: "scalar version in particle/lanes.h, SIMD version in particle/lanes_simd.h"
       for name in ("SL_BYTE", "SL_ITEM", "SL_MEMBER", "SL_MEMBER_FEW", "sl_f32_of", "sl_mask", "sl_select",
                    "sl_select_fate", "sl_select_u32")},
    "VALGRIND_MAKE_MEM_UNDEFINED": "empty replacement of a macro of Valgrind, where it is missing",
}
NAMED = ("primitives/", "stages/", "pipeline/")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
TAG = re.compile(r"^[ \t]*(?:typedef[ \t]+)?(?:struct|enum|union)[ \t]+"
                 r"(?:SL_\w+(?:\([^)]*\))?[ \t]+)?(\w+)[ \t]*(?::[ \t]*\w+[ \t]*)?\{", re.M)
TYPEDEF = re.compile(r"\btypedef\b[^;{]*?(?:\b(\w+)\s*;|\(\*(\w+)\)\(|\b(\w+)\()")
ENUM_BODY = re.compile(r"\benum\b[^;{()]*\{([^}]*)\}")
ENUMERATOR = re.compile(r"(?:^|,)\s*(SL_\w+)\s*(?=,|=|$)")
# Functions that are called from outside of the repository: by the system, by the interpreter of Python; and
# those of each model, which stages/models/rules.h declares.
ENTRIES = {"main", "PyInit__native", "SL_RULE_KERNEL", "SL_RULE_LOOP"}
# Programs that use the whole library: as if they stood in the last folder.
PROGRAMS = {"primitives/example.c", "primitives/example_cuda.c"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
DEFINITION = re.compile(r"^(?!static|SL_HD|SL_PRINTF|typedef|struct \w+ \{|enum \w+ \{|#|\s|/|\})[\w\s*]*?\b(\w+)\(")
# A definition whose name a macro completes: SL_NAME(sl_queue_mark)(...) {
MACRO_NAME = re.compile(r"\b(?:SL_NAME|SL_AT_LEVEL)\((\w+)\)\(")


def tracked_files():
    out = subprocess.run(["git", "ls-files", *TOP], capture_output=True, text=True, check=True)
    return [f for f in out.stdout.split() if f.endswith(SOURCES)]


def read_layers():
    with open("cmake/layers.txt", encoding="utf-8") as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    return {folder: number for number, folder in enumerate(lines)}


def without_comments(text):
    """The text with comments replaced by blanks, so that line numbers stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def resolve(file, name, files):
    for path in (name, os.path.normpath(os.path.join(os.path.dirname(file), name))):
        if path in files:
            return path
    return None


def read_includes(file, text, files):
    """(line, file) for each include of a file of the tree."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            path = resolve(file, match.group(1), files)
            if path:
                found.append((number, path))
    return found


def read_definitions(text):
    """(line, name) of each function with external linkage that the text defines."""
    lines = text.splitlines()
    found = []
    for i, line in enumerate(lines):
        match = DEFINITION.match(line)
        if not match:
            continue
        end = i
        while end < len(lines) and not lines[end].rstrip().endswith((")", ";", "{")):
            end += 1
        if end + 1 < len(lines) and lines[end].rstrip().endswith(")") and lines[end + 1] == "{":
            completed = MACRO_NAME.search(line)
            found.append((i + 1, completed.group(1) if completed else match.group(1)))
    return found


def declared_in(name, header_text):
    """By a prototype, or by a function type: "sl_loop SL_EVERY_LEVEL(sl_loop_mark);"."""
    prototype = r"^[\w\s*]+?\*?\b%s\(" % re.escape(name)
    by_type = r"^(?:SL_FOR_MODELS )?sl_\w+ (?:\w+,\s+)*(?:SL_EVERY_LEVEL\()?%s\)?[,;]" % re.escape(name)
    return re.search(f"{prototype}|{by_type}", header_text, flags=re.M) is not None


class Tree:
    def __init__(self):
        self.files = set(tracked_files())
        self.layer = read_layers()
        self.text = {}
        for file in sorted(self.files):
            with open(file, encoding="utf-8") as f:
                self.text[file] = without_comments(f.read())
        self.includes = {f: read_includes(f, t, self.files) for f, t in self.text.items()}
        self.defined = {}
        for file, text in self.text.items():
            if file.endswith((".c", ".cu")):
                for line, name in read_definitions(text):
                    self.defined.setdefault(name, []).append((file, line))

    def layer_of(self, file):
        if file in PROGRAMS:
            return len(self.layer)
        return self.layer.get(os.path.dirname(file))


def check_folders(tree):
    count = collections.Counter(os.path.dirname(f) for f in tree.files)
    for folder, n in sorted(count.items()):
        if folder not in tree.layer:
            yield f"cmake/layers.txt:1: {folder} is missing from the list"
        if n > MAX_FILES:
            yield f"{folder}: {n} source files, at most {MAX_FILES} are allowed"


def check_includes(tree):
    for file, found in sorted(tree.includes.items()):
        for line, path in found:
            mine, theirs = tree.layer_of(file), tree.layer_of(path)
            if mine is not None and theirs is not None and theirs > mine:
                yield (f"{file}:{line}: includes {path}, whose folder follows "
                       f"{os.path.dirname(file)} in cmake/layers.txt")


def check_calls(tree):
    """Calls to a function of a later folder, which a declaration elsewhere can hide."""
    single = {n: w[0][0] for n, w in tree.defined.items() if len(w) == 1 and n.startswith("sl_")}
    word = re.compile(r"\bsl_\w+")
    for file, text in sorted(tree.text.items()):
        if not file.endswith((".c", ".cu", ".cuh", ".h")):
            continue
        if file in INTERFACES:  # declares functions of later folders, calls none
            continue
        mine = tree.layer_of(file)
        for number, line in enumerate(text.splitlines(), 1):
            for name in word.findall(line):
                owner = single.get(name)
                if owner and mine is not None and tree.layer_of(owner) is not None \
                        and tree.layer_of(owner) > mine:
                    yield f"{file}:{number}: uses {name}() of {owner}, a later folder"


def check_cycles(tree):
    state, stack, found = {}, [], []

    def visit(file):
        state[file] = 1
        stack.append(file)
        for _, path in tree.includes[file]:
            if path.endswith(".def"):
                continue
            if state.get(path) == 1:
                found.append(" -> ".join(stack[stack.index(path):] + [path]))
            elif path not in state:
                visit(path)
        stack.pop()
        state[file] = 2

    for file in sorted(tree.includes):
        if file not in state:
            visit(file)
    for cycle in found:
        yield f"{cycle.split(' ')[0]}:1: files include each other in a cycle: {cycle}"


def check_declarations(tree):
    commands = tree.text.get("pipeline/args/commands.def", "")
    for name, where in sorted(tree.defined.items()):
        for file, line in where:
            # Functions that a .def list names are declared from the list (commands.def).
            if name in ENTRIES or re.search(r"\b%s\b" % name, commands):
                continue
            own = os.path.splitext(file)[0]
            folder = os.path.dirname(file)
            family = os.path.join(folder, os.path.basename(folder) + ".h")
            headers = [h for h in (own + ".h", own + ".cuh", family) if h in tree.files]
            if any(declared_in(name, tree.text[h]) for h in headers):
                continue
            if any(declared_in(name, tree.text[h]) for h in INTERFACES if h in tree.files):
                continue
            other = [h for h, t in tree.text.items()
                     if h.endswith((".h", ".cuh")) and declared_in(name, t)]
            yield (f"{file}:{line}: {name}() is declared in {', '.join(other) or 'no header'}, "
                   f"not in {own}.h or {family}")


def read_names(text):
    """(line, name) of each type, macro and public enumerator that the text defines."""
    found = []
    for match in MACRO.finditer(text):
        if not re.search(r"^[ \t]*#[ \t]*undef[ \t]+%s\b" % match.group(1), text, flags=re.M):
            found.append((match.start(), match.group(1)))
    for pattern in (TAG, TYPEDEF):
        for match in pattern.finditer(text):
            found.append((match.start(), next(filter(None, match.groups()))))
    for body in ENUM_BODY.finditer(text):
        for match in ENUMERATOR.finditer(body.group(1)):
            found.append((body.start(1) + match.start(1), match.group(1)))
    return [(text.count("\n", 0, at) + 1, name) for at, name in found]


def check_names(tree):
    where = {}
    for file, text in sorted(tree.text.items()):
        if file.startswith(NAMED) and file not in PROGRAMS:
            for line, name in read_names(text):
                where.setdefault(name, {}).setdefault(file, line)
    for name, places in sorted(where.items()):
        if len(places) > 1 and name not in TWINS:
            (first, first_line), *others = places.items()
            for file, line in others:
                yield f"{file}:{line}: defines {name}, which {first}:{first_line} also defines"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    tree = Tree()
    checks = (check_folders, check_includes, check_calls, check_cycles, check_declarations,
              check_names)
    violations = {check.__name__[6:]: list(check(tree)) for check in checks}
    if "--summary" not in sys.argv:
        for messages in violations.values():
            print("\n".join(messages), end="\n" if messages else "")
    total = sum(map(len, violations.values()))
    print("check_layers: " + ", ".join(f"{k} {len(v)}" for k, v in violations.items()))
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
