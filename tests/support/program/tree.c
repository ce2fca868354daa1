/* tree.c - see tree.h. */
#include "tests/support/program/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/basic/check.h"

/* What nftw() cannot pass to add(). */
static struct tree *reading;
static const struct folder *read_from;

static int add(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
	struct tree *t = reading;
	struct tree_file *f;

	(void)kind;
	if (where->level == 0)
		return 0;
	t->file = (struct tree_file *)realloc(t->file, (t->n + 1) * sizeof(*t->file));
	assert_non_null(t->file);
	f = &t->file[t->n++];
	*f = (struct tree_file){.bytes = NULL};
	snprintf(f->name, sizeof(f->name), "%s", path + strlen(read_from->path) + 1);
	if (S_ISREG(facts->st_mode))
		f->bytes = folder_read(read_from, f->name, &f->size);
	return 0;
}

void tree_read(const struct folder *f, struct tree *t)
{
	*t = (struct tree){.n = 0};
	reading = t;
	read_from = f;
	assert_int_equal(nftw(f->path, add, 16, FTW_PHYS), 0);
}

void tree_free(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->file[i].bytes);
	free(t->file);
	*t = (struct tree){.n = 0};
}

const struct tree_file *tree_find(const struct tree *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->file[i].name, name) == 0)
			return &t->file[i];
	return NULL;
}

bool tree_same(const struct tree_file *a, const struct tree_file *b)
{
	return a && b && !a->bytes == !b->bytes && a->size == b->size &&
	       (!a->bytes || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* FNV-1a (Fowler, Noll, Vo). */
uint64_t tree_file_hash(const struct tree_file *f, bool bytes)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *c = f->name; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 0x100000001b3u;
	for (size_t i = 0; bytes && i < f->size; i++)
		hash = (hash ^ (uint8_t)f->bytes[i]) * 0x100000001b3u;
	return hash ^ (f->bytes ? f->size : UINT64_MAX);
}

uint64_t folder_hash(const char *path, const char *except)
{
	struct folder f;
	struct tree t;
	uint64_t sum = 0;

	snprintf(f.path, sizeof(f.path), "%.255s", path);
	tree_read(&f, &t);
	for (size_t i = 0; i < t.n; i++) {
		const char *name = strrchr(t.file[i].name, '/');

		if (!except || strcmp(name ? name + 1 : t.file[i].name, except) != 0)
			sum += tree_file_hash(&t.file[i], true);
	}
	tree_free(&t);
	return sum;
}

void tree_restore(const struct folder *f, const struct tree *now, const struct tree *t)
{
	for (size_t i = now->n; i-- > 0;) /* the files of a folder follow it */
		if (!tree_same(&now->file[i], tree_find(t, now->file[i].name)))
			assert_int_equal(remove(folder_path(f, now->file[i].name)), 0);
	for (size_t i = 0; i < t->n; i++) {
		const struct tree_file *file = &t->file[i];

		if (tree_same(file, tree_find(now, file->name)))
			continue;
		if (file->bytes)
			folder_write(f, file->name, file->bytes, file->size);
		else
			assert_int_equal(mkdir(folder_path(f, file->name), 0777), 0);
	}
}
