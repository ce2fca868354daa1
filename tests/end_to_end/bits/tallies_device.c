/*
 * tallies_device.c - histograms, grids and scores along the histories of runs on a GPU: the bytes of the
 * CPU at production sizes, in the modes that have them and in rounds. Skips without a GPU.
 */
#include "stages/formats/formats.h"
#include "tests/support/basic/skip.h"
#include "tests/support/runs/reference_run.h"

#define MODEL                                                                           \
	"run: {name: t, seed: 7, particles: 3e6, batch: 1000003}\n"                     \
	"model: {slab: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5, n: [1.4, " \
	"1.3],\n"                                                                       \
	"  thickness: [0.25 cm, 0.25 cm]}}\n"                                           \
	"columns: {half: \"hypot(x - 1 mm, y) / 2\"}\n"                                 \
	"keep: transmitted and half < r\n"                                              \
	"key: [rho:16:0 cm..1 cm]\n"                                                    \
	"output: {columns: [id, r, rho], format: csv}\n"                                \
	"tallies:\n"
#define ENDS                                                                        \
	"  - [r:200:1 um..1 m:log, time:0 ps..10 ps..20 ps..1 ns, steps:64:0..64, " \
	"reflected]\n"                                                              \
	"  - [half:8:0 mm..2 mm, transmitted]\n"                                    \
	"  - w:16\n"
#define SCORES                                                                   \
	"  - [deposit, z:40]\n"                                                  \
	"  - [fluence_collision, r:100:0 mm..5 mm, z:50, time:20:0 ps..50 ps]\n" \
	"  - [fluence_collision, r:20:1 um..10 cm:log, z:0 cm..0.1 cm..0.4 cm, " \
	"time:4:0 ps..20 ps]\n"                                                  \
	"  - [fluence_track, r:50:0 mm..5 mm, z:50, time:8:0 ps..50 ps]\n"       \
	"  - [fluence_track, x:-1 cm..-0.1 cm..0.2 cm..3 cm]\n"                  \
	"  - [crossing:0.25 cm, w:20, r:10:0 cm..1 cm]\n"

/*
 * The counters of all but MANY fit in shared memory: collisions in bins of equal width, single scores with special
 * kernels, other bins; flights.
 */
#define COLLISIONS                                          \
	"  - [deposit, z:40:0.1 cm..0.4 cm]\n"              \
	"  - [fluence_collision, r:100:0 mm..5 mm, z:50]\n" \
	"  - [deposit, x:8:-1 mm..2 mm, y:5:-1 mm..1 mm, time:20:1 ps..50 ps]\n"
#define DEPOSIT_IN_R_Z "  - [deposit, r:100:0.1 mm..2 mm, z:100:0.05 cm..0.4 cm]\n"
#define FLUENCE_IN_R_Z "  - [fluence_collision, r:100:0.1 mm..2 mm, z:100:0.05 cm..0.4 cm]\n"
#define UNEVEN                                                                  \
	"  - [deposit, r:20:1 um..10 cm:log, z:0 cm..0.1 cm..0.4 cm, time:4:0 " \
	"ps..20 ps]\n"
#define MANY "  - [deposit, r:200:0 mm..5 mm, z:100]\n"
#define FLIGHTS                                                 \
	"  - [fluence_track, r:60:0 mm..5 mm, z:100]\n"         \
	"  - [deposit, z:40]\n"                                 \
	"  - [fluence_track, x:-1 cm..-0.1 cm..0.2 cm..3 cm]\n" \
	"  - [crossing:0.25 cm, w:20, r:10:0 cm..1 cm]\n"

/* Runs a configuration on the CPU, with which the next runs are compared. */
static void run_reference(const char *text, const char *absorption)
{
	write_text(&folder, "c.yaml", text);
	remove_run(&folder, "whole");
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cpu", "--out", "whole", "--quiet", "--set",
			absorption));
	reference_hash = hash_run(&folder, "whole");
}

static void expect_same(const char *absorption, const char *set)
{
	expect(&folder, SL_OK, "",
		WORDS("run", "c.yaml", "--device", "cuda", "--out", "out", "--quiet", "--set",
			absorption, "--set", set));
	if (hash_run(&folder, "out") != reference_hash)
		fail_msg("%s, %s: other files than on the CPU", absorption, set);
	remove_run(&folder, "out");
}

static void expect_same_in_staged_mode(const char *absorption)
{
	expect_same(absorption, "run.mode=staged");
	expect_same(absorption, "transport.schedule=rounds");
	expect_same(absorption,
		"transport={schedule: rounds, compact: every, sort: every 2, key: [z:8]}");
}

static void expect_scores(const char *absorption)
{
	run_reference(MODEL ENDS SCORES, absorption);
	expect_same_in_staged_mode(absorption);
}

TEST(scores_are_those_of_the_cpu)
{
	expect_scores("model.slab.absorption=analogue");
}

TEST(scores_of_weights_are_those_of_the_cpu)
{
	expect_scores("model.slab.absorption=implicit");
}

TEST(counters_of_blocks_are_those_of_the_cpu)
{
	static const char *const scores[] = {
		MODEL COLLISIONS,
		MODEL DEPOSIT_IN_R_Z,
		MODEL FLUENCE_IN_R_Z,
		MODEL UNEVEN,
		MODEL MANY,
		MODEL FLIGHTS
	};

	for (size_t k = 0; k < sizeof(scores) / sizeof(scores[0]); k++) {
		run_reference(scores[k], "model.slab.absorption=implicit");
		expect_same_in_staged_mode("model.slab.absorption=implicit");
	}
	run_reference(MODEL COLLISIONS, "model.slab.absorption=analogue");
	expect_same_in_staged_mode("model.slab.absorption=analogue");
}

/* Fused mode has no scores. */
TEST(tallies_of_ends_are_those_of_the_cpu)
{
	run_reference(MODEL ENDS, "model.slab.absorption=implicit");
	expect_same_in_staged_mode("model.slab.absorption=implicit");
	expect_same("model.slab.absorption=implicit", "run.mode=fused");
}

/* The other model that has scores, with the same histories. */
TEST(scores_of_slab_paths_are_those_of_the_cpu)
{
	static const char analogue[] = "model.slab_paths.absorption=analogue";

	run_reference(
		"run: {name: t, seed: 7, particles: 3e6, batch: 1000003}\n"
		"model: {slab_paths: {mu_a: [2 /cm, 8 /cm], mu_s: [20 /cm, 9 /cm], g: 0.5, n: [1.4, "
		"1.3],\n"
		"  thickness: [0.25 cm, 0.25 cm]}}\n"
		"keep: transmitted\n"
		"key: [path_1:16:0 cm..1 cm]\n"
		"tallies:\n"
		"  - [deposit, z:40]\n"
		"  - [fluence_collision, r:100:0 mm..5 mm, z:50, time:20:0 ps..50 ps]\n"
		"  - [fluence_track, x:-1 cm..-0.1 cm..0.2 cm..3 cm, z:50]\n"
		"  - [crossing:0.25 cm, w:20]\n"
		"  - [path_2:16:0 cm..1 cm, transmitted]\n"
		"output: {columns: [id, path_1, path_2], format: csv}\n",
		analogue);
	expect_same_in_staged_mode(analogue);
}

BEFORE_TESTS()
{
	skip_without_device();
	assert_ok(sl_formats_start());
	reference_run_begin(MODEL ENDS);
}
