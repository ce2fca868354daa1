/*
 * runs.c - fuzz targets: arbitrary bytes as manifest.jsonl and as run.json. Checksums are replaced
 * by the right ones.
 */
#include <stdio.h>

#include "pipeline/join/join.h"
#include "pipeline/output/output.h"
#include "pipeline/report/report.h"
#include "pipeline/results/results.h"
#include "tests/fuzz/fuzz.h"

FUZZ(manifest)
{
	enum { END = sizeof(",\"crc\":\"01234567\"}") - 1 };
	char *copy = fuzz_text(data, size), *next;
	struct sl_manifest m = {0};

	for (char *line = copy; line < copy + size; line = next + 1) {
		next = (char *)memchr(line, '\n', (size_t)(copy + size - line));
		next = next ? next : copy + size;
		if (next - line > END && memcmp(next - END, ",\"crc\":\"", 8) == 0)
			fuzz_put_crc(next - END + 8, line, (size_t)(next - line) - END);
	}
	fuzz_write("manifest.jsonl", copy, size);
	fuzz_check(sl_manifest_read(&fuzz_dir, &m));
	sl_manifest_free(&m);
	free(copy);
}

/* Makes the plan of the run, as verify does. It is not executed; a large one needs no memory. */
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

	memset(&sum, 0, sizeof(sum));
	sl_part_times_add(run, &times, &sum);
	if (fuzz_check(sl_part_members_read(&fuzz_dir, &members)))
		sl_memory_give(SL_HOST, members);
}

/* As --resume, --force, verify, info and join read it. */
FUZZ(run_json)
{
	static const char key[] = ",\n\t\"crc32\": \""; /* of the checksum of the text before it */
	char *copy = fuzz_text(data, size), *sum = (char *)memmem(copy, size, key, sizeof(key) - 1);
	struct sl_existing_sizes sizes;
	struct sl_existing_run run;

	if (sum && (size_t)(copy + size - sum) >= sizeof(key) - 1 + 8)
		fuzz_put_crc(sum + sizeof(key) - 1, copy, (size_t)(sum - copy));
	fuzz_write("run.json", copy, size);
	free(copy);
	fuzz_check(sl_report_check(&fuzz_dir));
	if (!fuzz_check(sl_existing_run_read(&fuzz_dir, &run)))
		return;
	fuzz_check(sl_existing_run_sizes(&run, &sizes));
	plan_again(&run);
	read_as_part(&run);
	sl_existing_run_free(&run);
}
