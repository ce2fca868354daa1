/*
 * run_json.c - libFuzzer target: reads arbitrary bytes as run.json, as --resume, --force, verify, info and join do.
 *
 * The checksum at the end is replaced by the right one, because libFuzzer does not find it. The plan is made
 * again from the stored configuration, as in verify.
 */
#include "tests/fuzz/fuzz.h"

#include "pipeline/join/part_times.h"
#include "pipeline/output/existing_run.h"
#include "pipeline/report/report.h"

/* The text of run.json after the bytes of its checksum, without the digits. */
#define CRC_KEY ",\n\t\"crc32\": \""
enum { CRC_KEY_BYTES = sizeof(CRC_KEY) - 1, CRC_DIGITS = 8 };

static void mend(char *text, size_t size)
{
	char *end = size > 0 ? (char *)memrchr(text, ',', size) : NULL;

	if (!end || (size_t)(text + size - end) < CRC_KEY_BYTES + CRC_DIGITS ||
		memcmp(end, CRC_KEY, CRC_KEY_BYTES) != 0)
		return;
	fuzz_put_crc(end + CRC_KEY_BYTES, text, (size_t)(end - text));
}

/* Makes the plan of the run. It is not executed; a large one needs no memory. */
static void plan_again(const struct sl_existing_run *run)
{
	struct sl_plan *plan;
	enum sl_status s = sl_existing_run_plan(run, NULL, 0, &plan);

	if (s != SL_HOST_MEMORY && s != SL_DISK)
		fuzz_check(s);
	sl_plan_free(plan);
}

/* sluice join reads the session and the machine of a part. */
static void read_as_part(const struct sl_existing_run *run)
{
	static struct sl_session sum;
	struct sl_part_times times;
	char *members;
	enum sl_status s;

	memset(&sum, 0, sizeof(sum));
	sl_part_times_add(run, &times, &sum);
	s = sl_part_members_read(&fuzz_dir, &members);
	fuzz_check(s);
	if (s == SL_OK)
		sl_memory_give(SL_HOST, members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_existing_run run;
	char *copy = (char *)malloc(size + 1);
	struct sl_existing_sizes sizes;
	enum sl_status s;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	mend(copy, size);
	fuzz_write("run.json", copy, size);
	free(copy);
	fuzz_check(sl_report_check(&fuzz_dir));
	s = sl_existing_run_read(&fuzz_dir, &run);
	fuzz_check(s);
	if (s == SL_OK) {
		fuzz_check(sl_existing_run_sizes(&run, &sizes));
		plan_again(&run);
		read_as_part(&run);
		sl_existing_run_free(&run);
	}
	return 0;
}
