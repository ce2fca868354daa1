/*
 * mcpl_metadata.c - sorts the strings of all input lists to find equal ones.
 *
 * Each string becomes an item with its place in the order of the lists. Equal items are adjacent
 * after sorting by text; the first of them is kept, and sorting by place restores the order.
 */
#include "stages/formats/mcpl/mcpl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "primitives/files/files.h"

/* Limits of the strings in the headers of all lists, and of the bytes of these headers. */
enum { ALL_STRINGS_MOST = 1 << 22 };
static const size_t all_bytes_most = (size_t)1 << 30;

/*
 * Space in an output header for the strings of this program, and what a string takes besides its
 * bytes: lengths, prefix, value or suffix. All are upper limits.
 */
enum { OWN_STRINGS = 16, OWN_BYTES = 2 << 20, ITEM_BYTES = 64 };

/* The name of one blob or of several, and which of NAME, NAME_2, NAME_3 ... are in use. */
struct blob_name {
	struct sl_mcpl_string text;
	bool taken;    /* NAME itself */
	uint32_t next; /* the lowest number that was not tried; all lower ones are in use */
};

/* The names of all blobs and of this program's, once each, sorted. */
struct blob_names {
	struct blob_name *at;
	uint32_t n;
};

/* --- equal strings ---------------------------------------------------------------------------- */

/* Compares text and data; 0 for equal items. */
static int compare(const struct sl_mcpl_item *a, const struct sl_mcpl_item *b)
{
	int order = sl_mcpl_order(&a->text, &b->text, "");

	return order ? order : sl_mcpl_order(&a->data, &b->data, "");
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = ((const struct sl_mcpl_item *)a)->place,
		 y = ((const struct sl_mcpl_item *)b)->place;

	return (x > y) - (x < y);
}

/* Equal items stay in the order of their places, so the first of them is the one to keep. */
static int by_text(const void *a, const void *b)
{
	int order = compare((const struct sl_mcpl_item *)a, (const struct sl_mcpl_item *)b);

	return order ? order : by_place(a, b);
}

/*
 * Removes all but the first of equal items and restores the order of places. With value, sets the
 * values of each sum, in the order of the lists. A header has no key twice, so a key that all lists
 * have has one value per list.
 */
static void keep_first(struct sl_mcpl_items *all, uint32_t n_parts, double *value)
{
	uint32_t kept = 0;

	qsort(all->at, all->n, sizeof(*all->at), by_text);
	for (uint32_t i = 0, end = 0; i < all->n; i = end) {
		for (; end < all->n && compare(&all->at[i], &all->at[end]) == 0; end++)
			if (value)
				value[end] = all->at[end].own;
		all->at[kept] = all->at[i];
		all->at[kept++].value = value && end - i == n_parts ? value + i : NULL;
	}
	qsort(all->at, kept, sizeof(*all->at), by_place);
	all->n = kept;
}

/* --- names of blobs --------------------------------------------------------------------------- */

const char *sl_mcpl_blob_suffix(uint32_t number, char text[SL_MCPL_SUFFIX_BYTES])
{
	text[0] = '\0';
	if (number > 1)
		snprintf(text, SL_MCPL_SUFFIX_BYTES, "_%" PRIu32, number);
	return text;
}

static int by_name(const void *a, const void *b)
{
	return sl_mcpl_order(
		&((const struct blob_name *)a)->text, &((const struct blob_name *)b)->text, "");
}

/* Lists the names of all blobs. With own_blob, the name of this program's blob is in use. */
static void list_names(const struct sl_mcpl_items *blobs, bool own_blob, struct blob_names *names)
{
	static const char config[] = SL_MCPL_CONFIG;
	const struct sl_mcpl_string own = {(const uint8_t *)config, sizeof(config) - 1};
	uint32_t all = blobs->n + 1;

	names->at[0].text = own;
	for (uint32_t i = 1; i < all; i++)
		names->at[i].text = blobs->at[i - 1].text;
	qsort(names->at, all, sizeof(*names->at), by_name);
	for (uint32_t i = 0; i < all; i++)
		if (i == 0 || by_name(&names->at[names->n - 1], &names->at[i]) != 0)
			names->at[names->n++].text = names->at[i].text;
	for (uint32_t i = 0; i < names->n; i++) {
		names->at[i].taken = own_blob && sl_mcpl_is_same(&names->at[i].text, &own);
		names->at[i].next = 1;
	}
}

/* A name to search for: text with a suffix. */
struct wanted_name {
	const struct sl_mcpl_string *text;
	char suffix[SL_MCPL_SUFFIX_BYTES];
};

/* The order of a wanted name and the name of a blob, for bsearch(). */
static int by_wanted(const void *wanted, const void *name)
{
	const struct wanted_name *w = (const struct wanted_name *)wanted;

	return -sl_mcpl_order(&((const struct blob_name *)name)->text, w->text, w->suffix);
}

