/*
 * manifest_line.c - a line is a JSON object whose last member is the CRC-32 of the text before it.
 *
 *	{"batch":0,"first_id":0,"generated":1048576,"survivors":..,"fates":{"hit":..},
 *	 "weights":{"hit":..},"squares":{"hit":..},"steps":..,"collisions":..,
 *	 "log_likelihood":..,"digests":{"x":"16 digits"},
 *	 "file":{"name":"..","bytes":..,"crc":"8 digits"},"bins":{..as file},"order":{..as file},
 *	 "crc":"8 digits"}
 *
 * Fates without particles are omitted, as are "squares" if all are 0, because weights do not
 * differ, "log_likelihood", in 2^-32, of models that are no filters, and "file", "bins" and "order" if there are no such files. Reading checks the CRC first,
 * which finds damage. Then the values read are printed again and must give the same bytes, which
 * finds missing and unknown members.
 */
#include "pipeline/results/results.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/files/files.h"

enum { CRC_DIGITS = 8, DIGEST_DIGITS = 16 };

/* The text around the digits of the last member. */
#define CRC_BEFORE ",\"crc\":\""
#define CRC_AFTER  "\"}"

enum { TAIL_BYTES = sizeof(CRC_BEFORE) - 1 + CRC_DIGITS + sizeof(CRC_AFTER) - 1 };

/* Prints the counts, the weights or the squares of the fates that have particles. */
static void print_fates(struct sl_json *j, const char *key, const struct sl_tally *t,
	const uint64_t number[SL_FATE_COUNT])
{
	sl_json_object(j, key);
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		if (t->count[f] != 0 || t->weight[f] != 0 || t->square[f] != 0)
			sl_json_u64(j, sl_fate_facts[f].name, number[f]);
	}
	sl_json_close(j);
}

static bool has_squares(const struct sl_tally *t)
{
	uint64_t any = 0;

	for (int f = 0; f < SL_FATE_COUNT; f++)
		any |= t->square[f];
	return any != 0;
}

void sl_manifest_digests(struct sl_json *j, const struct sl_manifest_line *line)
{
	sl_json_object(j, "digests");
	for (int c = 0; c < SL_COLUMN_COUNT; c++) {
		if (SL_HAS(line->columns, c))
			sl_json_hex(j, sl_label_name(line->label, (enum sl_column)c),
				line->digest[c], DIGEST_DIGITS);
	}
	sl_json_close(j);
}

/* Prints name, size and checksum of a file that exists. */
static void print_file(struct sl_json *j, const char *key, const struct sl_committed_file *f)
{
	if (f->name[0])
		sl_json_add(j, "%s { name %s bytes %lu crc %8x }", key, f->name, f->bytes, f->crc);
}

size_t sl_manifest_print(const struct sl_manifest_line *line, char text[SL_MANIFEST_LINE_BYTES])
{
	struct sl_json j = sl_json_start(text, SL_MANIFEST_LINE_BYTES - 1, false);

	sl_json_add(&j, "{ batch %lu first_id %lu generated %lu survivors %lu", line->batch,
		line->first_id, line->generated, line->survivors);
	print_fates(&j, "fates", &line->tally, line->tally.count);
	print_fates(&j, "weights", &line->tally, line->tally.weight);
	if (has_squares(&line->tally))
		print_fates(&j, "squares", &line->tally, line->tally.square);
	sl_json_add(&j, "steps %lu collisions %lu", line->tally.steps, line->tally.collisions);
	if (line->tally.log_likelihood != 0)
		sl_json_formatted(
			&j, "log_likelihood", sl_said("%" PRId64, line->tally.log_likelihood));
	sl_manifest_digests(&j, line);
	print_file(&j, "file", &line->file);
	print_file(&j, "bins", &line->bins);
	print_file(&j, "order", &line->order);
	sl_json_hex(&j, "crc", sl_crc32(text, j.used), CRC_DIGITS);
	sl_json_close(&j);
	memcpy(text + j.used, "\n", 2);
	return j.used + 1;
}

/* Fails with the reason why a line is not valid. */
static enum sl_status refuse(const char *why)
{
	return sl_fail(SL_BAD_INPUT,
		"a line of manifest.jsonl is not valid (%s); use --resume, which computes its "
		"batch again",
		why);
}

/* Does the line end with the CRC of the text before it? */
static bool has_right_crc(const char *text, size_t bytes)
{
	if (bytes < TAIL_BYTES)
		return false;
	bytes -= TAIL_BYTES;
	return memcmp(text + bytes,
		       sl_said(CRC_BEFORE "%08" PRIx32 CRC_AFTER, sl_crc32(text, bytes)),
		       TAIL_BYTES) == 0;
}

