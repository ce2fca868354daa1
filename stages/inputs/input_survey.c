/*
 * input_survey.c - see inputs.h.
 *
 * A gzip file is decompressed for its survey. If there is memory, its records are kept, and the
 * batches read them as those of a plain file.
 */
#include "stages/inputs/inputs.h"

#include <math.h>

#include "primitives/device/device.h"

/* The unit must be a float, also for the smallest weights. */
enum { SUM_BITS = 29, SHIFT_MOST = 127 };

/* The weight_shift for a given sum of absolute weights. */
static int shift_for(double weights)
{
	int exponent, shift;

	frexp(weights, &exponent);
	shift = weights > 0 ? SUM_BITS - exponent : 0;
	return shift < SHIFT_MOST ? shift : SHIFT_MOST;
}

/*
 * Gives the records of file f the memory after the first `used` bytes of block, and returns how
 * many bytes are used then. Only records of a gzip file of at most *most bytes, by which *most is
 * reduced, get memory. A header that claims more records than the file can hold is damaged, so
 * nothing is kept.
 */
static size_t cut_kept(struct sl_input_source *f, size_t used, size_t *most, void *block)
{
	size_t bytes =
		sl_size_mul((size_t)f->stream.header.particles, f->stream.header.record_bytes);

	if (!f->stream.gzipped || bytes == 0 || bytes > *most ||
		bytes / SL_INFLATE_RATIO_MAX > f->map.bytes)
		return used;
	f->kept = block ? (uint8_t *)block + used : NULL;
	*most -= bytes;
	return used + bytes;
}

/* Cuts the memory for all files from block, which is NULL to measure it. Returns its size. */
static size_t lay_out_kept(struct sl_inputs *inputs, size_t most, void *block)
{
	size_t used = 0;

	for (uint32_t k = 0; k < inputs->n; k++)
		used = cut_kept(&inputs->reading.source[k], used, &most, block);
	return used;
}

/*
 * Allocates memory for the records of gzip files, file by file while together they have at most
 * `most` bytes: one block without gaps (sl_inputs_records()). Without memory nothing is kept.
 */
static void get_kept(struct sl_inputs *inputs, size_t most)
{
	size_t bytes = lay_out_kept(inputs, most, NULL);

	if (bytes == 0 || sl_memory_get(SL_HOST, bytes, &inputs->reading.kept) != SL_OK)
		return;
	lay_out_kept(inputs, most, inputs->reading.kept);
	inputs->memory += bytes;
}

/* What the survey of all files shares. */
struct lists_survey {
	struct sl_inputs *inputs;
	struct sl_job_pool pool;
	double weights; /* sum of the absolute values */
};

/*
 * The header of gzip file k is read again, and the memory for its records was allocated by the
 * first one. Another program can write to the file between the two.
 */
static enum sl_status check_header(const struct sl_reading *reading, uint32_t k)
{
	const struct sl_mcpl_header *was = &reading->source[k].stream.header;
	const struct sl_mcpl_header *h = &reading->gzip.header;

	if (h->particles == was->particles && sl_mcpl_has_same_layout(h, was))
		return SL_OK;
	return sl_fail(SL_DISK,
		"its header was changed after the file was opened (a run needs unchanged files); "
		"try again when the writer has ended");
}

static enum sl_status survey_gzip(struct lists_survey *all, uint32_t k, struct sl_mcpl_pass *pass)
{
	struct sl_inputs *inputs = all->inputs;
	struct sl_reading *reading = &inputs->reading;
	struct sl_input_source *f = &reading->source[k];

	SL_TRY(sl_reading_begin_gzip(reading, k));
	SL_TRY(check_header(reading, k));
	pass->keep = f->kept;
	SL_TRY(sl_check_mcpl_records(&reading->gzip, pass));
	reading->in_turn |= !f->kept;
	inputs->at[k].gzipped = !f->kept;
	if (f->kept) /* it is read as a plain one from now on */
		f->stream = (struct sl_mcpl_stream){.header = f->stream.header,
			.at = f->kept,
			.left = (size_t)f->stream.header.particles * f->stream.header.record_bytes};
	return SL_OK;
}

/*
 * Checks the particles of file k and adds their weights. The checksum is that of the whole file,
 * also after damage.
 */
