/* filter_check.c - see filter_check.h. */
#include "filter_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host_and_device.h"
#include "stages/batch/recipe.h"
#include "stages/rounds/passes.h"
#include "tests/support/basic/check.h"
#include "tests/support/models/models.h"

/* The same memory on the host and on the device, and a copy of that of the device. */
struct two_filters {
	struct sl_filter_pass host, device;
	char *on_host, *on_device, *found;
	size_t bytes;
};

static size_t lay_out(void *base, struct sl_filter_pass *p)
{
	const sl_column_set set = SL_BIT(SL_COLUMN_log_weight) | SL_BIT(SL_COLUMN_fate) |
	                          SL_BIT(SL_COLUMN_steps) | SL_BIT(SL_COLUMN_state_1) |
	                          SL_BIT(SL_COLUMN_state_2) | SL_BIT(SL_COLUMN_state_3) |
	                          SL_BIT(SL_COLUMN_state_4);
	struct sl_arena a = {.base = base, .size = SIZE_MAX};

	p->first_id = (const uint64_t *)sl_cut(&a, sizeof(*p->first_id));
	sl_layout_columns(&a, set, p->n, &p->columns);
	p->weight = (uint64_t *)sl_cut_items(&a, p->n, sizeof(*p->weight));
	p->draw = (uint64_t *)sl_cut_items(&a, p->n, sizeof(*p->draw));
	p->key = (uint32_t *)sl_cut_items(&a, p->n, sizeof(*p->key));
	p->end = (uint32_t *)sl_cut_items(&a, p->n, sizeof(*p->end));
	p->word = (uint64_t *)sl_cut_items(&a, sl_filter_step_words(4, 2), sizeof(*p->word));
	for (uint32_t k = 0; k < p->n_moments; k++)
		p->moment[k] = (const float *)sl_column_at(
			&p->columns, (enum sl_column)(SL_COLUMN_state_1 + k));
	return a.used;
}

/* Random particles; some weights and states are no numbers. */
static void fill_particles(const struct sl_filter_pass *p)
{
	uint64_t state = 7;

	*(uint64_t *)p->first_id = UINT64_C(3) * p->n;
	memset(p->word, 0, sl_filter_step_words(4, 2) * sizeof(*p->word));
	for (uint32_t i = 0; i < p->n; i++) {
		p->columns.log_weight[i] = -(float)random_below(&state, 4000) / 256;
		if (random_below(&state, 50) == 0)
			p->columns.log_weight[i] = random_below(&state, 2) ? NAN : -INFINITY;
		p->columns.fate[i] = SL_FATE_alive;
		p->columns.steps[i] = i;
		for (int k = 0; k < 4; k++)
			((float *)sl_column_at(
				&p->columns, (enum sl_column)(SL_COLUMN_state_1 + k)))[i] =
				random_below(&state, 90)
					? (float)random_below(&state, 9999) / 64 - 70
					: INFINITY;
	}
}

/* Does the work in both memories, which are made equal before, and compares them. */
static void do_work(const struct two_filters *f, enum sl_filter_work which)
{
	assert_ok(sl_copy(f->on_device, f->on_host, f->bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	sl_loop_filter_baseline(which, &f->host);
	assert_ok(sl_kernels_find()->filter(which, &f->device, NULL));
	assert_ok(sl_copy(f->found, f->on_device, f->bytes, NULL));
	assert_ok(sl_stream_wait(NULL));
	if (memcmp(f->found, f->on_host, f->bytes) != 0)
		fail_msg("work %d of a filter of %u particles, scheme %d, %u moments: the device "
			 "differs",
			which, f->host.n, f->host.scheme, f->host.n_moments);
}

int filter_draw_order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void do_step(const struct two_filters *f)
{
	const struct sl_filter_pass *p = &f->host;

	sl_loop_filter_baseline(SL_FILTER_LARGEST, p);
	do_work(f, SL_FILTER_WEIGH);
	for (uint32_t i = 1; i < p->n; i++)
		p->weight[i] += p->weight[i - 1];
	do_work(f, SL_FILTER_KEY); /* its order is not changed here */
	do_work(f, SL_FILTER_RANK);
	for (uint32_t i = 1; i < p->n; i++)
		p->draw[i] += p->draw[i - 1];
	do_work(f, SL_FILTER_QUANTILE);
	do_work(f, SL_FILTER_COPY);
	for (uint32_t i = 1; i < p->n; i++)
		p->end[i] += p->end[i - 1];
	do_work(f, SL_FILTER_DRAW);
	qsort(p->draw, p->n, sizeof(*p->draw), filter_draw_order);
	do_work(f, SL_FILTER_END);
}

static void check_filter(uint32_t n, enum sl_resampling_scheme scheme, uint32_t moments)
{
	struct two_filters f = {.host = {.seed = 5,
					.n = n,
					.step = 2,
					.n_moments = moments,
					.scheme = scheme,
					.least = n / 2,
					.last = n % 2 == 1,
					.zeroes = n % 2 == 1}};

	while (UINT32_C(1) << f.host.log_n < n)
		f.host.log_n++;
	f.host.n_quantiles = 2, f.host.sorted = moments - 1, f.host.quantile[1] = 3000000000;
	f.device = f.host;
	f.bytes = lay_out(NULL, &f.host);
	f.on_host = (char *)poisoned_get(SL_HOST, f.bytes);
	f.found = (char *)poisoned_get(SL_HOST, f.bytes);
	f.on_device = (char *)poisoned_get(SL_DEVICE, f.bytes);
	lay_out(f.on_host, &f.host);
	lay_out(f.on_device, &f.device);
	fill_particles(&f.host);
	do_step(&f);
	sl_memory_give(SL_DEVICE, f.on_device);
	sl_memory_give(SL_HOST, f.found);
	sl_memory_give(SL_HOST, f.on_host);
}

void filter_check_kernels(uint32_t most)
{
	const uint32_t sizes[] = {1, 2, 31, 33, 257, most};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int scheme = SL_RESAMPLE_SYSTEMATIC; scheme <= SL_RESAMPLE_MULTINOMIAL;
			scheme++)
			for (uint32_t moments = 1; moments <= 4; moments += 3)
				check_filter(sizes[i], (enum sl_resampling_scheme)scheme, moments);
}
