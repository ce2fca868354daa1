/* report_part.c - see report_part.h. */
#include "pipeline/report/report_part.h"

#include <math.h>
#include <stdio.h>

#include "pipeline/text/decimal_number.h"
#include "primitives/primitives.h"

/*
 * Which part of the run this is, and the settings that the stored configuration leaves out and that
 * sluice join needs for the files of the whole run.
 */
void sl_report_part(struct sl_json *j, const struct sl_plan *plan)
{
	const struct sl_batch_range batches = sl_plan_batches(plan);
	char text[64], value[32];

	sl_json_object(j, "part");
	sl_json_u64(j, "number", plan->config.part.number);
	sl_json_u64(j, "of", plan->config.part.of);
	sl_json_u64(j, "first_batch", batches.first);
	sl_json_u64(j, "batches", batches.end - batches.first);
	sl_json_array(j, "settings");
	snprintf(text, sizeof(text), "output.joined=%s",
		plan->config.output.joined ? "true" : "false");
	sl_json_text(j, NULL, text);
	for (int f = 0; f < SL_FATE_COUNT; f++) {
		if (isnan(plan->config.check.fate[f]))
			continue;
		sl_double_print(plan->config.check.fate[f], value, sizeof(value));
		snprintf(text, sizeof(text), "check.%s=%s", sl_fate_facts[f].name, value);
		sl_json_text(j, NULL, text);
	}
	sl_double_print(plan->config.check.sigma, value, sizeof(value));
	snprintf(text, sizeof(text), "check.sigma=%s", value);
	sl_json_text(j, NULL, text);
	sl_json_close(j);
	sl_json_text(j, "deflate", plan->facts.deflate->name);
	sl_json_close(j);
}

void sl_report_part_times(struct sl_json *j, const struct sl_parts_origin *origin)
{
	sl_json_array(j, "parts");
	for (size_t i = 0; i < origin->n_parts; i++) {
		const struct sl_part_times *t = &origin->part[i];

		sl_json_object(j, NULL);
		sl_json_u64(j, "number", t->number);
		sl_json_text(j, "host", t->host);
		sl_json_real(j, "wall_seconds", t->seconds);
		sl_json_u64(j, "batches", t->batches);
		sl_json_close(j);
	}
	sl_json_close(j);
}
