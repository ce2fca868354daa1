/* report_devices.c - see report_devices.h. A run on one device needs no list of devices. */
#include "pipeline/report/report_devices.h"

#include <string.h>

#include "pipeline/text/messages.h"

/* Have all devices that the run uses the same name? */
static bool are_alike(const struct sl_plan *plan)
{
	for (uint32_t d = 1; d < plan->n_devices; d++)
		if (strcmp(plan->device[d].name, plan->device[0].name) != 0)
			return false;
	return true;
}

const char *sl_devices_text(const struct sl_plan *plan, char text[SL_DEVICES_TEXT_BYTES])
{
	if (plan->n_devices == 1)
		snprintf(text, SL_DEVICES_TEXT_BYTES, "%s", plan->device[0].name);
	else
		snprintf(text, SL_DEVICES_TEXT_BYTES, "%u x %s%s", plan->n_devices,
			plan->device[0].name, are_alike(plan) ? "" : " and others");
	return text;
}

void sl_devices_print_memory(const struct sl_plan *plan, FILE *out)
{
	char need[32], each[32], have[32];

	for (uint32_t d = 0; d < plan->n_devices; d++) {
		fputs("            device", out);
		if (plan->choices.n_devices > 1)
			fprintf(out, " %d, %s,", plan->device[d].number, plan->device[d].name);
		fprintf(out, " %s: %u slots of %s; %s free\n",
			sl_sized((double)plan->memory.device, need), plan->n_device_slots,
			sl_sized((double)plan->memory.device_pipeline, each),
			sl_sized((double)plan->device[d].free_bytes, have));
	}
	if (plan->n_devices < plan->choices.n_devices)
		fprintf(out,
			"            %u of the %u devices are used: each needs a thread, a batch and "
			"memory\n",
			plan->n_devices, plan->choices.n_devices);
}

void sl_devices_print(const struct sl_workspace *w, const struct sl_session *session, FILE *out)
{
	const struct sl_plan *plan = w->plan;

	for (uint32_t d = 0; plan->n_devices > 1 && d < plan->n_devices; d++) {
		unsigned long long n = session->device_batches[d];

		fprintf(out, "device %d computed %llu batch%s", plan->device[d].number, n,
			n == 1 ? "" : "es");
		if (w->device[d].dropped)
			fprintf(out, ", then failed, and other devices computed the rest (%.*s)",
				(int)strcspn(w->device[d].why, ";"), w->device[d].why);
		fputc('\n', out);
	}
}

void sl_devices_report(
	struct sl_json *j, const struct sl_workspace *w, const struct sl_session *session)
{
	const struct sl_plan *plan = w->plan;

	if (plan->n_devices < 2)
		return;
	sl_json_array(j, "devices");
	for (uint32_t d = 0; d < plan->n_devices; d++) {
		sl_json_object(j, NULL);
		sl_json_u64(j, "number", (uint64_t)plan->device[d].number);
		sl_json_text(j, "name", plan->device[d].name);
		sl_json_u64(j, "batches", session->device_batches[d]);
		if (w->device[d].dropped)
			sl_json_text(j, "failure", w->device[d].why);
		sl_json_close(j);
	}
	sl_json_close(j);
}

void sl_ranks_print(const struct sl_workspace *w, FILE *out)
{
	for (uint32_t i = 0; i < w->n_ranks; i++) {
		const struct sl_rank_facts *r = &w->rank[i];

		fprintf(out, "rank %u on %s computed %llu batch%s with ", i, r->host,
			(unsigned long long)r->batches, r->batches == 1 ? "" : "es");
		if (r->devices > 0)
			fprintf(out, "%u x %s", r->devices, r->device);
		if (r->dropped_devices > 0)
			fprintf(out, ", of which %llu failed,",
				(unsigned long long)r->dropped_devices);
		if (r->devices > 0)
			fputs(" and ", out);
		fprintf(out, "%u thread%s\n", r->threads, r->threads == 1 ? "" : "s");
	}
}

void sl_ranks_report(struct sl_json *j, const struct sl_workspace *w)
{
	if (w->n_ranks == 0)
		return;
	sl_json_array(j, "ranks");
	for (uint32_t i = 0; i < w->n_ranks; i++) {
		const struct sl_rank_facts *r = &w->rank[i];

		sl_json_object(j, NULL);
		sl_json_u64(j, "number", i);
		sl_json_text(j, "host", r->host);
		sl_json_u64(j, "threads", r->threads);
		sl_json_u64(j, "devices", r->devices);
		if (r->devices > 0)
			sl_json_text(j, "device", r->device);
		if (r->dropped_devices > 0)
			sl_json_u64(j, "failed_devices", r->dropped_devices);
		sl_json_u64(j, "batches", r->batches);
		sl_json_close(j);
	}
	sl_json_close(j);
}
