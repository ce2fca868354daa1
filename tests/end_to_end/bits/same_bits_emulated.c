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

static void every_configuration_gives_the_bits_of_the_cpu(void **state)
{
	struct bits b = small_run(0);

	(void)state;
	same_bits_check_configs(&b);
}

static void every_backend_gives_the_bits_of_the_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_backends(&b, 3, 3);
	}
}

static void slot_count_does_not_change_bits(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.batch = "313";
		same_bits_check_slots(&b);
	}
}

/* Without files, as in Python; several_devices.c compares files. */
static void device_count_does_not_change_bits(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.device = "emulated:3";
		b.batch = "313";
		same_bits_check(&b);
	}
}

static void batch_size_does_not_change_bits(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		b.batch = b.particles;
		same_bits_check(&b);
		b.batch = "1";
		b.particles = "40";
		same_bits_check(&b);
	}
}

static void key_gives_the_bits_of_the_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_keys(&b);
	}
}

static void condition_gives_the_bits_of_the_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_conditions(&b);
	}
}

static void derived_columns_have_the_bits_of_the_cpu(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = small_run(i);

		same_bits_check_derived(&b);
	}
}

/* Work runs when it is queued; four blocks in flight are scheduled at random. */
static void block_order_does_not_change_bits(void **state)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings c = was;

	(void)state;
	c.at_once = true;
	sl_emulator_set_settings(&c);
	slot_count_does_not_change_bits(state);
	batch_size_does_not_change_bits(state);
	every_backend_gives_the_bits_of_the_cpu(state);
	c = was;
	c.blocks = 4;
	c.seed = 3;
	sl_emulator_set_settings(&c);
	slot_count_does_not_change_bits(state);
	every_backend_gives_the_bits_of_the_cpu(state);
	sl_emulator_set_settings(&was);
}

static void files_are_those_of_the_cpu(void **state)
{
	struct bits b = small_run(0);

	(void)state;
	same_bits_check_files_of_configs(&b);
}

static void mcpl_files_are_those_of_the_cpu(void **state)
{
	struct bits b = small_run(0);

	(void)state;
	b.particles = "400";
	b.batch = "157";
	same_bits_check_lists(&b);
}

TEST_FILE(argc, argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_configuration_gives_the_bits_of_the_cpu),
		cmocka_unit_test(every_backend_gives_the_bits_of_the_cpu),
		cmocka_unit_test(slot_count_does_not_change_bits),
		cmocka_unit_test(device_count_does_not_change_bits),
		cmocka_unit_test(batch_size_does_not_change_bits),
		cmocka_unit_test(key_gives_the_bits_of_the_cpu),
		cmocka_unit_test(condition_gives_the_bits_of_the_cpu),
		cmocka_unit_test(derived_columns_have_the_bits_of_the_cpu),
		cmocka_unit_test(block_order_does_not_change_bits),
		cmocka_unit_test(files_are_those_of_the_cpu),
		cmocka_unit_test(mcpl_files_are_those_of_the_cpu),
	};

	if (!sl_sampling_from_environment() || sl_formats_start() != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
