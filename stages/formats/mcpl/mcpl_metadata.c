/*
 * mcpl_metadata.c - sorts the strings of all input lists to find equal ones.
 *
 * Each string becomes an item with its place in the order of the lists. Equal items are adjacent after
 * sorting by text; the first of them is kept, and sorting by place restores the order. The items need
 * memory only while the metadata is made.
 */
#include "stages/formats/mcpl/mcpl_metadata.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stages/formats/mcpl/mcpl.h"

/* Limits over all lists. The last one leaves space for what this program adds to each header. */
enum { ALL_STRINGS_MOST = 1 << 22, OWN_STRINGS = 16, OWN_BYTES = 2 << 20 };
static const size_t all_bytes_most = (size_t)1 << 30;

/* A string, or a blob with its name, before equal ones are removed. */
struct item {
	struct sl_mcpl_string text; /* the name of a blob; the key of a sum */
	struct sl_mcpl_string data; /* the content of a blob, else empty */
	uint32_t part;              /* of a blob: the index of its list */
	uint32_t place;             /* in the order of the lists and of their strings */
	uint32_t first, n;          /* of a sum: its values, and in how many lists it is */
	double value;               /* of a sum */
};

/* The name of blobs, and which of NAME, NAME_2, NAME_3 ... are in use. */
struct name {
	struct sl_mcpl_string text;
	bool taken;    /* NAME itself */
	uint32_t next; /* the lowest number that was not tried; all lower ones are in use */
};

/* The items of all lists by kind, while the metadata is made. */
struct items {
	struct item *source, *comment, *sum, *blob;
	uint32_t n_sources, n_comments, n_sums, n_blobs;
	struct name *name; /* of all blobs and of this program's, sorted */
	uint32_t n_names;
};

static bool has_prefix(const struct sl_mcpl_string *s, const char *prefix)
{
	return s->length >= strlen(prefix) && memcmp(s->at, prefix, strlen(prefix)) == 0;
}

/* --- equal strings ---------------------------------------------------------------------------- */

/* Compares text and data; 0 for equal items. */
static int compare(const struct item *a, const struct item *b)
{
	int order = sl_mcpl_order(&a->text, &b->text, "");

	return order ? order : sl_mcpl_order(&a->data, &b->data, "");
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = ((const struct item *)a)->place, y = ((const struct item *)b)->place;

	return (x > y) - (x < y);
}

/* Equal items stay in the order of their places, so the first of them is the one to keep. */
static int by_text(const void *a, const void *b)
{
	int order = compare((const struct item *)a, (const struct item *)b);

	return order ? order : by_place(a, b);
}

/* Removes all but the first of equal items and restores the order of places. */
static void keep_first(struct item *all, uint32_t *n)
{
	uint32_t kept = 0;

	qsort(all, *n, sizeof(*all), by_text);
	for (uint32_t i = 0; i < *n; i++)
		if (i == 0 || compare(&all[kept - 1], &all[i]) != 0)
			all[kept++] = all[i];
	qsort(all, kept, sizeof(*all), by_place);
	*n = kept;
}

/*
 * Removes all but the first of sums with equal keys, and stores the values of a key in the order of
 * the lists. A header has no key twice, so a key has at most one value per list.
 */
static void keep_sums(struct item *all, uint32_t *n, double *value)
{
	uint32_t kept = 0;

	qsort(all, *n, sizeof(*all), by_text);
	for (uint32_t i = 0; i < *n; i++) {
		value[i] = all[i].value;
		if (i == 0 || compare(&all[kept - 1], &all[i]) != 0) {
			all[kept] = all[i];
			all[kept].first = i;
			all[kept++].n = 0;
		}
		all[kept - 1].n++;
	}
	qsort(all, kept, sizeof(*all), by_place);
	*n = kept;
}

/* --- names of blobs --------------------------------------------------------------------------- */

static const char *print_suffix(uint32_t number, char text[SL_MCPL_SUFFIX_BYTES])
{
	text[0] = '\0';
	if (number > 1)
		snprintf(text, SL_MCPL_SUFFIX_BYTES, "_%" PRIu32, number);
	return text;
}

