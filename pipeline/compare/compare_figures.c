/* compare_figures.c - rates derived from the times of a case; times are in milliseconds. */
#include "pipeline/compare/compare_figures.h"

#include <math.h>

double sl_gb_per_second(const struct sl_comparison_case *entry, int t)
{
	double ms = entry->time[t].median;

	return ms > 0 ? 1e-6 * (double)entry->bytes[t] / ms : (double)NAN;
}

double sl_share_of_copy(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int t)
{
	double copy = entry->on_device ? c->device_copy : c->host_copy;

	return t < SL_STAGE_COUNT && copy > 0 ? sl_gb_per_second(entry, t) / copy : (double)NAN;
}

double sl_particles_per_second(const struct sl_comparison *c, const struct sl_spread *t)
{
	return t->median > 0 ? 1e3 * (double)c->particles / t->median : (double)NAN;
}

double sl_accesses_per_particle(const struct sl_comparison *c,
	const struct sl_comparison_case *entry, enum sl_access_count which)
{
	return sl_access_per_item(&entry->accesses, which, (double)c->particles);
}
