/*
 * input_reader.c - opens particle lists and reads the particles of batches.
 *
 * All files are mapped, so opening thousands of them needs no buffers, and the reader of a plain
 * file is a copy of its stream, moved to the record that is wanted. Gzip files share one window of
 * 64 KiB and the state of ISA-L, because only one batch at a time can decompress. A mapping shows
 * changes that another process makes; each read is followed by a check of size and time of the
 * file.
 */
#include "stages/inputs/inputs.h"

#include <string.h>

#include "primitives/base/arena.h"
#include "primitives/device/device.h"

/* Upper limit of particles per file, so that no sum over 4096 files overflows 64 bits. */
#define FILE_PARTICLES_MOST (UINT64_C(1) << 48)

/* --- opening ---------------------------------------------------------------------------------- */

/* Opens file k, at its first particle; it is MCPL or of another format. */
static enum sl_status open_source(struct sl_reading *r, uint32_t k, const char *path)
{
	struct sl_input_source *f = &r->source[k];
	enum sl_status s;

	SL_TRY(sl_map_file(path, &f->map));
	s = sl_phase_space_open(path, &f->map, &f->space);
	if (s == SL_OK && !f->space && sl_is_gzip(f->map.at, f->map.bytes)) {
		s = sl_reading_begin_gzip(r, k);
		f->stream = r->gzip;
	} else if (s == SL_OK && !f->space) {
		s = sl_mcpl_open(&f->stream, f->map.at, f->map.bytes);
		s = s == SL_OK ? sl_mcpl_skip_head(&f->stream) : s;
	}
	if (s == SL_OK && !f->space)
		s = sl_mcpl_head_check(f->map.at, f->map.bytes);
	return sl_add_context(s, "%s", path);
}

/*
 * Maps file k, reads its header and sets inputs->at[k]. The stamp changes with the
 * file, so that a plan can tell whether it sees the files that were surveyed.
 */
static enum sl_status open_input(struct sl_inputs *inputs, uint32_t k)
{
	struct sl_input_source *source = &inputs->reading.source[k];
	const struct sl_mcpl_stream *s = &source->stream;
	const struct sl_mcpl_header *h;
	struct sl_input *f = &inputs->at[k];

	SL_TRY(open_source(&inputs->reading, k, f->path));
	h = sl_input_source_fields(source);
	if (h->particles > FILE_PARTICLES_MOST)
		return sl_fail(SL_BAD_INPUT,
			"%s: its header claims %llu particles, more than a run can have, so the file is "
			"damaged; create it again",
			f->path, (unsigned long long)h->particles);
	inputs->stamp = sl_input_source_stamp(source, inputs->stamp);
	f->bytes = sl_input_source_bytes(source);
	f->first = inputs->particles;
	f->particles = h->particles;
	f->gzipped = s->gzipped;
	f->single = h->single;
	f->recovered = s->recovered;
	f->has_metadata = h->comments + (uint64_t)h->blobs > 0;
	if (source->space) {
		inputs->memory += source->space->memory;
		f->format = source->space->format->name;
		f->unread = source->space->unread;
	}
	return SL_OK;
}

/*
 * Removes from the constants those columns in which file k differs from the files before it. A
 * column that is constant is not stored, which saves memory and files; a weight of 1 is the usual
 * case.
 */
static void find_constants(struct sl_inputs *inputs, uint32_t k)
{
	const struct sl_mcpl_header *h = sl_input_source_fields(&inputs->reading.source[k]);
	const struct sl_particle values = {.weight = (float)h->weight, .pdg = h->pdg};

	if (k == 0) {
		inputs->constants = SL_BIT(SL_COLUMN_weight) | SL_BIT(SL_COLUMN_pdg) |
		                    SL_BIT(SL_COLUMN_userflags) | SL_MCPL_POLARISATION;
		inputs->constant = values;
		inputs->weight = h->weight;
	}
	inputs->doubles |= !h->single;
	if (h->polarised)
		inputs->constants &= ~(sl_column_set)SL_MCPL_POLARISATION;
	if (h->flags)
		inputs->constants &= ~SL_BIT(SL_COLUMN_userflags);
	if (h->pdg == 0 || values.pdg != inputs->constant.pdg)
		inputs->constants &= ~SL_BIT(SL_COLUMN_pdg);
	if (h->weight == 0 || h->weight != inputs->weight)
		inputs->constants &= ~SL_BIT(SL_COLUMN_weight);
}

enum sl_status sl_inputs_open(const struct sl_lines *files, sl_run_lister *list_run,
	struct sl_inputs **made, uint32_t *which)
{
	struct sl_input_files names;
	struct sl_inputs *inputs;
	enum sl_status s;
	size_t bytes;

