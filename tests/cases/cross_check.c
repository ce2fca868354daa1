/* cross_check.c - see cross_check.h. */
#include "cross_check.h"

#include <string.h>

enum { POISON = 0xa5 };

static enum sl_status save_inputs(struct sl_cross_check *c)
{
	for (int i = 0; i < c->trial.n_blocks; i++) {
		const struct sl_guarded *g = &c->trial.block[i];

		SL_TRY(sl_memory_get(SL_DEVICE, g->bytes, &c->given[i]));
		SL_TRY(sl_memory_get(SL_DEVICE, g->bytes, &c->answer[i]));
		SL_TRY(sl_copy(c->given[i], g->at, g->bytes, NULL));
	}
	return sl_stream_wait(NULL);
}

static enum sl_status make(struct sl_cross_check *c)
{
	SL_TRY(sl_memory_get(SL_DEVICE, sizeof(*c->differ), (void **)&c->differ));
	SL_TRY(c->of->make(&c->trial));
	SL_TRY(sl_trial_load(&c->trial, POISON));
	return save_inputs(c);
}

enum sl_status sl_cross_check_open(
	enum sl_primitive p, const struct sl_setting *set, struct sl_cross_check *c)
{
	enum sl_status s;

	memset(c, 0, sizeof(*c));
	c->of = sl_case_of(p);
	c->trial.backend = sl_backend_of(p, SL_DEVICE, 0); /* the job is the same for all */
	c->trial.set = *set;
	c->trial.set.tuning = (struct sl_tuning){0};
	if (!c->trial.backend)
		return sl_fail(SL_CHECK_FAILED, "the device in use has no %s; nothing is checked",
			sl_primitive_name(p));
	s = make(c);
	if (s != SL_OK)
		sl_cross_check_close(c);
	return s;
}

void sl_cross_check_close(struct sl_cross_check *c)
{
	sl_trial_free(&c->trial);
	for (int i = 0; i < SL_TRIAL_BLOCKS; i++) {
		sl_memory_give(SL_DEVICE, c->given[i]);
		sl_memory_give(SL_DEVICE, c->answer[i]);
	}
	sl_memory_give(SL_DEVICE, c->differ);
	memset(c, 0, sizeof(*c));
}

enum sl_status sl_cross_check_select(
	struct sl_cross_check *c, const struct sl_backend *b, struct sl_tuning tuning)
{
	struct sl_trial *t = &c->trial;
	const uint32_t most = t->set.n + t->set.spare;
	const struct sl_shape shape = {.n = t->set.n_runs > most ? t->set.n_runs : most,
		.n_out = t->set.n,
		.counts = t->set.form == SL_RUN_COUNTS,
		.type = t->set.type,
		.tuning = tuning,
		.scan = {.backend = t->set.scan},
		.n_columns = t->set.columns.n,
		.keys_only = t->set.keys_only};

	sl_guarded_give(&t->scratch);
	t->backend = b;
	t->set.tuning = tuning;
	return sl_trial_scratch(t, &shape);
}

enum sl_status sl_cross_check_load(struct sl_cross_check *c)
{
	const struct sl_trial *t = &c->trial;

	for (int i = 0; i < c->trial.n_blocks; i++)
		SL_TRY(sl_copy(t->block[i].at, c->given[i], t->block[i].bytes, NULL));
	return sl_fill(t->scratch.at, POISON, t->scratch.bytes, NULL);
}

/* Checks the first answer with the case, and saves it. */
static enum sl_status check_first(struct sl_cross_check *c)
{
	struct sl_trial *t = &c->trial;

	SL_TRY(sl_trial_right(c->of, t));
	for (int i = 0; i < c->trial.n_blocks; i++) {
		SL_TRY(sl_copy(c->answer[i], t->block[i].at, t->block[i].bytes, NULL));
		SL_TRY(sl_stream_wait(NULL));
		c->answer_bytes[i] = t->block[i].bytes;
	}
	if (c->of->answer_bytes)
		c->of->answer_bytes(t, c->answer_bytes);
	c->is_answered = true;
	return SL_OK;
}

/* Compares a later answer with the first. If they differ, the case describes the error. */
static enum sl_status check_later(struct sl_cross_check *c)
{
	struct sl_trial *t = &c->trial;
	uint32_t differ = 1;

	SL_TRY(sl_trial_canaries(t));
	SL_TRY(sl_fill(c->differ, 0, sizeof(*c->differ), NULL));
	for (int i = 0; i < c->trial.n_blocks; i++)
		SL_TRY(SL_LAUNCHER(sl_queue_differ)(
			t->block[i].at, c->answer[i], c->answer_bytes[i], c->differ, NULL));
	SL_TRY(sl_copy(&differ, c->differ, sizeof(differ), NULL));
	SL_TRY(sl_stream_wait(NULL));
	if (differ == 0)
		return SL_OK;
	SL_TRY(sl_trial_right(c->of, t));
	return sl_fail(SL_CHECK_FAILED, "the backend changed its input");
}

enum sl_status sl_cross_check_run(struct sl_cross_check *c)
{
	SL_TRY(sl_cross_check_load(c));
	SL_TRY(c->of->run(&c->trial));
	SL_TRY(sl_stream_wait(NULL));
	return c->is_answered ? check_later(c) : check_first(c);
}
