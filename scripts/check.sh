#!/usr/bin/env bash
# check.sh - while you work: builds what changed and runs the tests that are nearest to it.
#
#	scripts/check.sh [SECONDS]          tests of about so many seconds; 40 by default
#	scripts/check.sh [SECONDS] FILE...  as if these files had changed
#
# Changed are the files that differ from the last commit; if none does, those of the last commit. Tests of the folder of a
# changed file come first, then those of folders that share most of its path, then the others, the quickest first. How
# long a test takes is known from its last run in build/release; one that has never run counts 1 s. Sweeps try one in
# 31 of their variants. Prints which tests did not fit. Exit code: 0 if the build and the tests succeed.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

budget=40
case ${1:-} in
-* | *[!0-9]*) [ -f "$1" ] || usage ;;
?*) budget=$1 && shift ;;
esac
changed=("$@")
[ $# -gt 0 ] || mapfile -t changed < <(git diff --name-only HEAD && git ls-files --others --exclude-standard)
[ ${#changed[@]} -gt 0 ] || mapfile -t changed < <(git diff --name-only HEAD~1 HEAD)
[ -f build/release/CMakeCache.txt ] || fail "there is no build to check; build it once: scripts/test.sh release -N"

cmake --build build/release >build/check.log 2>&1 || { cat build/check.log >&2; fail "the build failed"; }
echo "built in $SECONDS s"
costs=build/release/Testing/Temporary/CTestCostData.txt
[ -f "$costs" ] || costs=/dev/null

# Prints "NEARNESS SECONDS TEST" for each test: how many folders its path shares with that of a changed file.
near() {
	ctest --preset release -N -LE gpu | sed -n 's/^ *Test *#[0-9]*: /test /p' |
		awk -v changed="${changed[*]}" '
			function shared(a, b,    x, y, k) {
				split(a, x, "/"); split(b, y, "/")
				for (k = 1; k in x && x[k] == y[k]; k++);
				return k - 1
			}
			BEGIN { n = split(changed, file, " ") }
			NF == 3 { seconds[$1] = $3 }
			$1 == "test" && NF == 2 {
				best = 0
				for (i = 1; i <= n; i++) {
					name = file[i]
					sub(/^tests\//, "", name)
					sub(/\.[a-z]+$/, "", name)
					k = shared(name, $2)
					if (k > best) best = k
				}
				print best, $2 in seconds ? seconds[$2] : 1, $2
			}' "$costs" -
}

# Tests run on all cores, so that the sum of their seconds may be larger than the budget.
ordered=$(near | sort -k1,1nr -k2,2n)
fitting=$(awk -v room="$((budget * $(nproc)))" '{ used += $2 } used <= room { print $3 }' <<<"$ordered")
total=$(wc -l <<<"$ordered")
[ -n "$fitting" ] || fail "no test fits in $budget s; the nearest takes $(awk 'NR == 1 { print $2, "s: " $3 }' <<<"$ordered")"
echo "$(wc -l <<<"$fitting") of $total tests fit in $budget s; the nearest is $(head -1 <<<"$fitting")"
SLUICE_ONE_IN=${SLUICE_ONE_IN:-31} SLUICE_SHARE=${SLUICE_SHARE:-$RANDOM} \
	run_tests release -R "^($(paste -sd '|' <<<"$fitting"))\$"
