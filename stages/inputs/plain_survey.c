/* plain_survey.c - see plain_survey.h. */
#include "stages/inputs/plain_survey.h"

#include "primitives/files/crc32.h"

/* A part of the records of a file, and its survey. */
struct part {
	struct sl_job job;
	struct sl_mcpl_stream stream; /* has only the records of the part */
	struct sl_mcpl_pass pass;
	size_t bytes;
};

/* Job: checks the records. The checksum has all bytes of the part, also after a failure. */
static enum sl_status check(void *context)
{
	struct part *p = (struct part *)context;
	const uint8_t *begin = p->stream.at;
	enum sl_status s = sl_check_mcpl_records(&p->stream, &p->pass);

	p->pass.crc = sl_crc32_update(
		p->pass.crc, p->pass.summed, (size_t)(begin + p->bytes - p->pass.summed));
	return s;
}

/* Starts the survey of n records of the file from number first on. */
static void start(struct sl_job_pool *pool, struct part *p, const struct sl_mcpl_stream *file,
	uint64_t first, uint64_t n)
{
	const uint8_t *at = file->at + (size_t)first * file->header.record_bytes;
	size_t bytes = (size_t)n * file->header.record_bytes;

	*p = (struct part){.job = {.run = check, .context = p},
		.stream = *file,
		.pass = {.first = first, .summed = at},
		.bytes = bytes};
	p->stream.header.particles = n;
	p->stream.at = at;
	p->stream.left = bytes;
	sl_job_submit(pool, &p->job, false);
}

/* Waits for a part and adds its results to those of the parts before it. */
static enum sl_status add(struct sl_job_pool *pool, struct part *p, struct sl_mcpl_pass *pass)
{
	enum sl_status s = sl_job_wait(pool, &p->job);

	pass->crc = sl_crc32_combine(pass->crc, p->pass.crc, p->bytes);
	pass->summed += p->bytes;
	pass->weights += p->pass.weights;
	return s;
}

enum sl_status sl_survey_plain(
	struct sl_job_pool *pool, const struct sl_mcpl_stream *s, struct sl_mcpl_pass *pass)
{
	const uint64_t each = SL_SURVEY_PART_BYTES / s->header.record_bytes,
		       particles = s->header.particles, parts = (particles + each - 1) / each;
	const uint32_t at_a_time = pool->n > 0 ? pool->n : 1;
	struct part part[SL_JOB_THREADS_MOST] = {0};
	enum sl_status status = SL_OK;

	if (parts <= 1) {
		struct sl_mcpl_stream whole = *s;

		return sl_check_mcpl_records(&whole, pass);
	}
	pass->crc = sl_crc32_update(pass->crc, pass->summed, (size_t)(s->at - pass->summed));
	pass->summed = s->at;
	for (uint64_t i = 0; status == SL_OK && i < parts + at_a_time; i++) {
		struct part *p = &part[i % at_a_time];

		if (i >= at_a_time && i - at_a_time < parts)
			status = add(pool, p, pass);
		if (status == SL_OK && i < parts)
			start(pool, p, s, i * each,
				particles - i * each < each ? particles - i * each : each);
	}
	for (uint32_t i = 0; i < at_a_time; i++)
		sl_job_finish(pool, &part[i].job);
	return status;
}
