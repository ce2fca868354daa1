/*
 * slab_scores.c - scores of collisions and flights have the same bytes on the CPU and the emulated device, with the
 * counters of blocks in shared memory and with those of the batch in global memory.
 *
 * The emulated device has 4 multiprocessors, and a block 1024 particles, or 512 if flights are scored. So a batch of
 * more than 3072 particles, or of more than 1536, uses shared memory. In rounds the last ones do not.
 */
#include <stdio.h>

#include "stages/formats/formats.h"
#include "tests/support/runs/reference_run.h"

static const char text[] = "run: {name: t, seed: 7, particles: 5130}\n"
			   "model: {slab: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5,\n"
			   "  n: [1.4, 1.3], thickness: [0.25 cm, 0.25 cm]}}\n"
			   "keep: max_steps\n"
			   "key: [w:16]\n"
			   "tallies: [[deposit, z:40]]\n";

/* The settings of each case besides the tallies. */
#define ANALOGUE "model.slab.absorption=analogue"
#define IMPLICIT "model.slab.absorption=implicit"
#define PATHS                                                                          \
	"model={slab_paths: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5, n: " \
	"[1.4, 1.3], thickness: [0.25 cm, 0.25 cm], absorption: implicit}}"
#define ONE_LAYER                                                                     \
	"model={slab: {mu_a: 2 /cm, mu_s: 40 /cm, thickness: 0.4 cm, source: {type: " \
	"isotropic, depth: 0.1 cm}, absorption: implicit}}"

/* Even axes with particles below and above each of them, the first of which decides. */
#define EVEN                                                                               \
	"tallies=[[deposit, z:30:0.1 cm..0.4 cm], [fluence_collision, x:8:-1 mm..2 mm, "   \
	"r:10:0.1 mm..1 mm, time:4:1 ps..20 ps], [deposit, y:5:-1 mm..1 mm, z:7:0.05 cm.." \
	"0.3 cm], [w:16, transmitted]]"
/* The single scores for which there are special kernels. */
#define IN_R_Z(score) "tallies=[[" score ", r:20:0.2 mm..2 mm, z:10:0.05 cm..0.4 cm]]"
#define UNEVEN                                                                              \
	"tallies=[[fluence_collision, r:20:1 um..10 cm:log, z:0 cm..0.1 cm..0.4 cm, time:4" \
	":0 ps..20 ps], [deposit, z:40]]"
/* Flights with many pieces and with one, along each axis, with scores of collisions. */
#define FLIGHTS                                                                           \
	"tallies=[[fluence_track, r:20:0 mm..2 mm, z:20:0.05 cm..0.4 cm, time:4:0 ps..20" \
	" ps], [deposit, z:40], [fluence_track, x:-1 cm..-0.1 cm..0.2 cm..3 cm, y:5:-1 "  \
	"mm..1 mm], [crossing:0.25 cm, w:20, r:10:0 cm..1 cm]]"
#define LONG_FLIGHTS "tallies=[[fluence_track, z:400, y:10:-1 mm..1 mm]]"
#define CROSSINGS    "tallies=[[crossing:0.1 cm, time:10:0 ps..20 ps]]"
/* More than 227 KiB / 12 counters. */
#define MANY_FLIGHTS "tallies=[[fluence_track, r:400:0 cm..1 cm, z:50]]"
#define MANY         "tallies=[[deposit, r:400:0 cm..1 cm, z:50]]"

static void expect_same_bytes(const char *tallies, const char *set, const char *other)
{
	static const char *const schedules[] = {
		"transport.schedule=history", "transport.schedule=rounds"};

	remove_run(&folder, "whole");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--out", "whole", "--quiet", "--set",
			tallies, "--set", set, "--set", other));
	reference_hash = hash_run(&folder, "whole");
	for (int k = 0; k < 2; k++) {
		expect(&folder, SL_OK, "",
			WORDS("run", "c.yaml", "--device", "emulated", "--out", "out", "--quiet",
				"--set", tallies, "--set", set, "--set", other, "--set",
				schedules[k]));
		if (hash_run(&folder, "out") != reference_hash)
			fail_msg("%s, %s, %s: other files than on the CPU", tallies, set, other);
		remove_run(&folder, "out");
	}
}

