/*
 * bits.c - tests that every compiler gives the same bits at every optimisation level.
 *
 * Builds bits_hash.c with gcc and clang, at -O0 to -O3, for the baseline and for x86-64-v3, with
 * -ffp-contract=off and =fast, and expects the hash in data/reference/math/hash.txt from each. Also
 * searches the code that host and device share for functions whose result depends on a library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/configs/configs.h"
#include "tests/support/program/fixture.h"

enum { COMMAND_BYTES = 8192 };

/* Reads "hash 0123456789abcdef" from a stream; lines with # are comments. */
static uint64_t read_hash(FILE *f)
{
	char line[LINE_BYTES];
	unsigned long long hash = 0;
	int n = 0;

	while (next_line(f, line))
		n += sscanf(line, "hash %llx", &hash);
	assert_int_equal(1, n);
	return hash;
}

static uint64_t recorded_hash(void)
{
	FILE *f = open_source("data/reference/math/hash.txt");
	uint64_t hash = read_hash(f);

	fclose(f);
	return hash;
}

static uint64_t built_hash(const char *compiler, const char *flags)
{
	char command[COMMAND_BYTES];
	uint64_t hash;
	FILE *f;

	snprintf(command, sizeof(command),
		"cd '%s' && %s -std=gnu17 %s -I. tests/stages/bits_hash.c stages/particle/particle.c -lm -o '%s'"
		" && '%s'",
		source_root(), compiler, flags, folder_path(&folder, "bits_hash"),
		folder_path(&folder, "bits_hash"));
	f = popen(command, "r");
	assert_non_null(f);
	hash = read_hash(f);
	assert_int_equal(0, pclose(f));
	return hash;
}

static int has_compiler(const char *compiler)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null 2>&1", compiler);
	return system(command) == 0;
}

/* Returns whether this CPU runs code for -march=x86-64-v3. */
static int has_v3(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
	       __builtin_cpu_supports("bmi2");
#else
	return 0;
#endif
}

/* Tests all options of one compiler; returns their number. */
static int check_compiler(const char *compiler, uint64_t want)
{
	static const char *const levels[] = {"", "-march=x86-64-v3"};
	static const char *const contractions[] = {"off", "fast"};
	int n = 0;

	for (int v3 = 0; v3 <= has_v3(); v3++)
		for (int contract = 0; contract < 2; contract++)
			for (int optimise = 0; optimise <= 3; optimise++) {
				char flags[128];
				uint64_t hash;

				n++;
				if (!sl_sampling_selects())
					continue;
				snprintf(flags, sizeof(flags), "-O%d %s -ffp-contract=%s", optimise,
					levels[v3], contractions[contract]);
				hash = built_hash(compiler, flags);
				if (hash != want)
					fail_msg("%s %s: hash %016llx, recorded %016llx", compiler,
						flags, (unsigned long long)hash,
						(unsigned long long)want);
			}
	return n;
}

TEST(every_compiler_gives_the_recorded_hash)
{
	static const char *const compilers[] = {"gcc", "clang"};
	int n = 0;

	if (!has_v3())
		print_message("this CPU has no x86-64-v3: only the baseline is tested\n");
	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
		if (has_compiler(compilers[i]))
			n += check_compiler(compilers[i], recorded_hash());
		else
			print_message("%s is not on the PATH: it is not tested\n", compilers[i]);
	if (n == 0)
		skip_test("the test needs gcc or clang on the PATH; install one of them");
}

/*
 * Functions that are not the same everywhere, in double, float (f) and long double (l). Those that
 * IEEE 754 defines to the last bit may be used: fma, sqrt, fabs, copysign, rint, floor, ceil,
 * trunc. fmin and fmax are not among them, because they may return either zero.
 */
static const char forbidden[] =
	"(^|[^A-Za-z0-9_])("
	"(a?(sin|cos|tan)h?(pi)?|atan2(pi)?|sincos(pi)?|exp(2|10|m1)?|log(2|10|1p|b)?|pow|r?cbrt|"
	"rhypot|hypot|rsqrt|erfc?(x|inv)?|normcdf|[lt]gamma|fmod|remainder|remquo|fmin|fmax|fdim|"
	"nearbyint|ldexp|frexp|scalbl?n|powi)[fl]?|"
	"__[a-z0-9]+f|__f[a-z]+_r[nzud]|curand_[a-z0-9_]+)[ \t]*\\(";

/* Prints the lines of the files that call a forbidden function, without comments; returns their number. */
static int count_forbidden(const char *files)
{
	char command[COMMAND_BYTES], line[512];
	int n = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		"cd '%s' && { cat %s || echo 'exp(missing)'; } | gcc -w -fpreprocessed -dD -E -P -x c - |"
		" grep -E '%s'",
		source_root(), files, forbidden);
	f = popen(command, "r");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f); n++)
		print_message("%s: %s", files, line);
	pclose(f);
	return n;
}

TEST(rules_call_no_library)
{
	static const char bad[] = "y = logf(x); /* a\n b */\nz = exp (x);\n__sinf(x);\n"
				  "fmaxf(a, b);\natan2f(y, x)\n";
	static const char good[] = "/* logf(x) */ sl_log(x); // sin(x)\nfmaf(a, b, c) / sqrtf(x) + "
				   "sl_sincospi(a)\nlog + fabsf(x); copysignf(a, b); floorf(x)\n";

	folder_write(&folder, "bad", bad, sizeof(bad) - 1);
	folder_write(&folder, "good", good, sizeof(good) - 1);
	assert_int_equal(5, count_forbidden(folder_path(&folder, "bad")));
	assert_int_equal(0, count_forbidden(folder_path(&folder, "good")));
	assert_int_equal(0, count_forbidden("stages/*.h stages/particle/*.h"));
	assert_int_equal(0, count_forbidden("stages/models/*.h"));
}
