#!/usr/bin/env bash
# analyze.sh - static analysis of the C sources of the library and the program: gcc -fanalyzer, and clang-tidy with the
# security rules of clang's analyzer and of CERT. Takes about four minutes on two cores.
#
#	scripts/analyze.sh
#
# Reports that are known to be wrong are in tests/analyzers/known.txt with the reason. Exit code: 0 if there is no other
# report, 1 if there is one or if a known one no longer occurs.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

install_missing $BUILD_PACKAGES clang-tidy
check_build_folder debug
cmake --preset debug -DSLUICE_TESTS=OFF >/dev/null
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

# One command per source file.
python3 - >"$folder/gcc" <<'END'
import json, shlex
for entry in json.load(open("build/debug/compile_commands.json")):
    if entry["file"].endswith(".c") and "/tests/" not in entry["file"] and "/bench/" not in entry["file"]:
        words = [w for w in shlex.split(entry["command"]) if w != "-Werror"]
        i = words.index("-o")
        del words[i:i + 2]
        print(shlex.join(words + ["-O1", "-fanalyzer", "-o", "/dev/null"]))
END
grep -o '[^ ]*\.c\b' "$folder/gcc" | sort -u >"$folder/files"

# DeprecatedOrUnsafeBufferHandling asks for functions that glibc does not have; err33-c for a check of every fprintf.
checks='-*,clang-analyzer-security.*,clang-analyzer-unix.*,cert-*'
checks+=',-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,-cert-err33-c'
(cd build/debug && xargs -P "$(nproc)" -d '\n' -n 1 sh -c <"$folder/gcc") >"$folder/log" 2>&1 || true
xargs -P "$(nproc)" -n 4 clang-tidy -p build/debug --quiet "--checks=$checks" <"$folder/files" >>"$folder/log" 2>/dev/null || true

# Without line numbers, which change.
sed -nE "s|^(\.\./)*(\.\.)?$PWD/||; s/^([^ :]+):[0-9]+:[0-9]+: warning: (.*)$/\1: \2/p" "$folder/log" | sort -u >"$folder/found"
sed '/^#/d; /^$/d' tests/analyzers/known.txt | sort -u >"$folder/known"
diff "$folder/known" "$folder/found" >&2 || fail "the reports marked > are new, those marked < no longer occur"
echo "no report but $(wc -l <"$folder/known") known to be wrong (tests/analyzers/known.txt)"
