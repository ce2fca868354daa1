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
#include <glob.h>
#include <regex.h>

#include "tests/cases/sampling.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"

enum { PATH_BYTES = 1024, COMMAND_BYTES = 4 * PATH_BYTES };

static char source[PATH_BYTES / 2]; /* root of the sources */

static void format_path(char path[PATH_BYTES], const char *root, const char *name)
{
	assert_true(snprintf(path, PATH_BYTES, "%s/%s", root, name) < PATH_BYTES);
}

/* Reads "hash 0123456789abcdef" from a stream; lines with # are comments. */
static uint64_t read_hash(FILE *f)
{
	char line[256];
	unsigned long long hash = 0;
	int n = 0;

	while (fgets(line, sizeof(line), f))
		if (line[0] != '#')
			n += sscanf(line, "hash %llx", &hash);
	assert_int_equal(1, n);
	return hash;
}

static uint64_t recorded_hash(void)
{
	char path[PATH_BYTES];
	uint64_t hash;
	FILE *f;

	format_path(path, source, "data/reference/math/hash.txt");
	f = fopen(path, "r");
	assert_non_null(f);
	hash = read_hash(f);
	fclose(f);
	return hash;
}

static uint64_t built_hash(const char *compiler, const char *flags)
{
	char command[COMMAND_BYTES], program[PATH_BYTES];
	uint64_t hash;
	FILE *f;

	format_path(program, folder.path, "bits_hash");
	snprintf(command, sizeof(command),
		"%s -std=gnu17 %s -I'%s' '%s/tests/stages/bits_hash.c' -lm -o '%s'", compiler,
		flags, source, source, program);
	assert_int_equal(0, system(command));
	f = popen(program, "r");
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

/* Replaces comments by blanks and keeps the lines. */
static void blank_comments(char *text)
{
	char *end;

	for (char *c = text; (c = strchr(c, '/')) != NULL; c++) {
		if (c[1] == '*' && (end = strstr(c + 2, "*/")) != NULL)
			end += 2;
		else if (c[1] == '/')
			end = c + strcspn(c, "\n");
		else
			continue;
		for (; c < end; c++)
			if (*c != '\n')
				*c = ' ';
		c--;
	}
}

/* Prints the lines of the text that call a forbidden function; returns their number. */
static int count_forbidden(const char *path, char *text)
{
	regex_t pattern;
	int n = 0, number = 0;

	assert_int_equal(0, regcomp(&pattern, forbidden, REG_EXTENDED | REG_NOSUB));
	blank_comments(text);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		if (regexec(&pattern, line, 0, NULL, 0) == 0) {
			print_message("%s:%d: %s\n", path, number, line);
			n++;
		}
	}
	regfree(&pattern);
	return n;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text;
	long size;

	assert_non_null(f);
	assert_int_equal(0, fseek(f, 0, SEEK_END));
	size = ftell(f);
	assert_true(size >= 0);
	rewind(f);
	text = (char *)calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(size, fread(text, 1, (size_t)size, f));
	fclose(f);
	return text;
}

static int count_in_files(const char *pattern)
{
	char path[PATH_BYTES];
	glob_t files;
	int n = 0;

	format_path(path, source, pattern);
	assert_int_equal(0, glob(path, 0, NULL, &files));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		char *text = read_text(files.gl_pathv[i]);

		n += count_forbidden(files.gl_pathv[i], text);
		free(text);
	}
	globfree(&files);
	return n;
}

TEST(rules_call_no_library)
{
	assert_int_equal(0, count_in_files("stages/*.h"));
	assert_int_equal(0, count_in_files("stages/models/*.h"));
}

TEST(forbidden_calls_are_seen)
{
	char bad[] =
		"y = logf(x); /* a\n b */\nz = exp (x);\n__sinf(x);\nfmaxf(a, b);\natan2f(y, x)";
	char good[] = "/* logf(x) */ sl_log(x); // sin(x)\nfmaf(a, b, c) / sqrtf(x) + "
		      "sl_sincospi(a)\nlog + fabsf(x); copysignf(a, b); floorf(x); rintf(x)";

	assert_int_equal(5, count_forbidden("(expected)", bad));
	assert_int_equal(0, count_forbidden("(unexpected)", good));
}

BEFORE_TESTS()
{
	const char *given = getenv("SLUICE_SOURCE");

	snprintf(source, sizeof(source), "%s", given ? given : ".");
}
