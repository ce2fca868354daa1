/*
 * settings.c - tests the values of SL_EMULATOR, each in a separate process: this program
 * again.
 */
#include "tests/primitives/emulator/emulator_check.h"

/* In the child process: prints the settings of SL_EMULATOR as a line. */
static int choices_alone(void)
{
	const struct sl_emulator_settings *c = sl_emulator_get_settings();
	int n;

	printf("%u %llu %d %d %d %d %zu\n%s\n", c->blocks, (unsigned long long)c->seed,
		c->from_last, c->at_once, c->turing, c->no_peers, c->memory_bytes,
		sl_emulator_settings_problem() ? sl_emulator_settings_problem() : "");
	printf("%s\n", sl_device_count(&n) == SL_USAGE ? sl_last_error() : "can be used");
	fflush(stdout);
	return 0;
}

TEST(settings_are_read)
{
	static const struct {
		const char *text, *choices;
	} good[] = {
		{"", "1 0 0 0 0 0 1073741824\n"},
		{"blocks=4,seed=7,memory=64M", "4 7 0 0 0 0 67108864\n"},
		{"start=last", "1 0 1 0 0 0 1073741824\n"},
		{"device=turing", "1 0 0 0 1 0 1073741824\n"},
		{"peers=none", "1 0 0 0 0 1 1073741824\n"},
		{"queue=now,start=last,seed=0,blocks=64", "64 0 1 1 0 0 1073741824\n"},
		{"memory=3K", "1 0 0 0 0 0 3072\n"},
		{"memory=5", "1 0 0 0 0 0 5\n"},
		{"memory=2G,memory=1G", "1 0 0 0 0 0 1073741824\n"},
		{"seed=999999999999999999", "1 999999999999999999 0 0 0 0 1073741824\n"},
	};
	struct ending e;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		run_alone("choices", good[i].text, &e);
		if (strncmp(e.out, good[i].choices, strlen(good[i].choices)) != 0 ||
			!strstr(e.out, "\n\ncan be used"))
			fail_msg("\"%s\" is read as %s", good[i].text, e.out);
		process_free(&e);
	}
}

TEST(invalid_settings_are_refused)
{
	static const char *const bad[] = {"blocks", "blocks=", "blocks=0", "blocks=65", "blocks=-1",
		"blocks=4294967297", "blocks=4x", "blocks=1K", "seed=x", "seed=-1", "seed= 1",
		"seed=1M", "seed=99999999999999999999", "start=first", "start=", "queue=later",
		"device=hopper", "peers=all", "memory=0", "memory=1T", "memory=1MM",
		"memory=999999999999999999G", "memory=M", "frobnicate=1", ",", "blocks=4,",
		"blocks=4;seed=7", "=4", "blocks=4,,seed=1"};
	static const char start[] = "1 0 0 0 0 0 1073741824\nSL_EMULATOR: \"";
	char longest[300];
	struct ending e;

	for (size_t i = 0; i <= sizeof(bad) / sizeof(bad[0]); i++) {
		const char *text = i < sizeof(bad) / sizeof(bad[0]) ? bad[i] : longest;

		memset(longest, '1', sizeof(longest) - 1);
		memcpy(longest, "seed=1,seed=", 12);
		longest[280] = '\0';
		run_alone("choices", text, &e);
		if (strncmp(e.out, start, sizeof(start) - 1) != 0 || strstr(e.out, "can be used"))
			fail_msg("\"%s\" is read as %s", text, e.out);
		process_free(&e);
	}
}

TEST_FILE(argc, argv)
{
	sl_device_emulate(true);
	return argc == 1 ? run_test_file(argv[0]) : choices_alone();
}
