/*
 * bits.c - tests that every compiler gives the same bits at every optimisation level.
 *
 * Builds bits_hash.c with gcc and clang, at -O0 to -O3, for the baseline and for x86-64-v3, with
 * -ffp-contract=off and =fast, and expects the hash in data/reference/math/hash.txt from each. text/rules.txt
 * searches the code for functions whose result depends on a library.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"

/* Begins a command of sh in the source tree. */
SL_PRINTF(1, 2)
static FILE *command(const char *format, ...)
{
	char text[8192];
	va_list values;
	FILE *f;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	assert_int_equal(chdir(source_root()), 0);
	f = popen(text, "r");
	assert_non_null(f);
	return f;
}

/* Reads "hash 0123456789abcdef" from a stream; lines with # are comments. */
static uint64_t read_hash(FILE *f)
{
	char line[LINE_BYTES];
	unsigned long long hash = 0;
	int n = 0;

	while (next_line(f, line))
		n += sscanf(line, "hash %llx", &hash);
	assert_int_equal(1, n);
	assert_int_equal(0, pclose(f));
	return hash;
}

static bool can(const char *what)
{
	return pclose(command("%s >%s", what, folder_path(&folder, "log"))) == 0;
}

/* The baseline of x86-64 has no fused operations to contract to. */
TEST(every_compiler_gives_the_recorded_hash)
{
	static const char *const compilers[] = {"gcc", "clang"};
	static const char *const targets[] = {"-ffp-contract=fast",
		"-ffp-contract=off -march=x86-64-v3", "-ffp-contract=fast -march=x86-64-v3"};
	const bool has[] = {can("command -v gcc"), can("command -v clang")},
		   v3 = can("grep 'fma.*avx2.*bmi2' /proc/cpuinfo");
	const uint64_t want = read_hash(command("cat data/reference/math/hash.txt"));
	struct sl_sampled share = sl_sampling_share(4 * 3 * 2);

	if (!has[0] && !has[1])
		skip_test("the test needs gcc or clang on the PATH; install one of them");
	for (uint64_t i = share.first; i < 4 * 3 * 2; i += share.step) {
		const char *compiler = compilers[i / 12], *target = targets[i / 4 % 3];
		const char *out = folder_path(&folder, "bits_hash");
		uint64_t hash;

		print_message("%s -O%d %s\n", compiler, (int)(i % 4), target);
		if (!has[i / 12] || (i / 4 % 3 > 0 && !v3)) {
			print_message("not tested: this machine lacks the compiler or AVX2\n");
			continue;
		}
		hash = read_hash(command("%s -std=gnu17 -O%d %s -I. tests/stages/bits_hash.c "
					 "stages/particle/particle.c -lm -o '%s' && '%s'",
			compiler, (int)(i % 4), target, out, out));
		if (hash != want)
			fail_msg("hash %016llx, recorded %016llx", (unsigned long long)hash,
				(unsigned long long)want);
	}
}
