/*
 * value_range.c - least, mean and largest of the values of a column or dataset.
 *
 * The sum is a plain sum of doubles: the printed mean has eight digits, and n is at most about 1e9.
 */
#include "pipeline/info/value_range.h"

void sl_value_range_add(struct sl_value_range *r, double value)
{
	r->least = r->n == 0 || value < r->least ? value : r->least;
	r->most = r->n == 0 || value > r->most ? value : r->most;
	r->sum += value;
	r->n++;
}

void sl_value_range_print(const struct sl_value_range *r, FILE *out)
{
	fprintf(out, "%14.8g %14.8g %14.8g", r->least, r->n > 0 ? r->sum / (double)r->n : 0,
		r->most);
}
