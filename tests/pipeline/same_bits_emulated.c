/*
 * same_bits_emulated.c - runs on the emulated device give the CPU's bits: every configuration,
 * backend, number of slots and threads, batch size and key, and whatever order its blocks run in.
 */
#include "primitives/emulator/settings.h"
#include "stages/formats/formats.h"
#include "tests/cases/thin.h"
#include "tests/support/same_bits_check.h"
#include "tests/support/program.h"

/* One of a model whose survivors are made again, and one whose are carried. */
static const char *const configs[] = {"demo", "vandehulst"};
enum { N_CONFIGS = sizeof(configs) / sizeof(configs[0]) };

/* A particle takes about ten microseconds, and a hundred with the slowest backends. */
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
	bits_check_configs(&b);
}

static void every_backend(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		bits_check_backends(&b, 3, 3);
	}
}

static void any_slots(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		b.batch = "313";
		bits_check_slots(&b);
	}
}

static void any_batch(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		b.batch = b.particles;
		bits_check(&b);
		b.batch = "1";
		b.particles = "40";
		bits_check(&b);
	}
}

static void any_key(void **state)
{
	(void)state;
	for (int i = 0; i < N_CONFIGS; i++) {
		struct bits b = few(i);

		bits_check_keys(&b);
	}
}

/* Work done when it is queued, and four blocks in flight that take turns at random. */
static void any_order(void **state)
{
	const struct sl_emulator_settings was = *sl_emulator_get_settings();
	struct sl_emulator_settings c = was;

	(void)state;
	c.at_once = true;
	sl_emulator_set_settings(&c);
	any_slots(state);
	any_batch(state);
	every_backend(state);
	c = was;
	c.blocks = 4;
	c.seed = 3;
	sl_emulator_set_settings(&c);
	any_slots(state);
	every_backend(state);
	sl_emulator_set_settings(&was);
}

static void every_file(void **state)
{
	struct bits b = few(0);

	(void)state;
	bits_check_files_of_configs(&b);
}

static void every_list(void **state)
{
	struct bits b = few(0);

	(void)state;
	b.particles = "400";
	b.batch = "157";
	bits_check_lists(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_config),
		cmocka_unit_test(every_backend),
		cmocka_unit_test(any_slots),
		cmocka_unit_test(any_batch),
		cmocka_unit_test(any_key),
		cmocka_unit_test(any_order),
		cmocka_unit_test(every_file),
		cmocka_unit_test(every_list),
	};

	if (!sl_thin_by_environment() || sl_formats_start() != SL_OK)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
