/*
 * folder.c - temporary folders, with libc only, so that errors of the code under test do not hide
 * here.
 */
#include "tests/support/program/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/support/basic/check.h"

/*
 * Tests whether the file system in memory has room for the files of a test: a container may give it
 * little.
 */
static bool has_room_in_memory(void)
{
	struct statvfs facts;

	return access("/dev/shm", W_OK) == 0 && statvfs("/dev/shm", &facts) == 0 &&
	       (uint64_t)facts.f_bavail * facts.f_frsize >= 1ull << 30;
}

void folder_make(struct folder *f)
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base) /* the programs under test use the same */
		base = has_room_in_memory() ? "/dev/shm" : "/tmp";
	setenv("TMPDIR", base, 1);
	snprintf(f->path, sizeof(f->path), "%s/sluice-test-XXXXXX", base);
	assert_non_null(mkdtemp(f->path));
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
	(void)facts, (void)kind, (void)where;
	return remove(path);
}

void folder_remove(struct folder *f)
{
	assert_int_equal(nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *folder_path(const struct folder *f, const char *name)
{
	static char paths[8][1024];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", f->path, name);
	return path;
}

void folder_write(const struct folder *f, const char *name, const void *bytes, size_t size)
{
	FILE *file = fopen(folder_path(f, name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

char *folder_read(const struct folder *f, const char *name, size_t *size)
{
	FILE *file = fopen(folder_path(f, name), "rb");
	char *bytes;
	long end;

	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	end = ftell(file);
	assert_true(end >= 0);
	rewind(file);
	bytes = (char *)malloc((size_t)end + 1);
	assert_non_null(bytes);
	*size = fread(bytes, 1, (size_t)end, file);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

/* Other processes that read the file meanwhile never see another size. */
void folder_flip(const struct folder *f, const char *name, size_t at, size_t of)
{
	const int fd = open(folder_path(f, name), O_RDWR | O_CLOEXEC);
	struct stat facts;
	unsigned char byte;
	off_t place;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &facts), 0);
	place = (off_t)((size_t)(facts.st_size - 1) * at / of);
	assert_int_equal(pread(fd, &byte, 1, place), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, place), 1);
	assert_int_equal(close(fd), 0);
}

bool folder_has(const struct folder *f, const char *name)
{
	struct stat facts;

	return lstat(folder_path(f, name), &facts) == 0;
}

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

size_t folder_count(const struct folder *f)
{
	struct dirent **entries;
	int n = scandir(f->path, &entries, not_dots, NULL);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return (size_t)n;
}
