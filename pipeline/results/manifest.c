/*
 * manifest.c - reads the manifest in any state, appends lines, and replaces the file.
 *
 * A killed process can leave an incomplete last line. Reading drops it and clears in_order, which
 * means that the file must be rewritten before a line is appended.
 */
#include "pipeline/results/results.h"

#include "pipeline/text/text.h"

#include <stdlib.h>
#include <string.h>

#include "primitives/base/size.h"
#include "primitives/device/device.h"
#include "primitives/files/files.h"

#define MANIFEST "manifest.jsonl"

/*
 * No valid line is shorter, without its newline: this is the length of a line in which every number
 * is 0 and every list empty, and that has no files. A file of bytes then asks for at most 9 times
 * its size for lines.
 */
enum { LINE_LEAST = 131 };

/* Orders lines by batch, lines of one batch by their order in the file. */
static int by_batch(const void *a, const void *b)
{
	const struct sl_manifest_line *p = *(const struct sl_manifest_line *const *)a,
				      *q = *(const struct sl_manifest_line *const *)b;

	if (p->batch != q->batch)
		return p->batch < q->batch ? -1 : 1;
	return p < q ? -1 : p > q;
}

/*
 * Reads the valid lines of text into found; counts the others in m->damaged. *ascends: by batch, as
 * in a file that a run has appended. found NULL: counts the lines that can be valid by their length,
 * because the others need no memory.
 */
static enum sl_status read_lines(const char *text, size_t bytes, struct sl_manifest_line *found,
	size_t *n, bool *ascends, struct sl_manifest *m)
{
	const char *end = text + bytes;

	*ascends = true;
	for (*n = 0; text < end; text++) {
		const char *stop = (const char *)memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((stop ? stop : end) - text);
		enum sl_status s = length >= LINE_LEAST ? SL_OK : SL_BAD_INPUT;

		if (s == SL_OK && found)
			s = sl_manifest_parse(text, length, &found[*n]);
		if (s != SL_OK && s != SL_BAD_INPUT)
			return s; /* such as no memory: the line may be valid */
		text += length;
		if (s == SL_OK && found && *n > 0)
			*ascends &= found[*n - 1].batch < found[*n].batch;
		*n += s == SL_OK;
		if (found) {
			m->damaged += s != SL_OK;
			m->in_order &= s == SL_OK && stop;
		}
	}
	return SL_OK;
}

/* Stores the n lines in m, sorted by batch; of lines of one batch the first is kept. */
static void order(const struct sl_manifest_line *found, size_t n,
	const struct sl_manifest_line **sorted, struct sl_manifest *m)
{
	for (size_t i = 0; i < n; i++)
		sorted[i] = &found[i];
	qsort(sorted, n, sizeof(*sorted), by_batch);
	for (size_t i = 0; i < n; i++)
		if (i > 0 && sorted[i]->batch == sorted[i - 1]->batch)
			m->damaged++;
		else
			m->line[m->n++] = *sorted[i];
}

/* Parses the whole manifest. found needs space for all lines, m only for the valid ones. */
static enum sl_status read_text(const char *text, size_t bytes, struct sl_manifest *m)
{
	size_t most, n;
	bool ascends;
	SL_CLOSED_BY(sl_host_give) struct sl_manifest_line *found = NULL;
	SL_CLOSED_BY(sl_host_give) const struct sl_manifest_line **sorted = NULL;

	SL_TRY(read_lines(text, bytes, NULL, &most, &ascends, m));
	SL_TRY(sl_host_get(most, sizeof(*found), &found));
	SL_TRY(read_lines(text, bytes, found, &n, &ascends, m));
	m->in_order &= ascends;
	if (n > 0 && ascends) {
		m->line = found;
		m->n = n;
		found = NULL;
		return SL_OK;
	}
	SL_TRY(sl_host_get(n, sizeof(*sorted), &sorted));
	SL_TRY(sl_host_get(n, sizeof(*m->line), &m->line));
	order(found, n, sorted, m);
	return SL_OK;
}

enum sl_status sl_manifest_read(const struct sl_dir *d, struct sl_manifest *m)
{
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	bool exists;
	size_t bytes;

	*m = (struct sl_manifest){.in_order = true};
	SL_TRY(sl_file_exists(d, MANIFEST, &exists));
	if (!exists)
		return SL_OK;
	SL_TRY(sl_file_read(d, MANIFEST, &text, &bytes));
	return read_text(text, bytes, m);
}

void sl_manifest_free(struct sl_manifest *m)
{
	sl_memory_give(SL_HOST, m->line);
	*m = (struct sl_manifest){.line = NULL};
}

enum sl_status sl_manifest_append(const struct sl_dir *d, const struct sl_manifest_line *line)
{
	char text[SL_MANIFEST_LINE_BYTES];

	return sl_file_append(d, MANIFEST, text, sl_manifest_print(line, text));
}

enum sl_status sl_manifest_write(const struct sl_dir *d, const struct sl_manifest *m)
{
	char text[SL_MANIFEST_LINE_BYTES];
	struct sl_text_file f;

	SL_TRY(sl_text_file_begin(&f, d, MANIFEST));
	for (size_t i = 0; i < m->n; i++)
		fwrite(text, 1, sl_manifest_print(&m->line[i], text), f.out);
	/* a new file replaces the old one by rename, so a crash leaves one of them complete */
	return sl_text_file_commit(&f);
}