const char *sl_mcpl_blob_suffix(const struct sl_mcpl_blob *b, char text[SL_MCPL_SUFFIX_BYTES])
{
	return print_suffix(b->number, text);
}

static int by_name(const void *a, const void *b)
{
	return sl_mcpl_order(&((const struct name *)a)->text, &((const struct name *)b)->text, "");
}

/* Lists the names of all blobs once, sorted. The name of this program's blob is in use. */
static void list_names(struct items *it)
{
	static const char config[] = SL_MCPL_CONFIG;
	const struct sl_mcpl_string own = {(const uint8_t *)config, sizeof(config) - 1};
	uint32_t kept = 0;

	it->name[0] = (struct name){own, false, 1};
	for (uint32_t i = 0; i < it->n_blobs; i++)
		it->name[i + 1] = (struct name){it->blob[i].text, false, 1};
	qsort(it->name, it->n_blobs + 1, sizeof(*it->name), by_name);
	for (uint32_t i = 0; i < it->n_blobs + 1; i++)
		if (i == 0 || by_name(&it->name[kept - 1], &it->name[i]) != 0)
			it->name[kept++] = it->name[i];
	it->n_names = kept;
	for (uint32_t i = 0; i < kept; i++)
		it->name[i].taken = sl_mcpl_is_same(&it->name[i].text, &own);
}

