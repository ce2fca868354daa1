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

const char *sl_accesses_heading(void)
{
	return "   loads  stores sectors  shared conflicts atomics barriers";
}

const char *sl_accesses_text(
	const struct sl_access_counts *counts, double n, char text[SL_ACCESS_TEXT])
{
	static const int width[SL_ACCESS_FIELDS] = {8, 7, 7, 7, 9, 7, 8};
	int used = 0;

	for (int i = 0; i < SL_ACCESS_FIELDS; i++) {
		double value = sl_access_per_item(counts, (enum sl_access_count)i, n);
		char number[32] = "-";

		if (!isnan(value))
			snprintf(number, sizeof(number), "%.3g", value);
		used += snprintf(text + used, SL_ACCESS_TEXT - (size_t)used, "%s%*s",
			i > 0 ? " " : "", width[i], number);
	}
	return text;
}

void sl_accesses_fields(const struct sl_access_counts *counts, double n,
	struct sl_bench_field field[SL_ACCESS_FIELDS])
{
	for (int i = 0; i < SL_ACCESS_FIELDS; i++)
		field[i] = (struct sl_bench_field){sl_access_count_names[i], NULL,
			counts ? sl_access_per_item(counts, (enum sl_access_count)i, n)
			       : (double)NAN,
			6};
}
