#!/usr/bin/env python3
"""manual.py - checks manual pages and completion: that they have what --help has, and that shells accept them.

    manual.py SLUICE BENCH

SLUICE and BENCH are the programs. Each command and each option of --help must be in the manual page and
in the completion of every shell. The pages are read by man, groff and mandoc, which must print no warning.
The shells then complete command lines: bash and zsh on a terminal, fish by its command complete. What is not
installed is not tried; with SLUICE_NO_SKIPS in the environment this is an error. Needs the standard library only.
"""
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

SHELLS = ("bash", "zsh", "fish")
SCRIPTS = {"bash": "{}.bash", "zsh": "_{}", "fish": "{}.fish"}
# Begins an interactive shell that loads the scripts and lists all possible words at the first tab.
START = {
    "bash": "PS1='ready> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items -1'; "
            "bind 'set page-completions off'; bind 'set enable-bracketed-paste off'; "
            "source ./sluice.bash; source ./sluice-bench.bash",
    "zsh": "PROMPT='ready> '; unsetopt prompt_sp zle_bracketed_paste list_ambiguous; LISTMAX=10000; fpath=($PWD $fpath); "
           "autoload -Uz compinit; compinit -u -D; bindkey -e; zstyle ':completion:*' verbose no",
}
COMMAND = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
END, PROMPT = "end of the list", "ready> "


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commands_and_options(text):
    """The names in the two lists of a help text."""
    return (re.findall(r"^  ([a-z]+) ", text, re.M), re.findall(r"^  (--[a-z-]+)", text, re.M))


def missing(names, text, before=r"(?<![\w-])"):
    """The names that are not in the text as whole words."""
    return [name for name in names if not re.search(before + re.escape(name) + r"(?![\w-])", text)]


def check_page(problems, page, names):
    """The page has these names, and the programs that format pages print no warning."""
    title, = re.findall(r"^\.TH (\S+)", page, re.M)
    lacks = missing(names, re.sub(r"\\f[BIR]", " ", page).replace("\\-", "-"))
    problems += [f"page {title} lacks {name}" for name in lacks]
    with tempfile.NamedTemporaryFile("w", suffix=".1") as f:
        f.write(page)
        f.flush()
        for command in (["man", "--warnings", "-l", f.name], ["groff", "-ww", "-man", "-Tutf8", "-z", f.name],
                        ["mandoc", "-T", "lint", "-W", "warning", f.name]):
            if shutil.which(command[0]):
                done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "MANPAGER": "cat"})
                printed = done.stderr + (done.stdout if command[0] == "mandoc" else "")
                if done.returncode != 0 or printed:
                    problems.append(f"{command[0]}: page {title}: {printed or done.returncode}")


def check_pages(problems, sluice, bench):
    names = commands_and_options(output(sluice, "--help"))
    assert len(names[0]) >= 10 and len(names[1]) >= 20, names
    check_page(problems, output(sluice, "help", "--man"), sum(names, []))
    for command in names[0]:
        # The second meaning of a word, such as the section of keys run, has no options.
        options = commands_and_options(output(sluice, "help", command).split("\nrun.")[0])[1]
        check_page(problems, output(sluice, "help", command, "--man"), options)
    check_page(problems, output(bench, "--man"), sum(commands_and_options(output(bench, "--help")), []))


def check_scripts(problems, sluice, bench, folder):
    """Writes the scripts into the folder and compares them with the help."""
    for shell in SHELLS:
        for program, command in (("sluice", [sluice, "help"]), ("sluice-bench", [bench])):
            script = output(*command, "--completion", shell)
            with open(os.path.join(folder, SCRIPTS[shell].format(program)), "w", encoding="utf-8") as f:
                f.write(script)
            commands, options = commands_and_options(output(command[0], "--help"))
            lacks = missing(commands, script)
            if shell == "fish":  # it has options without their dashes
                lacks += missing([option[2:] for option in options], script, "-l ")
            else:
                lacks += missing(options, script)
            problems += [f"{shell} completion of {program} lacks {name}" for name in lacks]


