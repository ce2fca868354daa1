/* progress.c - see cli.h. */
#include "pipeline/cli/cli.h"

#include <math.h>
#include <time.h>

/* Seconds between two lines of a log, and the share between them that makes a line due. */
static const double seconds_least = 30, seconds_most = 600, share_between = 0.1;

/* Has the run passed another multiple of the share since the last line? */
static bool is_step(double before, double share)
{
	return floor(share / share_between) > floor(before / share_between);
}

static bool is_due(const struct sl_progress_output *o, double seconds, double share)
{
	double since = seconds - o->seconds;

	if (since < seconds_least)
		return false;
	return !o->any || since >= seconds_most || is_step(o->share, share);
}

/* The rate is that of this session, without earlier ones. */
static void print_numbers(FILE *out, const struct sl_progress *p, double share)
{
	fprintf(out, "%5.1f %%  %lu of %s%lu batches  %.2f M particles/s", 100 * share,
		p->batches_done, p->at_most ? "at most " : "", p->n_batches, p->rate * 1e-6);
}

/* Lines of a log have the time: the log of a batch queue has none. */
static void print_line(FILE *out, const struct sl_progress *p, double share)
{
	char when[32] = "";
	time_t now = time(NULL);
	struct tm utc;

	if (gmtime_r(&now, &utc))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ ", &utc);
	fputs(when, out);
	print_numbers(out, p, share);
	if (p->seconds_left >= 0)
		fprintf(out, "  %s left", sl_duration(p->seconds_left));
	fputc('\n', out);
}

void sl_progress_show(struct sl_progress_output *o, const struct sl_progress *p)
{
	double share = p->particles > 0 ? (double)p->particles_done / (double)p->particles : 1;

	if (o->terminal) {
		o->unfinished = true;
		fputc('\r', o->out);
		print_numbers(o->out, p, share);
		if (p->seconds_left >= 0)
			fprintf(o->out, "  %.0f s left  ", p->seconds_left);
	} else if (is_due(o, p->seconds, share)) {
		print_line(o->out, p, share);
		o->any = true;
		o->seconds = p->seconds;
		o->share = share;
	}
	fflush(o->out);
}

void sl_progress_end(struct sl_progress_output *o)
{
	if (o->unfinished)
		fputs("\n", o->out);
	o->unfinished = false;
}
