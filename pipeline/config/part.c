/* part.c - see part.h. */
#include "pipeline/config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_valid(const struct sl_part *part)
{
	return part->number >= 1 && part->number <= part->of && part->of <= SL_PARTS_MAX;
}

/* --- the tasks of a job array of Slurm -------------------------------------------------------- */

enum { NUMBERS_END = 1000000000 }; /* more than any number that is accepted */

/* Reads a variable of the environment; a missing one has the value fallback. */
static enum sl_status read_variable(const char *name, const char *fallback, uint64_t *value)
{
	const char *text = getenv(name);

	text = text && text[0] ? text : fallback;
	if (!text)
		return sl_fail(SL_USAGE,
			"--part slurm: %s is not set (this process is no task of a Slurm job "
			"array); submit it with sbatch --array=1-20, or use --part I/N",
			name);
	*value = strtoull(text, NULL, 10);
	if (*value < NUMBERS_END && strcmp(sl_said("%lu", *value), text) == 0)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--part slurm: %s is '%s' (it must be a whole number); use --part I/N", name,
		getenv(name));
}

/*
 * The tasks of --array=MIN-MAX:STEP are the parts in order. The tasks of a list such as 3,7 are as
 * many as the list has numbers, which says nothing about the parts, so they are refused.
 */
static enum sl_status read_slurm(struct sl_part *part)
{
	uint64_t id, count, min, max, step;

	SL_TRY(read_variable("SLURM_ARRAY_TASK_ID", NULL, &id));
	SL_TRY(read_variable("SLURM_ARRAY_TASK_COUNT", NULL, &count));
	SL_TRY(read_variable("SLURM_ARRAY_TASK_MIN", NULL, &min));
	SL_TRY(read_variable("SLURM_ARRAY_TASK_STEP", "1", &step));
	step = step ? step : 1;
	max = min + (count ? count - 1 : 0) * step;
	if (getenv("SLURM_ARRAY_TASK_MAX"))
		SL_TRY(read_variable("SLURM_ARRAY_TASK_MAX", NULL, &max));
	*part = (struct sl_part){.number = id < min ? 0 : (id - min) / step + 1, .of = count};
	if (id >= min && (id - min) % step == 0 && max >= min && (max - min) / step + 1 == count &&
		is_valid(part))
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--part slurm: task %lu of %lu tasks from %lu to %lu in steps of %lu is no part "
		"of a run (the array is not of the form MIN-MAX); submit the whole array again, or use --part I/N",
		id, count, min, max, step);
}

/* --- texts ------------------------------------------------------------------------------------ */

enum sl_status sl_part_read(const char *text, struct sl_part *part)
{
	if (strcmp(text, "slurm") == 0)
		return read_slurm(part);
	/* printed again, numbers with a sign, a blank or a leading zero differ from the text */
	if (sscanf(text, "%lu/%lu", &part->number, &part->of) == 2 && is_valid(part) &&
		strcmp(sl_said("%lu/%lu", part->number, part->of), text) == 0)
		return SL_OK;
	return sl_fail(SL_USAGE,
		"--part %s: the value must be I/N with whole numbers 1 <= I <= N <= %d, or slurm; for "
		"example --part 3/20",
		text, SL_PARTS_MAX);
}

/* All numbers of a run have the same width, so that a listing has the parts in order. */
const char *sl_part_name(const struct sl_part *part)
{
	int width = snprintf(NULL, 0, "%lu", part->of);

	return sl_said("part_%0*lu_of_%lu", width, part->number, part->of);
}

bool sl_part_find(const char *name, struct sl_part *part)
{
	return sscanf(name, "part_%lu_of_%lu", &part->number, &part->of) == 2 && is_valid(part) &&
	       strcmp(sl_part_name(part), name) == 0;
}

/* The first batches that cannot be divided evenly go to the first parts. */
struct sl_batch_range sl_part_batches(
	const struct sl_part *part, uint64_t n_batches, uint64_t batch, uint64_t particles)
{
	uint64_t each = n_batches / part->of, more = n_batches % part->of, i = part->number - 1;
	uint64_t first = i * each + (i < more ? i : more), end = first + each + (i < more);

	return (struct sl_batch_range){
		first, end, (end < n_batches ? end * batch : particles) - first * batch};
}