def expectations(sluice):
    """Command lines, each with words that must be offered and words that must not."""
    lists = json.loads(output(sluice, "list", "--json"))
    commands, options = commands_and_options(output(sluice, "--help"))
    of_run = commands_and_options(output(sluice, "help", "run").split("\nrun.")[0])[1]
    backends = {p: [b["name"] for b in lists["backends"] if b["primitive"] == p] for p in ("sort", "deflate")}
    return [
        ("sluice ", commands, options),
        ("sluice ru", ["run"], ["plan"]),
        ("sluice --", ["--help", "--version"], ["--device"]),
        ("sluice run --", of_run, sorted(set(options) - set(of_run) - {"--help", "--version"})),
        ("sluice run --dev", ["--device"], ["--deflate"]),
        ("sluice plan --device ", ["auto", "cpu", "cuda", "emulated"], ["cuda:N", "config.yaml"]),
        ("sluice run --device=em", ["emulated"], ["cuda"]),
        ("sluice run --mode ", ["auto", "staged", "fused"], ["cpu"]),
        ("sluice run --sort ", ["auto"] + backends["sort"], ["libdeflate"]),
        ("sluice run --deflate ", ["auto"] + backends["deflate"], ["tiled"]),
        ("sluice run --tuning no", ["none"], ["auto"]),
        ("sluice run --set output.form", ["output.format="], ["output.to="]),
        ("sluice run --set output.format=", lists["formats"], ["openpmd="]),
        ("sluice run --set output.format=op", ["openpmd"], ["npz"]),
        ("sluice run --set model.slab.absorption=imp", ["implicit"], ["balanced"]),
        ("sluice run conf", ["config.yaml"], ["folder"]),
        ("sluice run config.yaml --out fol", ["folder/"], ["config"]),
        ("sluice verify ", ["folder"], ["config.yaml", "run"]),
        ("sluice convert config.yaml --to da", ["data.mcpl"], ["config.mcpl"]),
        ("sluice help run.se", ["run.seed"], ["run.mode"]),
        ("sluice help --completion ", list(SHELLS), ["config.yaml"]),
        ("sluice-bench ", ["primitives", "tune", "sweep", "pipeline"], ["--only"]),
        ("sluice-bench tune --dev", ["--device"], ["--sort"]),
        ("sluice-bench primitives --type ", ["u32", "u64"], ["pairs"]),
        ("sluice-bench tune --only sort/sh", ["sort/shared"], ["sort/thrust"]),
    ]


def on_terminal(shell, folder, lines):
    """Types each line and a tab on a terminal; returns what the shell shows for each."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(COMMAND[shell][0], COMMAND[shell], {"PATH": os.environ["PATH"], "TERM": "xterm", "HOME": folder,
                                                       "COLUMNS": "200", "LINES": "100", "LC_ALL": "C"})

    def until_end():
        """What is shown until the end mark and the next prompt, without control sequences."""
        shown = b""
        while True:
            shown += os.read(terminal, 65536)
            text = re.sub(r"\x1b(\[[0-9;?]*[a-zA-Z]|[=>(][B0]?)|\x07", "", shown.decode(errors="replace"))
            text = text.replace("\r", "\n")
            if PROMPT in text.partition(f"\n{END}")[2]:
                return text.replace(PROMPT, "\n")

    def type_in(text):
        os.write(terminal, text.encode())

    type_in("stty cols 200 rows 100\n" + START[shell] + f"\necho '{END[:3]}''{END[3:]}'\n")
    until_end()
    answers = []
    for line in lines:
        # Ctrl-U empties the line that the tab has completed.
        type_in(line + "\t")
        type_in(f"\x15echo '{END[:3]}''{END[3:]}'\n")
        shown = until_end()
        answers.append(shown[:shown.rindex("echo")])
    type_in("exit\n")
    os.close(terminal)
    os.waitpid(pid, 0)
    return answers


def in_fish(folder, lines):
    script = "source ./sluice.fish; source ./sluice-bench.fish; complete -C $argv[1]"
    return [subprocess.run(["fish", "--no-config", "-c", script, line], check=True, capture_output=True, text=True,
                           cwd=folder, env={**os.environ, "HOME": folder}).stdout for line in lines]


def offered(word, shell, line, shown):
    """Is the word offered? Each shell shows the part of a word that it would replace, or the whole word."""
    typed = line.split(" ")[-1]
    if shell == "fish":
        # The whole word that is replaced, then a tab and the help.
        before = typed[:typed.index("=") + 1] if "=" in typed and "=" not in word else ""
        return any(text.split("\t")[0] in (before + word, before + word + "/") for text in shown.splitlines())
    return bool(re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w-])", shown))


def check_shell(problems, shell, folder, expected):
    lines = [line for line, _, _ in expected]
    answers = in_fish(folder, lines) if shell == "fish" else on_terminal(shell, folder, lines)
    for (line, words, others), shown in zip(expected, answers, strict=True):
        # What was typed is shown too, but is no offer.
        rest = shown if shell == "fish" else shown.replace(line[:-len(line.split(" ")[-1]) or None], " ")
        problems += [f"{shell}: '{line}' {'offers' if word in others else 'does not offer'} {word}: {shown!r}"
                     for word in words + others if offered(word, shell, line, rest) == (word in others)]


def main():
    sluice, bench = map(os.path.abspath, sys.argv[1:3])
    problems, skipped = [], [name for name in (*SHELLS, "man", "groff", "mandoc") if not shutil.which(name)]
    check_pages(problems, sluice, bench)
    with tempfile.TemporaryDirectory() as folder:
        check_scripts(problems, sluice, bench, folder)
        for name in ("config.yaml", "data.mcpl"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        os.mkdir(os.path.join(folder, "folder"))
        for shell in set(SHELLS) - set(skipped):
            check_shell(problems, shell, folder, expectations(sluice))
    if skipped:
        print("SKIP: not installed, so not tried:", *skipped)
    print(*problems or ["manual pages and completion have all commands and options"], sep="\n")
    sys.exit(bool(problems or (skipped and os.environ.get("SLUICE_NO_SKIPS"))))


main()
