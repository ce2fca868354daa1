/*
 * weighted_stats.c - weighted sums of values, and what follows from them.
 *
 *	mean   sum of weight * value, divided by the sum of the weights
 *	rms    root of the weighted mean of (value - mean)^2, as in ROOT and mcpltool
 *	sum    of weight * value
 *
 * Values are added as differences from the first one. Without that, the rms of values that are far
 * from 0 and close together, such as times of flight, would be lost in rounding.
 */
#include "pipeline/info/weighted_stats.h"

#include <math.h>

/* NaN changes the sums, but neither least nor most unless it is the first value. */
void sl_weighted_stats_add(struct sl_weighted_stats *s, double value, double weight)
{
	double difference;

	if (s->n == 0)
		*s = (struct sl_weighted_stats){.least = value, .most = value, .origin = value};
	difference = value == s->origin ? 0 : value - s->origin; /* inf - inf is NaN */
	s->least = value < s->least ? value : s->least;
	s->most = value > s->most ? value : s->most;
	s->weight += weight;
	s->sum += weight * difference;
	s->square += weight * difference * difference;
	s->n++;
}

void sl_weighted_stats_print_names(FILE *out)
{
	fprintf(out, "%14s%14s%14s%14s%14s", "least", "weighted mean", "rms", "largest", "sum");
}

/*
 * A mean needs weights that do not add up to 0: without them, it and the rms are printed as "-". Rounding makes a variance
 * of 0 less than it, and a negative sum of weights makes it -0.
 */
void sl_weighted_stats_print(const struct sl_weighted_stats *s, bool code, FILE *out)
{
	double shift = s->sum / s->weight, variance = s->square / s->weight - shift * shift;

	if (s->n == 0) {
		fprintf(out, "%14s%14s%14s%14s%14s", "-", "-", "-", "-", "0");
		return;
	}
	fprintf(out, " %13.7g", s->least);
	if (code) {
		fprintf(out, "%14s%14s %13.7g%14s", "-", "-", s->most, "-");
		return;
	}
	if (s->weight != 0)
		fprintf(out, " %13.7g %13.7g", s->origin + shift,
			sqrt(variance <= 0 ? 0 : variance));
	else
		fprintf(out, "%14s%14s", "-", "-");
	fprintf(out, " %13.7g %13.7g", s->most, s->origin * s->weight + s->sum);
}
