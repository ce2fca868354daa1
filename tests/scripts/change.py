#!/usr/bin/env python3
"""change.py - changes files of runs for the paragraphs of tests/text, which find it in their PATH.

    change.py flip FILE [AT]       flips a bit of the byte at this fraction of the file; if left out, of the last one
    change.py edit FILE OLD NEW    replaces a text that is there, and makes the checksums of the file valid
"""
import re
import sys
import zlib


def flipped(data, at=None):
    at = len(data) - 1 if at is None else int(len(data) * float(at))
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def edited(data, old, new):
    assert old in data, old
    data = data.replace(old, new)
    if name.endswith("run.json"):
        end = data.rindex(b',\n\t"crc32": ')
        return data[:end] + b',\n\t"crc32": "%08x"\n}\n' % zlib.crc32(data[:end])
    if name.endswith("jsonl"):
        return re.sub(rb'(?m)^(.*),"crc":"\w+"}$', lambda m: m[1] + b',"crc":"%08x"}' % zlib.crc32(m[1]), data)
    return data[:-22] + b"sluice-crc32 %08x\n" % zlib.crc32(data[:-22])


how, name, *words = sys.argv[1:]
with open(name, "rb") as f:
    content = f.read()
with open(name, "wb") as f:
    f.write((flipped if how == "flip" else edited)(content, *(w.encode("utf-8", "surrogateescape") for w in words)))