/* The name that is text with the suffix of a number, if it is the name of a blob; else NULL. */
static struct blob_name *find_name(
	const struct blob_names *names, const struct sl_mcpl_string *text, uint32_t number)
{
	struct wanted_name w = {.text = text};

	sl_mcpl_blob_suffix(number, w.suffix);
	return (struct blob_name *)bsearch(&w, names->at, names->n, sizeof(*names->at), by_wanted);
}

/*
 * The number of the next blob of that name: the lowest for which NAME_NUMBER is not in use. Numbers
 * of one name only grow, so each name in use is met once: the search is linear over all blobs.
 */
static uint32_t take_number(const struct blob_names *names, const struct sl_mcpl_string *text)
{
	struct blob_name *own = find_name(names, text, 1), *same;

	for (;; own->next++) {
		same = find_name(names, text, own->next);
		if (!same || !same->taken)
			break;
	}
	if (same)
		same->taken = true;
	return own->next++;
}

/* --- collecting ------------------------------------------------------------------------------- */

/* The next string of a header as an item. */
static struct sl_mcpl_item next_item(const uint8_t **at, uint32_t part, uint32_t *place)
{
	return (struct sl_mcpl_item){
		.text = sl_mcpl_next_string(at), .part = part, .place = (*place)++};
}

/* Adds the strings of a list. Its columns describe the records of that file only. */
static void add_part(struct sl_mcpl_metadata *c, uint32_t part, uint32_t *place)
{
	const struct sl_mcpl_head *head = &c->part[part].head;
	const uint8_t *at = head->bytes + sl_mcpl_put_fixed(NULL, &head->fixed), *data;

	c->sources.at[c->sources.n++] = next_item(&at, part, place);
	for (uint32_t i = 0; i < head->fixed.comments; i++) {
		struct sl_mcpl_item comment = next_item(&at, part, place);
		size_t value_at;

		if (sl_mcpl_is_sum(&comment.text, &value_at, &comment.own)) {
			comment.text.length = (uint32_t)value_at;
			c->sums.at[c->sums.n++] = comment;
		} else if (!sl_mcpl_begins_with(&comment.text, SL_MCPL_COLUMNS)) {
			c->comments.at[c->comments.n++] = comment;
		}
	}
	data = at;
	for (uint32_t i = 0; i < head->fixed.blobs; i++)
		sl_mcpl_next_string(&data);
	for (uint32_t i = 0; i < head->fixed.blobs; i++) {
		struct sl_mcpl_item blob = next_item(&at, part, place);

		blob.data = sl_mcpl_next_string(&data);
		c->blobs.at[c->blobs.n++] = blob;
	}
}

static void lay_out_items(struct sl_arena *a, size_t n, struct sl_mcpl_items *items)
{
	*items = (struct sl_mcpl_items){
		.at = (struct sl_mcpl_item *)sl_cut_items(a, n, sizeof(*items->at))};
}

/* Cuts the items for so many comments and blobs, the values of the sums, and the names. */
static void lay_out(struct sl_arena *a, struct sl_mcpl_metadata *c, size_t comments, size_t blobs,
	double **value, struct blob_names *names)
{
	lay_out_items(a, c->n_parts, &c->sources);
	lay_out_items(a, comments, &c->comments);
	lay_out_items(a, comments, &c->sums);
	lay_out_items(a, blobs, &c->blobs);
	*value = (double *)sl_cut_items(a, comments, sizeof(**value));
	*names = (struct blob_names){
		.at = (struct blob_name *)sl_cut_items(a, blobs + 1, sizeof(*names->at))};
}

/* Refuses strings that do not fit in one header together with those of this program. */
static enum sl_status check_size(const struct sl_mcpl_metadata *c)
{
	const struct sl_mcpl_items *const kinds[] = {
		&c->sources, &c->comments, &c->sums, &c->blobs};
	uint64_t n = OWN_STRINGS + c->blobs.n; /* a blob has two strings */
	size_t bytes = OWN_BYTES;

	for (int k = 0; k < 4; k++) {
		n += kinds[k]->n;
		for (uint32_t i = 0; i < kinds[k]->n; i++)
			bytes += ITEM_BYTES + (size_t)kinds[k]->at[i].text.length +
			         kinds[k]->at[i].data.length;
	}
	return n <= SL_MCPL_STRINGS_MOST && bytes <= SL_MCPL_STRING_BYTES_MOST
	               ? SL_OK
	               : sl_fail(SL_BAD_INPUT,
				 "the lists have %llu different comments and blobs with %zu bytes, "
				 "which an output list would take over, but a header has at most %d "
				 "strings and %d MiB; read fewer lists, or remove their blobs",
				 (unsigned long long)n, bytes, SL_MCPL_STRINGS_MOST,
				 SL_MCPL_STRING_BYTES_MOST >> 20);
}

