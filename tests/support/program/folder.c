/* folder.c - temporary folders, with libc only, so that errors of the code under test do not hide here. */
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

/* Tests whether the file system in memory has room for the files of a test: a container may give it little. */
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

static char *read_path(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
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

char *folder_read(const struct folder *f, const char *name, size_t *size)
{
	return read_path(folder_path(f, name), size);
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

/* Orders by bytes, because alphasort() depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

size_t folder_count(const struct folder *f)
{
	struct dirent **entries;
	int n = scandir(f->path, &entries, not_dots, by_name);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return (size_t)n;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t add(uint64_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = (const unsigned char *)bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t add_file(uint64_t hash, const char *path)
{
	size_t size;
	char *bytes = read_path(path, &size);

	hash = add(add(hash, &size, sizeof(size)), bytes, size);
	free(bytes);
	return hash;
}

static bool is_listed(const char *name, const char *const *list)
{
	for (; list && *list; list++) {
		if (strcmp(*list, name) == 0)
			return true;
	}
	return false;
}

static uint64_t add_tree(uint64_t hash, const char *path, const char *const *except)
{
	struct dirent **entries;
	int n = scandir(path, &entries, not_dots, by_name);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		char below[4096];
		struct stat facts;
		uint32_t kind;

		snprintf(below, sizeof(below), "%s/%s", path, name);
		assert_int_equal(lstat(below, &facts), 0);
		kind = facts.st_mode & S_IFMT;
		if (!is_listed(name, except)) {
			hash = add(add(hash, name, strlen(name) + 1), &kind, sizeof(kind));
			if (S_ISDIR(facts.st_mode))
				hash = add_tree(hash, below, except);
			else if (S_ISREG(facts.st_mode))
				hash = add_file(hash, below);
			hash = add(hash, "", 1); /* the end of this entry */
		}
		free(entries[i]);
	}
	free(entries);
	return hash;
}

uint64_t folder_hash(const char *path, const char *const *except)
{
	return add_tree(0xcbf29ce484222325u, path, except);
}
