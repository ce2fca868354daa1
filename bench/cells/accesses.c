/* accesses.c - counts and shows the memory accesses of a call: see accesses.h. */
#include "bench/cells/accesses.h"

#include <math.h>

const struct sl_call_times sl_no_times = {
	.ms = {.n = 1, .median = NAN, .least = NAN, .lower = NAN, .upper = NAN, .most = NAN},
	.host_ms = NAN,
};

enum sl_status sl_accesses_count(const struct sl_timed_call *call, struct sl_access_counts *counts)
{
	enum sl_status s;

	if (call->load)
		SL_TRY(call->load(call->ctx));
	SL_TRY(sl_stream_wait(NULL));
	sl_access_start();
	s = call->run(call->ctx);
	if (s == SL_OK)
		s = sl_stream_wait(NULL);
	*counts = sl_access_stop();
	return s;
}

/* The counts in the order of the columns. */
static void list(const struct sl_access_counts *c, double n, double value[SL_ACCESS_FIELDS])
{
	const uint64_t count[SL_ACCESS_FIELDS] = {
		c->loads, c->stores, c->sectors, c->shared, c->conflicts, c->atomics, c->barriers};

	for (int i = 0; i < SL_ACCESS_FIELDS; i++)
		value[i] = sl_access_is_counted() && n > 0 ? (double)count[i] / n : (double)NAN;
}

const char *sl_accesses_heading(void)
{
	return "   loads  stores sectors  shared conflicts atomics barriers";
}

const char *sl_accesses_text(
	const struct sl_access_counts *counts, double n, char text[SL_ACCESS_TEXT])
{
	static const int width[SL_ACCESS_FIELDS] = {8, 7, 7, 7, 9, 7, 8};
	double value[SL_ACCESS_FIELDS];
	int used = 0;

	list(counts, n, value);
	for (int i = 0; i < SL_ACCESS_FIELDS; i++) {
		if (isnan(value[i]))
			used += snprintf(text + used, SL_ACCESS_TEXT - (size_t)used, "%*s%s",
				width[i], "-", i + 1 < SL_ACCESS_FIELDS ? " " : "");
		else
			used += snprintf(text + used, SL_ACCESS_TEXT - (size_t)used, "%*.3g%s",
				width[i], value[i], i + 1 < SL_ACCESS_FIELDS ? " " : "");
	}
	return text;
}

void sl_accesses_fields(const struct sl_access_counts *counts, double n,
	struct sl_bench_field field[SL_ACCESS_FIELDS])
{
	static const char *const name[SL_ACCESS_FIELDS] = {
		"loads", "stores", "sectors", "shared", "conflicts", "atomics", "barriers"};
	double value[SL_ACCESS_FIELDS];

	if (counts)
		list(counts, n, value);
	for (int i = 0; i < SL_ACCESS_FIELDS; i++)
		field[i] =
			(struct sl_bench_field){name[i], NULL, counts ? value[i] : (double)NAN, 6};
}