/* Reads counts, weights and squares; fates that are not listed have none. */
static void read_fates(const struct sl_yaml *tree, struct sl_tally *t)
{
	static const char *const keys[] = {"fates", "weights", "squares"};
	uint64_t *const to[] = {t->count, t->weight, t->square};

	for (int k = 0; k < 3; k++) {
		const sl_node node = sl_yaml_get(tree, SL_YAML_ROOT, keys[k]);

		for (int f = 0; f < SL_FATE_COUNT; f++)
			to[k][f] = sl_yaml_number(tree, node, sl_fate_facts[f].name);
	}
}

/* The column of a digest: a name that no column has is that of the next named column. */
static enum sl_column column_of(struct sl_manifest_line *line, const char *name)
{
	enum sl_column column = sl_column_find(name);

	for (int i = 0; column == SL_COLUMN_COUNT && i < SL_NAMED_COLUMNS_MAX; i++)
		if (!line->label[i].name[0]) {
			if (sl_label_set_name(&line->label[i], name, strlen(name)))
				column = (enum sl_column)(SL_COLUMN_derived_1 + i);
			break;
		}
	return column;
}

/* Reads the digests; their keys are the columns of the file. */
static void read_digests(const struct sl_yaml *tree, struct sl_manifest_line *line)
{
	sl_node digests = sl_yaml_get(tree, SL_YAML_ROOT, "digests"), key;

	for (size_t i = 0; i < sl_yaml_size(tree, digests); i++) {
		sl_node digest = sl_yaml_item(tree, digests, i, &key);
		enum sl_column c = column_of(line, sl_yaml_text(tree, key, NULL));

		if (c == SL_COLUMN_COUNT)
			continue;
		line->columns |= SL_BIT(c);
		/* another text than digits gives a value that the comparison refuses */
		line->digest[c] = strtoull(sl_yaml_text(tree, digest, NULL), NULL, 16);
	}
}

/* Reads name, size and checksum of a file; "" and 0 if there is no such member. */
static void read_file(const struct sl_yaml *tree, const char *key, struct sl_committed_file *f)
{
	sl_node file = sl_yaml_get(tree, SL_YAML_ROOT, key);

	snprintf(f->name, SL_FILE_NAME_BYTES, "%s",
		sl_yaml_text(tree, sl_yaml_get(tree, file, "name"), NULL));
	f->bytes = sl_yaml_number(tree, file, "bytes");
	f->crc = (uint32_t)strtoull(
		sl_yaml_text(tree, sl_yaml_get(tree, file, "crc"), NULL), NULL, 16);
}

/* Reads the members that exist; printing the line again shows what is missing. */
static void read_line(const struct sl_yaml *tree, struct sl_manifest_line *line)
{
	line->batch = sl_yaml_number(tree, SL_YAML_ROOT, "batch");
	line->first_id = sl_yaml_number(tree, SL_YAML_ROOT, "first_id");
	line->generated = sl_yaml_number(tree, SL_YAML_ROOT, "generated");
	line->survivors = sl_yaml_number(tree, SL_YAML_ROOT, "survivors");
	line->tally.steps = sl_yaml_number(tree, SL_YAML_ROOT, "steps");
	line->tally.collisions = sl_yaml_number(tree, SL_YAML_ROOT, "collisions");
	line->tally.log_likelihood = (int64_t)strtoll(
		sl_yaml_text(tree, sl_yaml_get(tree, SL_YAML_ROOT, "log_likelihood"), NULL), NULL,
		10);
	read_file(tree, "file", &line->file);
	read_file(tree, "bins", &line->bins);
	read_file(tree, "order", &line->order);
	read_fates(tree, &line->tally);
	read_digests(tree, line);
}

/* Each particle has exactly one fate, and there are no more survivors than particles. */
static bool adds_up(const struct sl_manifest_line *line)
{
	uint64_t rest = line->generated;

	for (int f = 0; f < SL_FATE_COUNT; f++) {
		if (line->tally.count[f] > rest)
			return false;
		rest -= line->tally.count[f];
	}
	return rest == 0 && line->survivors <= line->generated;
}

enum sl_status sl_manifest_parse(const char *text, size_t bytes, struct sl_manifest_line *line)
{
	char again[SL_MANIFEST_LINE_BYTES];
	struct sl_yaml_problem problem;
	struct sl_yaml *tree;
	enum sl_status s;

	*line = (struct sl_manifest_line){.batch = 0};
	if (bytes >= SL_MANIFEST_LINE_BYTES)
		return refuse("it is too long");
	if (!has_right_crc(text, bytes))
		return refuse("its checksum is wrong: it is incomplete or was changed");
	s = sl_yaml_parse(text, bytes, &tree, &problem);
	if (s == SL_OK)
		read_line(tree, line);
	sl_yaml_free(tree);
	/* a lack of memory says nothing about the line */
	if (s != SL_OK && s != SL_BAD_INPUT)
		return s;
	if (sl_manifest_print(line, again) != bytes + 1 || memcmp(text, again, bytes))
		return refuse("another version of the program wrote it");
	return adds_up(line) ? SL_OK : refuse("its fates do not add up to its particles");
}