static enum sl_status survey(struct lists_survey *all, uint32_t k)
{
	const struct sl_input_file *name = &all->inputs->names.at[k];
	const struct sl_input_source *f = &all->inputs->reading.source[k];
	const uint8_t *begin = (const uint8_t *)f->map.at, *end = begin + f->map.bytes;
	struct sl_mcpl_pass pass = {
		.summed = begin, .drops = all->inputs->drops, .weights = all->weights};
	enum sl_status s = f->space ? sl_check_phase_space(f->space, &pass)
	                            : sl_check_mcpl_weight(&f->stream.header, &pass.weights);

	if (s == SL_OK && !f->space)
		s = f->stream.gzipped ? survey_gzip(all, k, &pass)
		                      : sl_survey_plain(&all->pool, &f->stream, &pass);
	all->weights = pass.weights;
	all->inputs->at[k].damaged = pass.damaged;
	all->inputs->at[k].crc =
		f->space ? sl_input_source_crc(f)
			 : sl_crc32_update(pass.crc, pass.summed, (size_t)(end - pass.summed));
	return s != SL_OK || !name->committed || all->inputs->at[k].crc == name->crc
	               ? s
	               : sl_fail(SL_BAD_INPUT, SL_OTHER_THAN_COMMITTED);
}

enum sl_status sl_inputs_survey(struct sl_inputs *inputs, size_t keep_most, uint32_t threads)
{
	struct lists_survey all = {.inputs = inputs};
	enum sl_status s = SL_OK;

	get_kept(inputs, keep_most);
	sl_job_pool_open(&all.pool, threads > 1 ? threads : 0);
	for (uint32_t k = 0; k < inputs->n; k++)
		if (s == SL_OK)
			s = sl_add_context(survey(&all, k), "%s", inputs->at[k].path);
		else
			inputs->at[k].crc = sl_input_source_crc(&inputs->reading.source[k]);
	sl_job_pool_close(&all.pool);
	inputs->weight_shift = shift_for(all.weights);
	return s;
}

const void *sl_inputs_records(const struct sl_inputs *inputs)
{
	for (uint32_t k = 0; k < inputs->n; k++) {
		const struct sl_input_source *f = &inputs->reading.source[k];

		if (f->space || (inputs->at[k].particles > 0 && !f->kept) ||
			!sl_mcpl_has_same_layout(&f->stream.header, &inputs->layout))
			return NULL;
	}
	return inputs->reading.kept;
}

enum sl_status sl_inputs_read_metadata(struct sl_inputs *inputs)
{
	SL_CLOSED_BY(sl_host_give) struct sl_mcpl_part *parts = NULL;

	SL_TRY(sl_host_get(inputs->n, sizeof(*parts), &parts));
	for (uint32_t k = 0; k < inputs->n; k++) {
		parts[k] = sl_input_source_part(&inputs->reading.source[k]);
		parts[k].first = inputs->at[k].first;
		parts[k].particles = inputs->at[k].particles;
	}
	SL_TRY(sl_mcpl_metadata_add(parts, inputs->n, true, &inputs->metadata));
	inputs->memory += inputs->metadata->memory;
	return SL_OK;
}

/* Names are not compared: a file can have several, by links and by relative paths. */
enum sl_status sl_inputs_contain(
	const struct sl_inputs *inputs, const struct sl_dir *dir, const char *name, bool *contain)
{
	uint64_t device, number;
	bool exists;

	*contain = false;
	SL_TRY(sl_file_identity(dir, name, &exists, &device, &number));
	for (uint32_t k = 0; exists && k < inputs->n; k++)
		*contain |= sl_input_source_is(&inputs->reading.source[k], device, number);
	return SL_OK;
}

/* Blobs with a number above 1 have another name. */
bool sl_renamed_blob_next(const struct sl_inputs *inputs, struct sl_renamed_blob *b)
{
	const struct sl_mcpl_metadata *metadata = inputs ? inputs->metadata : NULL;

	while (metadata && b->next < metadata->blobs.n) {
		const struct sl_mcpl_item *item = &metadata->blobs.at[b->next++];

		if (item->number <= 1)
			continue;
		b->path = inputs->at[item->part].path;
		b->name = (const char *)item->text.at;
		b->name_bytes = item->text.length;
		b->number = item->number;
		return true;
	}
	return false;
}
