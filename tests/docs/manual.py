#!/usr/bin/env python3
"""manual.py - checks manual pages, and the completion of shells: bash and zsh on a terminal, fish by its complete.

    manual.py SLUICE BENCH SCRIPTS [PAGES]

SLUICE and BENCH are the programs, SCRIPTS is the folder of the scripts of shells, PAGES that of manual pages. What is
not installed is not tried; with SLUICE_NO_SKIPS in the environment this is an error. Needs the standard library only.
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
# Begins an interactive shell that loads the scripts and lists all possible words at the first tab.
START = {
    "bash": "PS1='ready> '; bind 'set show-all-if-ambiguous on'; bind 'set completion-query-items -1'; "
            "bind 'set page-completions off'; bind 'set enable-bracketed-paste off'; "
            "source {scripts}/sluice.bash",
    "zsh": "PROMPT='ready> '; unsetopt prompt_sp zle_bracketed_paste list_ambiguous; LISTMAX=10000; fpath=({scripts} $fpath); "
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


def check_pages(problems, folder, sluice, bench):
    """The page of each program and command has the names of its help, and man prints no warning."""
    texts = {"sluice": output(sluice, "--help"), "sluice-bench": output(bench, "--help")}
    texts |= {f"sluice-{c}": output(sluice, c, "--help") for c in commands_and_options(texts["sluice"])[0]}
    for page, text in texts.items():
        file = os.path.join(folder, page + ".1")
        with open(file, encoding="utf-8") as f:
            lacks = missing(sum(commands_and_options(text), []), re.sub(r"\\f[BIR]", " ", f.read()).replace("\\-", "-"))
        problems += [f"page {page} lacks {name}" for name in lacks]
        if shutil.which("man"):
            problems += subprocess.run(["man", "--warnings", "-l", file], capture_output=True, text=True).stderr.splitlines()


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
        ("sluice run --set output.form", ["output.format="], ["output.to="]),
        ("sluice run --set output.format=", lists["formats"], ["openpmd="]),
        ("sluice run --set output.format=op", ["openpmd"], ["npz"]),
        ("sluice run --set model.slab.absorption=imp", ["implicit"], ["balanced"]),
        ("sluice run conf", ["config.yaml"], ["folder"]),
        ("sluice run config.yaml --out fol", ["folder/"], ["config"]),
        ("sluice verify ", ["folder"], ["config.yaml", "run"]),
        ("sluice convert config.yaml --to da", ["data.mcpl"], ["config.mcpl"]),
        ("sluice help run.se", ["run.seed"], ["run.mode"]),
        ("sluice convert config.yaml --to=da", ["data.mcpl"], ["config.yaml"]),
        ("sluice run config.yaml --out=", ["folder/"], ["config.yaml"]),
        ("sluice-bench ", ["primitives", "tune", "sweep", "pipeline"], ["--only"]),
        ("sluice-bench tune --dev", ["--device"], ["--sort"]),
        ("sluice-bench primitives --type ", ["u32", "u64"], ["pairs"]),
        ("sluice-bench tune --only sort/sh", ["sort/shared"], ["sort/thrust"]),
    ]


def on_terminal(shell, scripts, folder, lines):
    """Types each line and a tab on a terminal; returns what the shell shows for each."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(COMMAND[shell][0], COMMAND[shell], {"PATH": PATH, "TERM": "xterm", "HOME": folder,
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

    type_in("stty cols 200 rows 100\n" + START[shell].replace("{scripts}", scripts) + f"\necho '{END[:3]}''{END[3:]}'\n")
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


def in_fish(scripts, folder, lines):
    script = f"source {scripts}/sluice.fish; complete -C $argv[1]"
    return [subprocess.run(["fish", "--no-config", "-c", script, line], check=True, capture_output=True, text=True,
                           cwd=folder, env={**os.environ, "PATH": PATH, "HOME": folder}).stdout for line in lines]


def offered(word, shell, line, shown):
    """Is the word offered? Each shell shows the part of a word that it would replace, or the whole word."""
    typed = line.split(" ")[-1]
    if shell == "fish":
        # The whole word that is replaced, then a tab and the help.
        before = typed[:typed.index("=") + 1] if "=" in typed and "=" not in word else ""
        return any(text.split("\t")[0] in (before + word, before + word + "/") for text in shown.splitlines())
    return bool(re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w-])", shown))


def check_shell(problems, shell, scripts, folder, expected):
    lines = [line for line, _, _ in expected]
    answers = in_fish(scripts, folder, lines) if shell == "fish" else on_terminal(shell, scripts, folder, lines)
    for (line, words, others), shown in zip(expected, answers, strict=True):
        # What was typed is shown too, but is no offer.
        rest = shown if shell == "fish" else shown.replace(line[:-len(line.split(" ")[-1]) or None], " ")
        problems += [f"{shell}: '{line}' {'offers' if word in others else 'does not offer'} {word}: {shown!r}"
                     for word in words + others if offered(word, shell, line, rest) == (word in others)]


def main():
    global PATH
    sluice, bench, scripts = map(os.path.abspath, sys.argv[1:4])
    PATH = os.path.dirname(sluice) + ":" + os.environ["PATH"]
    problems, skipped = [], [name for name in (*SHELLS, "man", "help2man") if not shutil.which(name)]
    if any(sys.argv[4:]):
        check_pages(problems, sys.argv[4], sluice, bench)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("config.yaml", "data.mcpl"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        os.mkdir(os.path.join(folder, "folder"))
        for shell in set(SHELLS) - set(skipped):
            check_shell(problems, shell, scripts, folder, expectations(sluice))
    if skipped:
        print("SKIP: not installed, so not tried:", *skipped)
    print(*problems or ["manual pages and completion have all commands and options"], sep="\n")
    sys.exit(bool(problems or (skipped and os.environ.get("SLUICE_NO_SKIPS"))))


main()
