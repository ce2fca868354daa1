/*
 * same_bits_device.c - runs on a GPU give the bits of the CPU at production sizes: every
 * configuration, backend, number of slots, batch size and key. Skips without a GPU.
 */
#include <stdio.h>

#include "primitives/device/device.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/same_bits_check.h"
#include "tests/support/program/program.h"
#include "tests/support/basic/skip.h"

/* Fused mode recomputes the survivors of the first model, and copies those of the second. */
static const char *const configs[] = {"demo", "vandehulst"};
enum { N_CONFIGS = sizeof(configs) / sizeof(configs[0]) };

static struct bits large_run(int config, const char *particles, const char *batch)
{
	return (struct bits){.device = "cuda",
		.config = configs[config],
		.particles = particles,
		.batch = batch};
}

TEST(every_configuration_gives_the_bits_of_the_cpu)
{
	struct bits b = large_run(0, "3e6", "auto");

	same_bits_check_configs(&b);
}

/* One slot, and four slots whose work overlaps. */
TEST(every_backend_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "250007");

		same_bits_check_backends(&b, 1, 1);
		same_bits_check_backends(&b, 4, 4);
	}
}

TEST(slot_count_does_not_change_bits)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "65537");

		same_bits_check_slots(&b);
	}
}

TEST(batch_size_does_not_change_bits)
{
	static const struct {
		const char *particles, *batch;
	} sizes[] = {{"300", "1"}, {"3e6", "1000003"}, {"9e6", "4194304"}, {"9e6", "9e6"}};

	for (int i = 0; i < N_CONFIGS; i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct bits b = large_run(i, sizes[k].particles, sizes[k].batch);

			same_bits_check(&b);
		}
}

TEST(key_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "1e6");

		same_bits_check_keys(&b);
	}
}

TEST(condition_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "1e6");

		same_bits_check_conditions(&b);
	}
}

TEST(derived_columns_have_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "1e6");

		same_bits_check_derived(&b);
	}
}

TEST(files_are_those_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = large_run(i, "1e6", "300007");

		same_bits_check_files(&b);
	}
}

/* More records than one gzip member holds. */
TEST(mcpl_files_are_those_of_the_cpu)
{
	struct bits b = large_run(0, "1e6", "300007");

	same_bits_check_lists(&b);
}

BEFORE_TESTS()
{
	skip_without_device();
	assert_ok(sl_formats_start());
}