	*made = NULL;
	SL_TRY(sl_find_input_files(files, list_run, &names, which));
	bytes = sizeof(*inputs) + names.n * (sizeof(*inputs->at) + sizeof(*inputs->reading.source));
	s = sl_host_get_zeroed(1, bytes, made);
	if (s != SL_OK) {
		sl_memory_give(SL_HOST, names.at);
		return s;
	}
	inputs = *made;
	inputs->reading.source = (struct sl_input_source *)(void *)(inputs + 1);
	inputs->at = (struct sl_input *)(void *)(inputs->reading.source + names.n);
	pthread_mutex_init(&inputs->reading.lock, NULL);
	pthread_cond_init(&inputs->reading.next, NULL);
	inputs->names = names;
	inputs->memory = bytes + names.bytes;
	for (uint32_t k = 0; k < names.n; k++) {
		inputs->at[k].path = names.at[k].path;
		inputs->at[k].item = *which = names.at[k].item;
		inputs->n++;
		SL_TRY(open_input(inputs, k));
		find_constants(inputs, k);
		inputs->particles += inputs->at[k].particles;
	}
	if (inputs->reading.gzipped)
		inputs->memory += SL_MCPL_GZIP_BYTES;
	return SL_OK;
}

void sl_inputs_close(struct sl_inputs *inputs)
{
	if (!inputs)
		return;
	sl_mcpl_metadata_free(inputs->metadata);
	for (uint32_t k = 0; k < inputs->n; k++) {
		sl_phase_space_close(&inputs->reading.source[k].space);
		sl_unmap(&inputs->reading.source[k].map);
	}
	sl_mcpl_close(&inputs->reading.gzip);
	sl_memory_give(SL_HOST, inputs->reading.kept);
	pthread_cond_destroy(&inputs->reading.next);
	pthread_mutex_destroy(&inputs->reading.lock);
	sl_memory_give(SL_HOST, inputs->names.at);
	sl_memory_give(SL_HOST, inputs);
}

