/*
 * same_bits_emulated.c - runs on the emulated device give the bits of the CPU: every configuration,
 * backend, number of slots and threads, batch size, key, and order in which blocks run.
 */
#include "primitives/emulator/settings.h"
#include "stages/formats/formats.h"
#include "tests/cases/sampling.h"
#include "tests/support/runs/same_bits_check.h"
#include "tests/support/program/program.h"

/* One model whose survivors are recomputed, and one whose survivors are carried. */
static const char *const configs[] = {"demo", "vandehulst"};
enum { N_CONFIGS = sizeof(configs) / sizeof(configs[0]) };

/* A particle takes about 10 us, and 100 us with the slowest backends. */
static struct bits few(int config)
{
	return (struct bits){.device = "emulated",
		.config = configs[config],
		.particles = be_quick() ? "300" : "2500",
		.batch = be_quick() ? "128" : "997"};
}

static void every_config(void **state)
{
	struct bits b = few(0);

	(void)state;
	same_bits_check_configs(&b);
}

static void every_backend(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		same_bits_check_backends(&b, 3, 3);
	}
}

static void any_slot_count(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		b.batch = "313";
		same_bits_check_slots(&b);
	}
}

static void any_batch_size(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		b.batch = b.particles;
		same_bits_check(&b);
		b.batch = "1";
		b.particles = "40";
		same_bits_check(&b);
	}
}

static void any_key(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		same_bits_check_keys(&b);
	}
}

/* Work runs when it is queued; four blocks in flight are scheduled at random. */
static void any_block_order(void **state)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings c = was;

	(void)state;
	c.at_once = true;
	sl_emulator_set_settings(&c);
	any_slot_count(state);
	any_batch_size(state);
	every_backend(state);
	c = was;
	c.blocks = 4;
	c.seed = 3;
	sl_emulator_set_settings(&c);
	any_slot_count(state);
	every_backend(state);
	sl_emulator_set_settings(&was);
}

static void every_file_format(void **state)
{
	struct bits b = few(0);

	(void)state;
	same_bits_check_files_of_configs(&b);
}

static void every_mcpl_file(void **state)
{
	struct bits b = few(0);

	(void)state;
	b.particles = "400";
	b.batch = "157";
	same_bits_check_lists(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_config),
		cmocka_unit_test(every_backend),
		cmocka_unit_test(any_slot_count),
		cmocka_unit_test(any_batch_size),
		cmocka_unit_test(any_key),
		cmocka_unit_test(any_block_order),
		cmocka_unit_test(every_file_format),
		cmocka_unit_test(every_mcpl_file),
	};

	if (!sl_sampling_from_environment() || sl_formats_start() != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
