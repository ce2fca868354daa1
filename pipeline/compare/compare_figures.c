/* compare_figures.c - rates derived from the times of a case; times are in milliseconds. */
#include "pipeline/compare/compare_figures.h"

#include <math.h>

#include "stages/host/host_pipeline.h"

double sl_gb_per_second(uint64_t bytes, const struct sl_spread *t)
{
	return t->n > 0 && t->median > 0 ? 1e-6 * (double)bytes / t->median : (double)NAN;
}

double sl_particles_per_second(const struct sl_comparison *c, const struct sl_spread *t)
{
	return t->n > 0 && t->median > 0 ? 1e3 * (double)c->particles / t->median : (double)NAN;
}

double sl_share_of_copy(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int s)
{
	double copy = entry->on_device ? c->device_copy : c->host_copy;

	return copy > 0 ? sl_gb_per_second(entry->bytes[s], &entry->stage[s]) / copy : (double)NAN;
}
