/* compare_figures.c - rates derived from the times of a case; times are in milliseconds. */
#include "pipeline/compare/compare_figures.h"

#include <math.h>

#include "pipeline/compare/cases/cases.h"

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

const char *const sl_access_figures[SL_ACCESS_FIGURES] = {
	"loads", "stores", "sectors", "shared", "conflicts", "atomics", "barriers"};

double sl_accesses_per_particle(
	const struct sl_comparison *c, const struct sl_comparison_case *entry, int figure)
{
	const struct sl_access_counts *n = &entry->accesses;
	const uint64_t count[SL_ACCESS_FIGURES] = {
		n->loads, n->stores, n->sectors, n->shared, n->conflicts, n->atomics, n->barriers};

	if (!sl_case_is_emulated(entry) || !sl_access_is_counted() || n->launches == 0)
		return NAN;
	return (double)count[figure] / (double)c->particles;
}
