/*
 * batch_plan.c - plans one batch of the configuration, with overrides as on sluice's command line.
 */
#include "bench/commands/commands.h"

#include "pipeline/config/reader/reader.h"
#include "pipeline/run/run.h"

static const char *const default_config = "data/configs/reference.yaml";

/* The CUB pipeline supports keys of at most 32 bits and columns of 4 bytes. */
static enum sl_status check_config(const struct sl_recipe *r, const char *name)
{
	for (uint32_t k = 0; k < r->n_columns; k++)
		if (sl_column_facts[r->column[k]].bytes != sizeof(uint32_t))
			return sl_fail(SL_USAGE,
				"%s: output.columns contains %s, which has not 4 bytes; the comparison "
				"with CUB needs columns of 4 bytes; remove it",
				name, sl_column_facts[r->column[k]].name);
	if (r->n_fields == 0 || r->key_bits > 32)
		return sl_fail(SL_USAGE,
			"%s: the sort key has %u bits; the comparison with CUB needs 1 to 32; "
			"choose another key",
			name, r->key_bits);
	if (r->inputs || r->condition.n > 0)
		return sl_fail(SL_USAGE,
			"%s: the configuration reads a particle list or keeps particles by a "
			"condition; the comparison with CUB supports neither; choose another",
			name);
	return SL_OK;
}

enum sl_status sl_batch_plan_make(
	const struct sl_bench *b, uint32_t n, const char *mode, struct sl_plan **plan)
{
	static struct sl_config config;
	static struct sl_choices choices;
	const char *path = b->options->config ? b->options->config : default_config;
	char particles[64], batch[64], device[64], run_mode[64];
	const char *const sets[] = {particles, batch, device, "run.slots=1", run_mode};
	struct sl_reader *reader = NULL;
	enum sl_status s;

	*plan = NULL;
	snprintf(particles, sizeof(particles), "run.particles=%u", n);
	snprintf(batch, sizeof(batch), "run.batch=%u", n);
	if (sl_device_is_emulated())
		snprintf(device, sizeof(device), "run.device=emulated");
	else
		snprintf(device, sizeof(device), "run.device=cuda:%d", b->device.number);
	snprintf(run_mode, sizeof(run_mode), "run.mode=%s", mode ? mode : "");
	s = sl_config_open(path, sets, mode ? 5 : 4, &config, &reader);
	if (!b->options->config)
		s = sl_add_context(s,
			"default configuration of the source folder (elsewhere use --config FILE)");
	if (s == SL_OK)
		s = sl_resolve(&config, reader, &choices);
	sl_config_close(reader);
	if (s == SL_OK)
		s = sl_plan_make(&config, &choices, plan);
	return s == SL_OK ? check_config(&(*plan)->recipe, path) : s;
}
