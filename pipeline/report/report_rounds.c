/*
 * report_rounds.c - the rounds of a session, as a table and in run.json.
 *
 * A round advances all active particles by some steps (stages/rounds/rounds.h). The numbers are sums
 * over the batches of this session. They show how many places of ended particles compaction saved,
 * and what it cost. run.json has up to SL_ROUNDS_MAX rounds, the last with the sums of all after it; the table leaves
 * most of the later ones out.
 */
#include "pipeline/report/report_rounds.h"
#include "pipeline/report/report.h"

/* Particles that all rounds would process without compaction: every round has the first width. */
static double without_compaction(const struct sl_rounds *all)
{
	const struct sl_round *first = all->at;
	double sum = 0;

	for (uint32_t i = 0; i < all->n; i++)
		sum += (double)first->width * (double)all->at[i].batches / (double)first->batches;
	return sum;
}

/* Shows the first eight rounds, then powers of two, and the last. */
static bool is_shown(uint32_t i, uint32_t n)
{
	return i < 8 || (i & (i - 1)) == 0 || i + 1 == n;
}

static double seconds(uint64_t ns)
{
	return 1e-9 * (double)ns;
}

/*
 * Not every batch has as many rounds as the longest one, so batches decreases from line to line.
 * The totals include the rounds that the table leaves out.
 */
void sl_rounds_print(const struct sl_rounds *all, FILE *out)
{
	struct sl_round sum = {0};

	if (all->n == 0)
		return;
	fprintf(out, "\n%-8s %12s %14s %14s %12s %12s\n", "round", "batches", "particles",
		"alive after", "advance ms", "compact ms");
	for (uint32_t i = 0; i < all->n; i++) {
		const struct sl_round *r = &all->at[i];

		sum.width += r->width;
		sum.advance_ns += r->advance_ns;
		sum.compact_ns += r->compact_ns;
		if (!is_shown(i, all->n))
			continue;
		fprintf(out, "%-8u %12llu %14llu %14llu %12.4g %12.4g\n", i + 1,
			(unsigned long long)r->batches, (unsigned long long)r->width,
			(unsigned long long)r->alive, 1e3 * seconds(r->advance_ns),
			1e3 * seconds(r->compact_ns));
	}
	fprintf(out,
		"%llu rounds processed %llu particles, %.3g %% of the number without compaction;\n"
		"advancing %.4g s, compacting %.4g s\n",
		(unsigned long long)all->longest, (unsigned long long)sum.width,
		100 * (double)sum.width / without_compaction(all), seconds(sum.advance_ns),
		seconds(sum.compact_ns));
}

/*
 * longest is the number of rounds of the longest batch. It exceeds the length of each if a batch had more
 * than SL_ROUNDS_MAX rounds.
 */
void sl_rounds_report(struct sl_json *j, const struct sl_rounds *all)
{
	if (all->n == 0)
		return;
	sl_json_object(j, "rounds");
	sl_json_u64(j, "longest", all->longest);
	sl_json_array(j, "each");
	for (uint32_t i = 0; i < all->n; i++) {
		const struct sl_round *r = &all->at[i];

		sl_json_object(j, NULL);
		sl_json_u64(j, "batches", r->batches);
		sl_json_u64(j, "particles", r->width);
		sl_json_u64(j, "alive", r->alive);
		sl_json_u64(j, "batches_compacted", r->compacted);
		sl_json_real(j, "advance_seconds", seconds(r->advance_ns));
		sl_json_real(j, "compact_seconds", seconds(r->compact_ns));
		sl_json_close(j);
	}
	sl_json_close(j);
	sl_json_close(j);
}
