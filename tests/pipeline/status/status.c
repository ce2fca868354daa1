/* status.c - sluice status never disturbs a run. What it prints: tests/text/status.txt. */
#include <stdatomic.h>
#include <stdio.h>

#include "pipeline/status/status.h"
#include "primitives/base/jobs.h"
#include "tests/support/basic/check.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

static atomic_bool stop_reading;

/* ctx is the directory of the run, because folder_path() is for one thread only. */
static void *read_again_and_again(void *ctx)
{
	struct sl_run_status r;
	struct sl_dir dir;

	if (sl_dir_open((const char *)ctx, false, &dir) == SL_OK) {
		while (!atomic_load(&stop_reading))
			(void)sl_run_status_read(&dir, 2e9, &r);
		sl_dir_close(&dir);
	}
	return NULL;
}

/* A run that starts while its status is read must get the lock. */
TEST(lock_is_never_taken)
{
	struct sl_thread_handle reader;
	struct sl_dir d;
	char path[512];

	write_text(&folder, "c.yaml",
		"run: {particles: 3000, batch: 500, threads: 1, device: cpu}\n"
		"model: {slab: {mu_a: 0.1 /cm, mu_s: 10 /cm, thickness: 1 cm}}\n"
		"keep: transmitted\noutput: {format: none}\n");
	expect(&folder, SL_OK, "", WORDS("run", "c.yaml", "--out", "run", "--quiet"));
	snprintf(path, sizeof(path), "%s", folder_path(&folder, "run"));
	assert_int_equal(sl_thread_start(4 << 20, read_again_and_again, path, &reader), 0);
	for (int i = 0; i < 500; i++) {
		assert_ok(sl_dir_open(path, false, &d));
		assert_ok(sl_dir_lock(&d));
		sl_dir_close(&d);
	}
	atomic_store(&stop_reading, true);
	pthread_join(reader.id, NULL);
}