/* The name that is text with the suffix of a number, if it is the name of a blob; else NULL. */
static struct name *find_name(
	const struct items *it, const struct sl_mcpl_string *text, uint32_t number)
{
	char suffix[SL_MCPL_SUFFIX_BYTES];
	uint32_t begin = 0, end = it->n_names;

	print_suffix(number, suffix);
	while (begin < end) {
		uint32_t middle = begin + (end - begin) / 2;
		int order = sl_mcpl_order(&it->name[middle].text, text, suffix);

		if (order == 0)
			return &it->name[middle];
		if (order < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	return NULL;
}

/*
 * The number of the next blob of that name: the lowest for which NAME_NUMBER is not in use. Numbers of
 * one name only grow, so each name in use is met once: the search is linear over all blobs.
 */
static uint32_t take_number(struct items *it, const struct sl_mcpl_string *text)
{
	struct name *own = find_name(it, text, 1), *same;

	for (;; own->next++) {
		same = find_name(it, text, own->next);
		if (!same || !same->taken)
			break;
	}
	if (same)
		same->taken = true;
	return own->next++;
}

/* --- collecting ------------------------------------------------------------------------------- */

/* Adds the strings of a list. Its columns describe the records of that file only. */
static void add_part(
	struct items *it, const struct sl_mcpl_head *head, uint32_t part, uint32_t *place)
{
	const uint8_t *at = head->bytes + sl_mcpl_put_fixed(NULL, &head->fixed), *data;

	it->source[it->n_sources++] =
		(struct item){.text = sl_mcpl_next_string(&at), .place = (*place)++};
	for (uint32_t i = 0; i < head->fixed.comments; i++) {
		struct item comment = {.text = sl_mcpl_next_string(&at), .place = (*place)++};
		size_t value_at;

		if (sl_mcpl_is_sum(&comment.text, &value_at, &comment.value)) {
			comment.text.length = (uint32_t)value_at;
			it->sum[it->n_sums++] = comment;
		} else if (!has_prefix(&comment.text, SL_MCPL_COLUMNS)) {
			it->comment[it->n_comments++] = comment;
		}
	}
	data = at;
	for (uint32_t i = 0; i < head->fixed.blobs; i++)
		sl_mcpl_next_string(&data);
	for (uint32_t i = 0; i < head->fixed.blobs; i++) {
		struct item blob = {
			.text = sl_mcpl_next_string(&at), .part = part, .place = (*place)++};

		blob.data = sl_mcpl_next_string(&data);
		it->blob[it->n_blobs++] = blob;
	}
}

/* Cuts the items for so many comments and blobs of n lists. */
static void lay_out_items(
	struct sl_arena *a, size_t n, size_t comments, size_t blobs, struct items *it)
{
	it->source = (struct item *)sl_cut_items(a, n, sizeof(*it->source));
	it->comment = (struct item *)sl_cut_items(a, comments, sizeof(*it->comment));
	it->sum = (struct item *)sl_cut_items(a, comments, sizeof(*it->sum));
	it->blob = (struct item *)sl_cut_items(a, blobs, sizeof(*it->blob));
	it->name = (struct name *)sl_cut_items(a, blobs + 1, sizeof(*it->name));
}

/* Cuts the arrays of the metadata for the kept items; values for all n_values sums of all lists. */
static void lay_out(struct sl_arena *a, const struct items *it, uint32_t n_values,
	struct sl_mcpl_metadata *c, double **values)
{
	c->source = (struct sl_mcpl_string *)sl_cut_items(a, it->n_sources, sizeof(*c->source));
	c->comment = (struct sl_mcpl_string *)sl_cut_items(a, it->n_comments, sizeof(*c->comment));
	c->sum = (struct sl_mcpl_sum *)sl_cut_items(a, it->n_sums, sizeof(*c->sum));
	c->blob = (struct sl_mcpl_blob *)sl_cut_items(a, it->n_blobs, sizeof(*c->blob));
	*values = (double *)sl_cut_items(a, n_values, sizeof(**values));
}

/* Refuses strings that do not fit in one header together with those of this program. */
static enum sl_status check_size(const struct sl_mcpl_metadata *c)
{
	uint64_t n = OWN_STRINGS + (uint64_t)c->n_sources + c->n_comments + c->n_sums +
	             2 * (uint64_t)c->n_blobs;
	size_t bytes = OWN_BYTES + (size_t)n * 64; /* lengths, prefixes, values and suffixes */

	for (uint32_t i = 0; i < c->n_sources; i++)
		bytes += c->source[i].length;
	for (uint32_t i = 0; i < c->n_comments; i++)
		bytes += c->comment[i].length;
	for (uint32_t i = 0; i < c->n_sums; i++)
		bytes += c->sum[i].key.length;
	for (uint32_t i = 0; i < c->n_blobs; i++)
		bytes += (size_t)c->blob[i].name.length + c->blob[i].data.length;
	return n <= SL_MCPL_STRINGS_MOST && bytes <= SL_MCPL_STRING_BYTES_MOST
	               ? SL_OK
	               : sl_fail(SL_BAD_INPUT,
				 "the lists have %llu different comments and blobs with %zu bytes, "
				 "which an output list would take over, but a header has at most %d "
				 "strings and %d MiB; read fewer lists, or remove their blobs",
				 (unsigned long long)n, bytes, SL_MCPL_STRINGS_MOST,
				 SL_MCPL_STRING_BYTES_MOST >> 20);
}

/* Moves the kept items to the arrays of the metadata. */
static enum sl_status store(
	struct items *it, uint32_t n_values, const double *value, struct sl_mcpl_metadata *c)
{
	struct sl_arena a = {0};
	double *values;

	lay_out(&a, it, n_values, c, &values);
	SL_TRY(sl_memory_get(SL_HOST, a.used, &c->block));
	c->memory += a.used;
	a = (struct sl_arena){c->block, 0, a.used};
	lay_out(&a, it, n_values, c, &values);
	for (uint32_t i = 0; i < n_values; i++)
		values[i] = value[i];
	for (; c->n_sources < it->n_sources; c->n_sources++)
		c->source[c->n_sources] = it->source[c->n_sources].text;
	for (; c->n_comments < it->n_comments; c->n_comments++)
		c->comment[c->n_comments] = it->comment[c->n_comments].text;
	for (; c->n_sums < it->n_sums; c->n_sums++) {
		const struct item *sum = &it->sum[c->n_sums];

		c->sum[c->n_sums] = (struct sl_mcpl_sum){
			sum->text, sum->n == c->n_parts ? values + sum->first : NULL};
	}
	for (; c->n_blobs < it->n_blobs; c->n_blobs++) {
		const struct item *blob = &it->blob[c->n_blobs];

		c->blob[c->n_blobs] = (struct sl_mcpl_blob){
			blob->text, blob->data, take_number(it, &blob->text), blob->part};
	}
	return check_size(c);
}

/* Collects the strings of all headers and stores those that differ. */
static enum sl_status merge(struct sl_mcpl_metadata *c, size_t comments, size_t blobs)
{
	struct sl_arena a = {0};
	struct items it = {0};
	double *value = NULL;
	uint32_t place = 0, n_values = 0;
	enum sl_status s;
	void *memory = NULL;

	for (int i = 0; i < 2; i++) {
		lay_out_items(&a, c->n_parts, comments, blobs, &it);
		value = (double *)sl_cut_items(&a, comments, sizeof(*value));
		if (i == 0) {
			SL_TRY(sl_memory_get(SL_HOST, a.used, &memory));
			a = (struct sl_arena){memory, 0, a.used};
		}
	}
	for (uint32_t k = 0; k < c->n_parts; k++)
		add_part(&it, &c->part[k].head, k, &place);
	n_values = it.n_sums;
	keep_first(it.source, &it.n_sources);
	keep_first(it.comment, &it.n_comments);
	keep_sums(it.sum, &it.n_sums, value);
	keep_first(it.blob, &it.n_blobs);
	list_names(&it);
	s = store(&it, n_values, value, c);
	sl_memory_give(SL_HOST, memory);
	return s;
}

enum sl_status sl_mcpl_metadata_add(
	const struct sl_mcpl_part *parts, uint32_t n, struct sl_mcpl_metadata **made)
{
	size_t comments = 0, blobs = 0;
	struct sl_mcpl_metadata *c;
	void *memory;

	*made = NULL;
	SL_TRY(sl_memory_get(SL_HOST, sizeof(*c) + n * sizeof(*parts), &memory));
	c = *made = (struct sl_mcpl_metadata *)memory;
	*c = (struct sl_mcpl_metadata){.part = (struct sl_mcpl_part *)(void *)(c + 1),
		.memory = sizeof(*c) + n * sizeof(*parts)};
	for (; c->n_parts < n; c->n_parts++) {
		struct sl_mcpl_part *p = &c->part[c->n_parts];
		bool recovered;

		*p = parts[c->n_parts];
		SL_TRY(sl_mcpl_head_read(p->file, p->bytes, &p->head, &recovered));
		c->memory += p->head.size;
		comments += p->head.fixed.comments;
		blobs += p->head.fixed.blobs;
		if (c->memory > all_bytes_most || comments + 2 * blobs > ALL_STRINGS_MOST) {
			sl_mcpl_head_free(&p->head);
			return sl_fail(SL_BAD_INPUT,
				"the headers of the lists have together more than %zu MiB or %d "
				"strings, which is the limit; read fewer lists at a time",
				all_bytes_most >> 20, ALL_STRINGS_MOST);
		}
	}
	return merge(c, comments, blobs);
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

double sl_mcpl_metadata_sum(
	const struct sl_mcpl_metadata *c, uint32_t k, uint64_t from, uint64_t to)
{
	const struct sl_mcpl_part *last = &c->part[c->n_parts - 1];
	uint64_t end = last->first + last->particles;
	double sum = 0;

	for (uint32_t i = 0; i < c->n_parts; i++) {
		double value = c->sum[k].value ? c->sum[k].value[i] : -1;

		if (value < 0)
			return -1;
		sum += share(&c->part[i], value, to, to == end) -
		       share(&c->part[i], value, from, from == end);
	}
	return sum;
}

bool sl_mcpl_metadata_has_generated(const struct sl_mcpl_metadata *c)
{
	for (uint32_t k = 0; c && k < c->n_sums; k++)
		if (c->sum[k].key.length == strlen(SL_MCPL_STAT) &&
			has_prefix(&c->sum[k].key, SL_MCPL_STAT))
			return true;
	return false;
}