/* Collects the strings of all headers, with so many comments and blobs, and removes equal ones. */
static enum sl_status merge(
	struct sl_mcpl_metadata *c, size_t comments, size_t blobs, bool own_blob)
{
	struct sl_arena a = {0};
	struct blob_names names;
	uint32_t place = 0;
	double *value;

	lay_out(&a, c, comments, blobs, &value, &names);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &c->block));
	c->memory += a.used;
	a = (struct sl_arena){c->block, 0, a.used};
	lay_out(&a, c, comments, blobs, &value, &names);
	for (uint32_t k = 0; k < c->n_parts; k++)
		add_part(c, k, &place);
	keep_first(&c->sources, 0, NULL);
	keep_first(&c->comments, 0, NULL);
	keep_first(&c->sums, c->n_parts, value);
	keep_first(&c->blobs, 0, NULL);
	list_names(&c->blobs, own_blob, &names);
	for (uint32_t i = 0; i < c->blobs.n; i++)
		c->blobs.at[i].number = take_number(&names, &c->blobs.at[i].text);
	return check_size(c);
}

enum sl_status sl_mcpl_metadata_add(
	const struct sl_mcpl_part *parts, uint32_t n, bool own_blob, struct sl_mcpl_metadata **made)
{
	size_t comments = 0, blobs = 0;
	struct sl_mcpl_metadata *c;

	*made = NULL;
	SL_TRY(sl_host_get(1, sizeof(*c) + n * sizeof(*parts), made));
	c = *made;
	*c = (struct sl_mcpl_metadata){.part = (struct sl_mcpl_part *)(void *)(c + 1),
		.memory = sizeof(*c) + n * sizeof(*parts)};
	while (c->n_parts < n) {
		struct sl_mcpl_part *p = &c->part[c->n_parts];
		bool recovered;

		*p = parts[c->n_parts];
		SL_TRY(sl_mcpl_head_read(p->file, p->bytes, &p->head, &recovered));
		c->n_parts++;
		c->memory += p->head.size;
		comments += p->head.fixed.comments;
		blobs += p->head.fixed.blobs;
		if (c->memory > all_bytes_most || comments + 2 * blobs > ALL_STRINGS_MOST)
			return sl_fail(SL_BAD_INPUT,
				"the headers of the lists have together more than %zu MiB or %d "
				"strings, which is the limit; read fewer lists at a time",
				all_bytes_most >> 20, ALL_STRINGS_MOST);
	}
	return merge(c, comments, blobs, own_blob);
}

void sl_mcpl_metadata_free(struct sl_mcpl_metadata *c)
{
	if (!c)
		return;
	for (uint32_t k = 0; k < c->n_parts; k++)
		sl_mcpl_head_free(&c->part[k].head);
	sl_memory_give(SL_HOST, c->block);
	sl_memory_give(SL_HOST, c);
}

/* --- sums ------------------------------------------------------------------------------------- */

/*
 * The share of a list's value that belongs to the particles before number to, rounded down if the
 * value is an integer. Differences of two such shares then add up to the value. The value of a list
 * without particles belongs to the next particle, or, at the end, to the last one.
 */
static double share(const struct sl_mcpl_part *p, double value, uint64_t to, bool at_end)
{
	double part;

	if (at_end || to >= p->first + p->particles + (p->particles == 0))
		return value;
	if (to <= p->first)
		return 0;
	part = value * ((double)(to - p->first) / (double)p->particles);
	return value == floor(value) ? floor(part) : part;
}

uint64_t sl_mcpl_metadata_particles(const struct sl_mcpl_metadata *c)
{
	const struct sl_mcpl_part *last = &c->part[c->n_parts - 1];

	return last->first + last->particles;
}

double sl_mcpl_metadata_sum(
	const struct sl_mcpl_metadata *c, uint32_t k, uint64_t from, uint64_t to)
{
	uint64_t end = sl_mcpl_metadata_particles(c);
	double sum = 0;

	for (uint32_t i = 0; i < c->n_parts; i++) {
		double value = c->sums.at[k].value ? c->sums.at[k].value[i] : -1;

		if (value < 0)
			return -1;
		sum += share(&c->part[i], value, to, to == end) -
		       (end > 0 ? share(&c->part[i], value, from, from == end) : 0);
	}
	return sum;
}

bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c)
{
	for (uint32_t k = 0; c && k < c->sums.n; k++)
		if (c->sums.at[k].text.length == strlen(SL_MCPL_STAT) &&
			sl_mcpl_begins_with(&c->sums.at[k].text, SL_MCPL_STAT))
			return true;
	return false;
}
