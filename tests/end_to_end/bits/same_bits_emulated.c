/*
 * same_bits_emulated.c - runs on the emulated device give the bits of the CPU: every configuration,
 * backend, number of slots and threads, batch size, key, and order in which blocks run.
 */
#include "primitives/emulator/settings.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/same_bits_check.h"
#include "tests/support/program/program.h"

/* Fused mode recomputes the survivors of the first model, and copies those of the second. */
static const char *const configs[] = {"demo", "vandehulst"};
enum { N_CONFIGS = sizeof(configs) / sizeof(configs[0]) };

/* A particle takes about 10 us, and 100 us with the slowest backends. */
static struct bits small_run(int config)
{
	return (struct bits){.device = "emulated",
		.config = configs[config],
		.particles = is_quick() ? "300" : "2500",
		.batch = is_quick() ? "128" : "997"};
}

TEST(every_configuration_gives_the_bits_of_the_cpu)
{
	struct bits b = small_run(0);

	same_bits_check_configs(&b);
}

TEST(every_backend_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_backends(&b, 3, 3);
	}
}

TEST(slot_count_does_not_change_bits)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.batch = "313";
		same_bits_check_slots(&b);
	}
}

/* Without files, as in Python; several_devices.c compares files. */
TEST(device_count_does_not_change_bits)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.device = "emulated:3";
		b.batch = "313";
		same_bits_check(&b);
	}
}

TEST(batch_size_does_not_change_bits)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.batch = b.particles;
		same_bits_check(&b);
		b.batch = "1";
		b.particles = "40";
		same_bits_check(&b);
	}
}

TEST(key_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_keys(&b);
	}
}

TEST(condition_gives_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_conditions(&b);
	}
}

TEST(derived_columns_have_the_bits_of_the_cpu)
{
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_derived(&b);
	}
}

/* Work runs when it is queued; four blocks in flight are scheduled at random. */
TEST(block_order_does_not_change_bits)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings c = was;

	c.at_once = true;
	sl_emulator_set_settings(&c);
	slot_count_does_not_change_bits();
	batch_size_does_not_change_bits();
	every_backend_gives_the_bits_of_the_cpu();
	c = was;
	c.blocks = 4;
	c.seed = 3;
	sl_emulator_set_settings(&c);
	slot_count_does_not_change_bits();
	every_backend_gives_the_bits_of_the_cpu();
	sl_emulator_set_settings(&was);
}

TEST(files_are_those_of_the_cpu)
{
	struct bits b = small_run(0);

	same_bits_check_files_of_configs(&b);
}

TEST(mcpl_files_are_those_of_the_cpu)
{
	struct bits b = small_run(0);

	b.particles = "400";
	b.batch = "157";
	same_bits_check_lists(&b);
}

BEFORE_TESTS()
{
	assert_ok(sl_formats_start());
}