TEST(even_axes_have_the_same_bytes)
{
	expect_same_bytes(EVEN, ANALOGUE, "run.batch=auto");
	expect_same_bytes(EVEN, IMPLICIT, "run.batch=auto");
	expect_same_bytes(EVEN, PATHS, "run.batch=auto");
	expect_same_bytes(EVEN, ONE_LAYER, "run.batch=auto");
}

TEST(scores_in_r_and_z_have_the_same_bytes)
{
	expect_same_bytes(IN_R_Z("deposit"), ANALOGUE, "run.batch=auto");
	expect_same_bytes(IN_R_Z("deposit"), IMPLICIT, "run.batch=auto");
	expect_same_bytes(IN_R_Z("deposit"), ONE_LAYER, "run.batch=auto");
	expect_same_bytes(IN_R_Z("fluence_collision"), ANALOGUE, "run.batch=auto");
	expect_same_bytes(IN_R_Z("fluence_collision"), PATHS, "run.batch=auto");
}

TEST(other_axes_have_the_same_bytes)
{
	expect_same_bytes(UNEVEN, ANALOGUE, "run.batch=auto");
	expect_same_bytes(UNEVEN, IMPLICIT, "run.batch=auto");
	expect_same_bytes(UNEVEN, PATHS, "run.batch=auto");
}

TEST(counters_that_do_not_fit_have_the_same_bytes)
{
	expect_same_bytes(MANY, IMPLICIT, "run.batch=auto");
}

TEST(flights_have_the_same_bytes)
{
	expect_same_bytes(FLIGHTS, ANALOGUE, "run.particles=2100");
	expect_same_bytes(FLIGHTS, IMPLICIT, "run.particles=1537");
	if (is_quick())
		return;
	expect_same_bytes(FLIGHTS, PATHS, "run.particles=1537");
	expect_same_bytes(LONG_FLIGHTS, ONE_LAYER, "run.particles=1537");
	expect_same_bytes(CROSSINGS, ONE_LAYER, "run.particles=2100");
	expect_same_bytes(MANY_FLIGHTS, ANALOGUE, "run.particles=1537");
	expect_same_bytes(FLIGHTS, ONE_LAYER, "run.particles=1536");
	expect_same_bytes(FLIGHTS, IMPLICIT, "run.particles=3");
}

/* From 2^21 steps on a block takes only one particle per thread, from 2^22 on none, because it could count too far. */
TEST(many_steps_have_the_same_bytes)
{
	expect_same_bytes(EVEN, IMPLICIT, "transport.max_steps=4000000");
	expect_same_bytes(EVEN, IMPLICIT, "transport.max_steps=5000000");
}

/* The last block has few particles, or the batch has one particle too few for shared memory. */
TEST(sizes_of_batches_have_the_same_bytes)
{
	expect_same_bytes(EVEN, IMPLICIT, "run.particles=3072");
	expect_same_bytes(EVEN, IMPLICIT, "run.particles=3073");
	expect_same_bytes(EVEN, IMPLICIT, "run.particles=4097");
	expect_same_bytes(EVEN, IMPLICIT, "run.particles=1");
}

/* The second launch of a run adds the scores; a fault in it names its kernel. */
static void expect_kernel(const char *name, const char *tallies, const char *set)
{
	static const char *const fault[] = {"SL_FAULT=dev_launch:2:2", NULL};
	const char *const *words = WORDS("run", "c.yaml", "--device", "emulated", "--out", "out",
		"--quiet", "--set", "transport.schedule=history", "--set", tallies, "--set", set);
	struct ending e;

	call(&folder, fault, words, &e);
	expect_ending(&e, SL_DEVICE_MEMORY, name, words);
	remove_run(&folder, "out");
}

TEST(shared_memory_is_used_where_counters_fit)
{
	static const char shared[] = "stage advance: scored_in_blocks_kernel:",
			  global[] = "stage advance: scored_kernel:";

	expect_kernel(shared, EVEN, "run.particles=3073");
	expect_kernel(shared, UNEVEN, "run.particles=3073");
	expect_kernel(global, EVEN, "run.particles=3072");
	expect_kernel(global, MANY, "run.particles=3073");
	expect_kernel(shared, EVEN, "transport.max_steps=4000000");
	expect_kernel(global, EVEN, "transport.max_steps=5000000");
	expect_kernel(shared, FLIGHTS, "run.particles=1537");
	expect_kernel(global, FLIGHTS, "run.particles=1536");
	expect_kernel(global, MANY_FLIGHTS, "run.particles=1537");
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
	reference_run_begin(text);
}
