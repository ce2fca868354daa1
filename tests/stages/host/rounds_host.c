/*
 * rounds_host.c - tests rounds on the host: when they compact, sort and finish, and that the number of active particles after
 * each round matches particles computed one by one. host_pipeline.c tests that no schedule changes a byte.
 */
#include "tests/support/basic/batch_memory.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/test_recipes.h"
#include "tests/support/basic/schedules.h"

#include "stages/host/host_pipeline.h"
#include "stages/host/rounds_host.h"
#include "stages/rounds/rounds.h"

enum { N = 3000 };

/* --- when ------------------------------------------------------------------------------------- */

TEST(compactions_follow_the_schedule)
{
	const struct sl_when never = {.kind = SL_NEVER}, third = {.kind = SL_EVERY, .every = 3},
			     half = {.kind = SL_BELOW, .below = 0.5};

	assert_false(sl_is_due(&never, 0, 100, 0));
	for (uint32_t round = 0; round < 9; round++)
		assert_int_equal(
			sl_is_due(&third, round, 1, 1), round == 2 || round == 5 || round == 8);
	assert_false(sl_is_due(&half, 0, 100, 100));
	assert_false(sl_is_due(&half, 0, 100, 50));
	assert_true(sl_is_due(&half, 0, 100, 49));
	assert_true(sl_is_due(&half, 0, UINT32_MAX, UINT32_MAX / 2));
	assert_false(sl_is_due(&half, 0, UINT32_MAX, UINT32_MAX / 2 + 1));
}

/* --- batches ---------------------------------------------------------------------------------- */

/* Runs a batch in memory with arbitrary previous contents. */
static void make_batch(struct batch_memory *m, const struct sl_recipe *r)
{
	open_batch_memory(m, r, 0xa5);
	run_batch(r, m, 0);
}

/* After round k of one step each, the particles with more than k steps are alive. */
TEST(active_counts_equal_recomputed_particles)
{
	for (int model = 0; model < TEST_MODELS; model++) {
		struct sl_recipe r = test_recipe((enum sl_model_number)model, N);
		uint64_t alive[SL_ROUNDS_MAX] = {0};
		uint32_t n = 1; /* rounds, after the last of which none is alive */
		struct batch_memory m;

		if (!sl_models[model]->steps)
			continue;
		for (uint64_t id = 0; id < N; id++)
			for (uint32_t k = 1;
				k < sl_compute_particle(&r, id).steps && k < SL_ROUNDS_MAX; k++)
				alive[k - 1]++;
		while (alive[n - 1] > 0)
			n++;
		for (int i = 0; i < 2; i++) { /* never compacted, and every round */
			r.schedule = schedule_at(i);
			make_batch(&m, &r);
			assert_int_equal(m.b.rounds.n, n);
			for (uint32_t k = 0; k < n; k++)
				assert_int_equal(m.b.rounds.at[k].alive, alive[k]);
			close_batch_memory(&m);
		}
	}
}

/* A batch of one particle that the surface of the slab reflects at the start. */
TEST(batch_without_active_particles)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, 1);
	uint64_t id = 0;
	struct batch_memory m;

	while (sl_compute_particle(&r, id).steps > 0)
		id++;
	r.batch = 1;
	r.particles = id + 1;
	r.schedule = schedule_at(1);
	open_batch_memory(&m, &r, 0xa5);
	run_batch(&r, &m, id);
	assert_int_equal(m.b.rounds.longest, 1);
	assert_int_equal(m.b.rounds.at[0].alive, 0);
	assert_int_equal(m.b.tally.count[SL_FATE_reflected], 1);
	close_batch_memory(&m);
}

/* A schedule without compaction needs no memory for moved particles; one that compacts late needs less. */
TEST(schedules_need_their_memory)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, N);
	size_t bytes[3];

	for (int i = 0; i < 3; i++) {
		static const int schedules[] = {0, 2, 1}; /* never, alive < 0.5, every */
		struct sl_arena measure = {0};
		struct sl_batch b;

		r.schedule = schedule_at(schedules[i]);
		sl_rounds_lay_out(&measure, &r, N, &b);
		bytes[i] = measure.used;
	}
	assert_int_equal(bytes[0], 0);
	assert_true(bytes[1] > 0 && bytes[1] < bytes[2]);
}

TEST(cancelled_batch_stops)
{
	struct sl_recipe r = test_recipe(SL_MODEL_slab, N);
	atomic_int cancel = 0;
	struct batch_memory m;

	r.schedule = schedule_at(1);
	make_batch(&m, &r);
	r.cancel = &cancel;
	atomic_store(&cancel, 1);
	sl_batch_begin(&r, &m.b, 0);
	assert_fails(sl_rounds_on_host(&r, &m.x, &m.b), SL_STOPPED,
		"cancelled: the run was asked to stop");
	close_batch_memory(&m);
}

/* Batches with more rounds than there are entries, and with fewer, in one sum. */
TEST(rounds_of_batches_are_summed)
{
	const struct sl_round first = {.batches = 1, .width = 10, .alive = 4, .compacted = 1},
			      second = {.batches = 1, .width = 4, .advance_ns = 7},
			      other = {.batches = 1, .width = 10, .sorted = 1, .sort_ns = 3},
			      both = {.batches = 2,
				      .width = 20,
				      .alive = 4,
				      .compacted = 1,
				      .sorted = 1,
				      .sort_ns = 3};
	const struct sl_rounds a = {.n = 2, .longest = 2, .at = {first, second}},
			       b = {.n = 1, .longest = 1, .at = {other}};
	struct sl_rounds sum = {0};

	sl_rounds_add(&sum, &a);
	sl_rounds_add(&sum, &b);
	assert_true(sum.n == 2 && sum.longest == 2);
	assert_memory_equal(&sum.at[0], &both, sizeof(both));
	assert_memory_equal(&sum.at[1], &second, sizeof(second));
}