void sl_inputs_restart(struct sl_inputs *inputs)
{
	inputs->reading.turn = 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The columns of a particle of a list: those of its record, and its fate. */
enum { LIST_COLUMNS = SL_MCPL_LIST | SL_BIT(SL_COLUMN_fate) };

/* Where particles go: places place to place + n - 1 of b, with source records of a layout. */
struct places {
	const struct sl_batch *b;
	const struct sl_mcpl_header *layout;
	uint32_t place, n;
	bool drops;   /* some particles of the file are damaged */
	float weight; /* that all files have, or 0 */
};

/* Stores a damaged particle at place i: nothing may add up its numbers. */
static void store_damaged(const struct places *to, uint32_t i)
{
	const struct sl_particle p = {.weight = to->weight, .fate = SL_FATE_damaged};

	sl_store(&to->b->columns, LIST_COLUMNS, i, &p);
}

/* Stores particles from n records, and keeps these as their source records. */
static void store_records(const struct sl_mcpl_header *h, const uint8_t *records, uint32_t n,
	uint32_t place, const struct places *to)
{
	const size_t source_bytes = to->layout->record_bytes;
	struct sl_mcpl_target columns = {0};

	if (to->b->source)
		sl_mcpl_recode_records(
			h, records, n, to->layout, (uint8_t *)to->b->source + place * source_bytes);
	for (int k = 0; k < SL_COLUMN_COUNT; k++)
		if (SL_HAS(SL_MCPL_LIST, k))
			columns.column[k] = sl_column_at(&to->b->columns, (enum sl_column)k);
	sl_mcpl_to_columns(h, records, n, &columns, place);
	memset(to->b->columns.fate + place, SL_FATE_listed, n);
	for (uint32_t i = 0; to->drops && i < n; i++)
		if (sl_is_damaged_record(h, records + (size_t)i * h->record_bytes))
			store_damaged(to, place + i);
}

/* The next *n of so many records. */
static enum sl_status next_records(
	struct sl_mcpl_stream *s, uint64_t most, const uint8_t **records, size_t *n)
{
	SL_TRY(sl_mcpl_raw(s, (size_t)most * s->header.record_bytes, records, n));
	if (*n > 0)
		return SL_OK;
	return sl_fail(SL_BAD_INPUT, "the file has fewer particles than before");
}

/*
 * Reads the next particles of a stream. Another process could change the file at the same time;
 * read_some() then refuses the batch.
 */
static enum sl_status read_stream(struct sl_mcpl_stream *s, const struct places *to)
{
	const uint8_t *records;
	size_t n;

	for (uint32_t done = 0; done < to->n; done += (uint32_t)n) {
		SL_TRY(next_records(s, to->n - done, &records, &n));
		store_records(&s->header, records, (uint32_t)n, to->place + done, to);
	}
	return SL_OK;
}

/* Reads particles of a plain file, from number from of the file on, by a copy of its stream. */
static enum sl_status read_plain(
	const struct sl_input_source *f, uint64_t from, const struct places *to)
{
	struct sl_mcpl_stream s = f->stream;
	const size_t bytes = (size_t)from * s.header.record_bytes;

	s.at += bytes;
	s.left -= bytes;
	s.read = from;
	return read_stream(&s, to);
}

/* The same for a phase space, which decodes any of its particles. */
static enum sl_status read_space(
	const struct sl_phase_space *space, uint64_t from, const struct places *to)
{
	for (uint32_t i = 0; i < to->n; i++) {
		struct sl_mcpl_particle p;
		struct sl_particle stored;

		SL_TRY(sl_phase_space_particle(space, from + i, &p));
		if (to->b->source)
			sl_phase_space_record(to->layout, &p,
				(uint8_t *)to->b->source +
					(size_t)(to->place + i) * to->layout->record_bytes);
		stored = sl_mcpl_to_particle(&p);
		stored.fate = SL_FATE_listed;
		sl_store(&to->b->columns, LIST_COLUMNS, to->place + i, &stored);
		if (to->drops && sl_is_damaged_particle(&space->fields, &p))
			store_damaged(to, to->place + i);
	}
	return SL_OK;
}

/*
 * The same for gzip file k; skips the particles before. Batches in order of their turns skip
 * nothing; a resumed run decompresses from the beginning once.
 */
static enum sl_status read_gzipped(
	struct sl_reading *r, uint32_t k, uint64_t from, const struct places *to)
{
	const uint8_t *records;
	size_t n;

	if (r->gzip_file != k || r->gzip.read > from)
		SL_TRY(sl_reading_begin_gzip(r, k));
	while (r->gzip.read < from)
		SL_TRY(next_records(&r->gzip, from - r->gzip.read, &records, &n));
	return read_stream(&r->gzip, to);
}

/*
 * Reads the particles of b from all gzip files, or from all plain files. After reading, checks that
 * each file is unchanged since the survey: data read from a changed file may look valid and still
 * be wrong.
 */
static enum sl_status read_some(struct sl_inputs *inputs, bool gzipped, struct sl_batch *b)
{
	uint64_t begin = b->first_id, end = b->first_id + b->n;

	for (uint32_t k = 0; k < inputs->n; k++) {
		const struct sl_input_source *source = &inputs->reading.source[k];
		const struct sl_input *f = &inputs->at[k];
		uint64_t first = f->first > begin ? f->first : begin;
		uint64_t last = f->first + f->particles;
		struct places to = {.b = b,
			.layout = &inputs->layout,
			.place = (uint32_t)(first - begin),
			.drops = f->damaged > 0};
		enum sl_status s;

		last = last < end ? last : end;
		if (f->gzipped != gzipped || first >= last)
			continue;
		to.n = (uint32_t)(last - first);
		if (SL_HAS(inputs->constants, SL_COLUMN_weight))
			to.weight = inputs->constant.weight;
		s = gzipped         ? read_gzipped(&inputs->reading, k, first - f->first, &to)
		    : source->space ? read_space(source->space, first - f->first, &to)
		                    : read_plain(source, first - f->first, &to);
		if (sl_input_source_is_changed(source, f->path))
			return sl_fail(SL_DISK,
				"%s: the file became shorter or changed while it was read; restore it and "
				"rerun with --resume",
				f->path);
		if (s != SL_OK)
			return sl_add_context(s, "%s", f->path);
	}
	return SL_OK;
}

/* Waits for the turn of b, if it has one. Called with the lock held. */
static void wait_for_turn(struct sl_reading *reading, const struct sl_batch *b)
{
	while (b->turn != SL_NO_TURN && reading->turn != b->turn)
		pthread_cond_wait(&reading->next, &reading->lock);
}

/* Waits for the turn of b and reads from gzip files. */
static enum sl_status read_in_turn(struct sl_inputs *inputs, struct sl_batch *b)
{
	struct sl_reading *reading = &inputs->reading;
	enum sl_status s;

	pthread_mutex_lock(&reading->lock);
	wait_for_turn(reading, b);
	s = read_some(inputs, true, b);
	pthread_mutex_unlock(&reading->lock);
	return s;
}

enum sl_status sl_inputs_read_part(struct sl_inputs *inputs, struct sl_batch *part)
{
	if (inputs->reading.in_turn)
		SL_TRY(read_in_turn(inputs, part));
	return read_some(inputs, false, part);
}

/* Also after a failure, because the batches that wait would otherwise never end. */
void sl_inputs_end_turn(struct sl_inputs *inputs, const struct sl_batch *b)
{
	struct sl_reading *reading = &inputs->reading;

	if (!reading->in_turn || b->turn == SL_NO_TURN)
		return;
	pthread_mutex_lock(&reading->lock);
	wait_for_turn(reading, b);
	reading->turn++;
	pthread_cond_broadcast(&reading->next);
	pthread_mutex_unlock(&reading->lock);
}

enum sl_status sl_inputs_read(struct sl_inputs *inputs, struct sl_batch *b)
{
	enum sl_status s = sl_inputs_read_part(inputs, b);

	sl_inputs_end_turn(inputs, b);
	return s;
}
