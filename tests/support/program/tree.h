/*
 * tree.h - the files of a folder with their bytes, to compare and to restore them.
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_TREE_H
#define SL_TESTS_SUPPORT_PROGRAM_TREE_H

#include "tests/support/program/folder.h"

struct tree_file {
	char name[320]; /* below the folder */
	char *bytes;    /* NULL: a folder */
	size_t size;
};

struct tree {
	struct tree_file *file;
	size_t n;
};

/* Reads all files of f, in any order. The caller frees t. */
void tree_read(const struct folder *f, struct tree *t);
void tree_free(struct tree *t);

/* Returns the file of this name, or NULL. */
const struct tree_file *tree_find(const struct tree *t, const char *name);

bool tree_same(const struct tree_file *a, const struct tree_file *b);

/* Returns a hash of the name, and of the bytes if they are asked for. */
uint64_t tree_file_hash(const struct tree_file *f, bool bytes);

/* Changes the files of f, which are now those of now, to those of t. */
void tree_restore(const struct folder *f, const struct tree *now, const struct tree *t);

#endif
