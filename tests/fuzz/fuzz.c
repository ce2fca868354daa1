/*
 * fuzz.c - see fuzz.h; also the functions that libFuzzer calls. The program is linked with
 * -Wl,--wrap for the functions __wrap_...() below.
 */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "primitives/files/files.h"
#include "stages/formats/hdf5/hdf5_child.h"
#include "tests/support/basic/replaced.h"

#define TARGET(name, options) FUZZ(name);
#include "tests/fuzz/targets.def"
#undef TARGET

#define TARGET(name, options) {#name, fuzz_##name},
const struct fuzz_target fuzz_targets[] = {
#include "tests/fuzz/targets.def"
	{NULL, NULL}};

/* --- libFuzzer -------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct fuzz_target *target = fuzz_targets;

/* The file of the program has the name of a target. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *slash = strrchr((*argv)[0], '/'), *name = slash ? slash + 1 : (*argv)[0];

	(void)argc;
	while (target->name && strcmp(target->name, name) != 0)
		target++;
	fuzz_expect(target->name != NULL);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	target->run(data, size);
	return 0;
}

/* --- helpers of targets ----------------------------------------------------------------------- */

void fuzz_expect(bool holds)
{
	if (!holds)
		abort();
}

bool fuzz_check(enum sl_status s)
{
	fuzz_expect(s == SL_OK || s == SL_BAD_INPUT || s == SL_USAGE || s == SL_CHECK_FAILED);
	fuzz_expect(s == SL_OK || sl_last_error()[0] != '\0');
	return s == SL_OK;
}

void *fuzz_copy(const void *data, size_t size)
{
	void *copy = malloc(size + (size == 0));

	fuzz_expect(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

char *fuzz_text(const void *data, size_t size)
{
	char *text = (char *)realloc(fuzz_copy(data, size), size + 1);

	fuzz_expect(text != NULL);
	text[size] = '\0';
	return text;
}

uint8_t *fuzz_split(const uint8_t **data, size_t *size, size_t *length)
{
	const uint8_t *first = *data + 2;

	if (*size < 2)
		return NULL;
	*length = first[-2] | (size_t)first[-1] << 8;
	*size -= 2;
	*length = *length < *size ? *length : *size;
	*data = first + *length;
	*size -= *length;
	return (uint8_t *)fuzz_copy(first, *length);
}

/*
 * Larger tables are only measured. DEFLATE expands up to a thousand times, and the digest of a
 * constant column takes a nanosecond per row.
 */
void fuzz_read_table(enum sl_status (*read)(const void *file, size_t bytes, struct sl_arena *a,
			     struct sl_table *t),
	const uint8_t *data, size_t size)
{
	struct sl_arena a = {0};
	struct sl_table t = {0};

	if (!fuzz_check(read(data, size, &a, &t)) || a.used > 1 << 24 || t.n > FUZZ_ROWS_MOST)
		return;
	a.size = sl_round_up(a.used + 1, SL_ALIGN);
	a.base = aligned_alloc(SL_ALIGN, a.size);
	a.used = 0;
	if (a.base)
		fuzz_check(read(data, size, &a, &t));
	free(a.base);
}

void fuzz_put_crc(char *at, const void *text, size_t bytes)
{
	char digits[9];

	snprintf(digits, sizeof(digits), "%08x", (unsigned)sl_crc32(text, bytes));
	memcpy(at, digits, 8);
}

struct sl_dir fuzz_dir = {.fd = -1};

static enum sl_status remove_file(void *dir, const char *name)
{
	return sl_file_remove((const struct sl_dir *)dir, name);
}

static void remove_folder(void)
{
	(void)sl_dir_each(&fuzz_dir, remove_file, &fuzz_dir);
	(void)sl_dir_remove(fuzz_dir.path);
	sl_dir_close(&fuzz_dir);
}

void fuzz_write(const char *name, const void *data, size_t size)
{
	int file;

	if (fuzz_dir.fd < 0) {
		fuzz_expect(sl_dir_make_temporary("/dev/shm", "sluice-fuzz", &fuzz_dir) == SL_OK);
		atexit(remove_folder);
	}
	file = openat(fuzz_dir.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	fuzz_expect(file >= 0 && write(file, data, size) == (ssize_t)size);
	close(file);
}

/* --- in the place of hdf5_child.c ------------------------------------------------------------- */

const uint8_t *fuzz_found;
size_t fuzz_found_bytes;

REPLACED(enum sl_status, sl_h5_in_child, sl_h5_reader *read, const void *file, size_t bytes,
	size_t size, void **found)
{
	(void)read, (void)file, (void)bytes;
	*found = aligned_alloc(SL_ALIGN, sl_round_up(size, SL_ALIGN));
	fuzz_expect(*found != NULL);
	memset(*found, 0, size);
	if (fuzz_found_bytes > 0)
		memcpy(*found, fuzz_found, fuzz_found_bytes < size ? fuzz_found_bytes : size);
	return SL_OK;
}

REPLACED(void, sl_h5_child_free, void *found, size_t size)
{
	(void)size;
	free(found);
}
