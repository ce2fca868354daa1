/* command_model.c - sluice model: builds an external model, or checks one. */
#include <stdio.h>
#include <string.h>

#include "pipeline/cli/cli.h"
#include "pipeline/external/external.h"
#include "pipeline/model_check/model_check.h"
#include "primitives/device/device.h"

enum { CHECKED = 4096 }; /* particles that are computed step by step */

static enum sl_status build(const struct sl_args *a)
{
	char path[SL_PATH_BYTES];
	const struct sl_model *model;

	SL_TRY(sl_external_build(a->operands[1], a->n_operands > 2 ? a->operands[2] : "", path));
	SL_TRY(sl_external_load(path, &model));
	printf("%s: model %s, digest %s, for the CPU%s\n", path, model->name, model->digest,
		model->cuda.select ? " and CUDA" : "; no nvcc was found, so not for CUDA");
	return SL_OK;
}

/* Compares all backends and modes on a device, as sluice compare does. */
static enum sl_status compare_on(struct sl_args *a, const char *device)
{
	struct sl_args compare = *a;
	char set[64];

	printf("\n%s:\n", device);
	snprintf(set, sizeof(set), "run.device=%s", device);
	compare.command = SL_COMMAND_compare;
	compare.set[compare.n_sets++] = set;
	return sl_command_compare(&compare);
}

static enum sl_status check(struct sl_args *a)
{
	static struct sl_config config;
	static struct sl_choices choices;
	struct sl_plan *plan = NULL;
	const struct sl_model *model;
	struct sl_device device;
	enum sl_status s;
	int levels = 0;

	if (a->n_operands < 3)
		return sl_fail(
			SL_USAGE, "model check needs a configuration that uses the model; name it");
	SL_TRY(sl_external_load(a->operands[1], &model));
	a->operands += 2;
	if (a->n_sets == SL_SETS_MAX)
		return sl_fail(SL_USAGE, "too many settings; remove one");
	SL_TRY(sl_read_config(a, &config, &choices));
	if (config.model != model)
		return sl_fail(SL_USAGE, "%s: uses model %s, not %s; name a configuration of it",
			a->operands[0], config.model->name, model->name);
	SL_TRY(sl_plan_make(&config, &choices, &plan));
	s = sl_model_check_rules(&plan->recipe,
		plan->recipe.particles < CHECKED ? (uint32_t)plan->recipe.particles : CHECKED,
		&levels);
	sl_plan_free(plan);
	SL_TRY(s);
	printf("model %s, digest %s: one, few and all steps per call give the same bits on %d CPU "
	       "level%s\n",
		model->name, model->digest, levels, levels == 1 ? "" : "s");
	SL_TRY(compare_on(a, "emulated"));
	sl_device_emulate(false);
	return model->cuda.select && sl_device_use(0, &device) == SL_OK ? compare_on(a, "cuda")
	                                                                : SL_OK;
}

enum sl_status sl_command_model(struct sl_args *a)
{
	if (strcmp(a->operands[0], "build") == 0)
		return build(a);
	if (strcmp(a->operands[0], "check") == 0)
		return check(a);
	return sl_fail(SL_USAGE, "model has no command '%s'; use build or check", a->operands[0]);
}
