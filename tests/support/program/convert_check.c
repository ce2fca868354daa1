/* convert_check.c - see convert_check.h. */
#include "tests/support/program/convert_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

const char *convert(const char *in, const char *suffix)
{
	static char name[64];

	snprintf(name, sizeof(name), "all%s", suffix);
	unlink(folder_path(&folder, name));
	expect(&folder, SL_OK, "", WORDS("convert", in, "--to", name));
	return name;
}

char *inflated(const char *name, size_t *bytes)
{
	gzFile f = gzopen(folder_path(&folder, name), "rb");
	size_t size = 1 << 16;
	char *all = (char *)malloc(size);
	int n;

	assert_non_null(f);
	for (*bytes = 0; (n = gzread(f, all + *bytes, (unsigned)(size - *bytes - 1))) > 0;) {
		*bytes += (size_t)n;
		size *= *bytes > size / 2 ? 2 : 1;
		all = (char *)realloc(all, size);
		assert_non_null(all);
	}
	assert_int_equal(n, 0);
	gzclose(f);
	all[*bytes] = '\0';
	return all;
}

void expect_in(const char *file, size_t bytes, const char *says)
{
	if (!memmem(file, bytes, says, strlen(says)))
		fail_msg("expected \"%s\" in the file", says);
}

void expect_same_inflated(const char *a, const char *b)
{
	size_t bytes_a, bytes_b;
	char *of_a = inflated(a, &bytes_a), *of_b = inflated(b, &bytes_b);

	if (bytes_a != bytes_b || memcmp(of_a, of_b, bytes_a) != 0)
		fail_msg("%s (%zu bytes) differs from %s (%zu bytes)", a, bytes_a, b, bytes_b);
	free(of_a);
	free(of_b);
}
