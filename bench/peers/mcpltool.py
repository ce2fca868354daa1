#!/usr/bin/env python3
"""Particle lists (MCPL): mcpltool, the program of the format's authors, against sluice, from file to file.

    python3 bench/peers/mcpltool.py [--mcpltool PROGRAM] [--particles N] [--repeat N] [--csv FILE]

sluice writes two lists with different PDG codes, each of half of N particles of data/configs/reference.yaml. Then:
    merge         a list and its copy, by mcpltool --merge and by sluice convert, which give the same bytes
    merge gzip    the same from gzip into a file that is not compressed
    extract       the particles of one code from both lists together, into a file in gzip (mcpltool writes no other),
                  by mcpltool --extract -p and by the model list
Times are those of whole processes. sluice writes complete files only: it flushes them to the disk, and checks the
checksums of its inputs; mcpltool does neither. PROGRAM is mcpltool of the Python package mcpl.
"""
import filecmp
import gzip
import os
import shutil
import sys

import common

CODES = (22, 2112)
EXTRACT = """run:    {{name: extracted, particles: {n}, batch: {n}}}
model:  {{list: {{files: ["{path}"]}}}}
keep:   pdg == {code}
key:    []
output: {{format: mcpl.gz}}
"""
TOGETHER = """run:    {{name: together}}
model:  {{list: {{files: ["{0}", "{1}"]}}}}
keep:   listed
key:    []
output: {{format: mcpl, joined: true}}
"""


def write_lists(options):
    """Writes the inputs: a list and its copy, both in gzip too, and a list with both codes."""
    lists = [common.write_reference(options, f"list{k}.mcpl", f"run.seed={k + 1}", f"output.mcpl.pdg={code}")
             for k, code in enumerate(CODES)]
    config = common.write_file(options, "together.yaml", TOGETHER.format(*lists))
    copy = shutil.copy(lists[0], os.path.join(options.work, "copy.mcpl"))
    packed = [path + ".gz" for path in (lists[0], copy)]
    common.run([options.sluice, "convert", "--quiet", lists[0], "--to", packed[0]])
    shutil.copy(*packed)
    return (lists[0], copy), packed, common.write_list(options, config, "both.mcpl")


class Task:
    """The same work by both programs. words, out: the command and the file that it writes, by program.

    A file is removed before its command, which would refuse to replace it; sluice run --force replaces its own.
    """

    def __init__(self, name, words, out):
        self.name, self.words, self.out = name, words, out

    def run(self, program):
        if "--force" not in self.words[program] and os.path.exists(self.out[program]):
            os.remove(self.out[program])
        common.run(self.words[program])

    def measure(self, repeat):
        return common.alternate({program: lambda p=program: common.clocks(lambda: self.run(p))
                                 for program in self.out}, repeat)


def merge_task(options, name, one, two):
    out = {program: os.path.join(options.work, f"merged_{program}.mcpl") for program in ("sluice", "mcpltool")}
    return Task(name, {"sluice": [options.sluice, "convert", "--quiet", one, two, "--to", out["sluice"]],
                       "mcpltool": [options.mcpltool, "--merge", out["mcpltool"], one, two]}, out)


def extract_task(options, both, n):
    folder, out = (os.path.join(options.work, name) for name in ("extracted", "extracted.mcpl.gz"))
    config = common.write_file(options, "extract.yaml", EXTRACT.format(n=n, path=both, code=CODES[1]))
    return Task("extract", {
        "sluice": common.sluice_words(options, config, "--device", "cpu", "--threads", str(options.threads),
                                      out="extracted"),
        "mcpltool": [options.mcpltool, "--extract", f"-p{CODES[1]}", both, out[:-3]],
    }, {"sluice": os.path.join(folder, "extracted_000000.mcpl.gz"), "mcpltool": out})


def unpacked(path):
    plain = path + ".plain"
    with gzip.open(path, "rb") as packed, open(plain, "wb") as f:
        shutil.copyfileobj(packed, f)
    return plain


def check(task):
    import mcpl_records

    for program in task.out:
        task.run(program)
    if task.name == "extract":
        mcpl_records.compare(*(unpacked(task.out[program]) for program in task.out), task.name)
    elif not filecmp.cmp(task.out["sluice"], task.out["mcpltool"], shallow=False):
        raise common.WrongAnswer(f"{task.name}: the files of sluice and mcpltool are not the same")


def compare(options, report):
    common.require("numpy", "numpy")
    import mcpl_records

    options.sluice = common.require_program(options.sluice, "the program sluice")
    options.mcpltool = common.require_program(options.mcpltool, "mcpltool of the Python package mcpl")
    report.origin("peer", "mcpltool " + common.run([options.mcpltool, "--version"]).strip())
    report.origin("threads", f"{options.threads} thread(s) of sluice")
    plain, packed, both = write_lists(options)
    n = mcpl_records.read_header(both)[1]
    of_two = 2 * mcpl_records.read_header(plain[0])[1]
    tasks = {merge_task(options, "merge", *plain): of_two, merge_task(options, "merge gzip", *packed): of_two,
             extract_task(options, both, n): n}
    for task in tasks:
        check(task)
    sizes = [os.path.getsize(size) for size in list(tasks)[-1].out.values()]
    report.origin("extracted", f"{sizes[0]} bytes by sluice, {sizes[1]} by mcpltool")
    for task, records in tasks.items():
        report.times(f"{task.name}, {records} records", task.measure(options.repeat))


def main():
    parser = common.options_of(__doc__, "--threads")
    parser.add_argument("--mcpltool", default=os.path.join(os.path.dirname(sys.executable), "mcpltool"),
                        metavar="PROGRAM", help="mcpltool (default: the one next to the Python that runs this script)")
    parser.add_argument("--particles", type=common.positive, default=4_000_000, metavar="N",
                        help="particles generated for each list, of which half are in it (default 4e6)")
    common.run_script(compare, parser)


if __name__ == "__main__":
    main()
