/* part_times.c - see join.h. */
#include "pipeline/join/join.h"

#include <string.h>

#include "pipeline/text/text.h"
#include "primitives/files/files.h"
#include "stages/host/host.h"
#include "stages/rounds/rounds.h"

/* Seconds at key as nanoseconds; a value that no session can have counts as 0. */
static uint64_t nanoseconds(const struct sl_yaml *tree, sl_node mapping, const char *key)
{
	double ns = 1e9 * sl_yaml_real(tree, mapping, key);

	return ns > 0 && ns < 0x1p62 ? (uint64_t)(ns + 0.5) : 0;
}

/* Reads the sums over the batches of a part for each round. */
static void add_rounds(const struct sl_yaml *tree, sl_node node, struct sl_rounds *sum)
{
	sl_node each = sl_yaml_get(tree, node, "each");
	struct sl_rounds rounds = {.longest = sl_yaml_number(tree, node, "longest")};

	for (size_t i = 0; i < sl_yaml_size(tree, each) && i < SL_ROUNDS_MAX; i++) {
		sl_node round = sl_yaml_item(tree, each, i, NULL);

		rounds.at[rounds.n++] = (struct sl_round){
			.batches = sl_yaml_number(tree, round, "batches"),
			.width = sl_yaml_number(tree, round, "particles"),
			.alive = sl_yaml_number(tree, round, "alive"),
			.compacted = sl_yaml_number(tree, round, "batches_compacted"),
			.advance_ns = nanoseconds(tree, round, "advance_seconds"),
			.compact_ns = nanoseconds(tree, round, "compact_seconds"),
		};
	}
	sl_rounds_add(sum, &rounds);
}

/* Adds the member times of run.json (report.c writes it). */
static void add_session(const struct sl_yaml *tree, sl_node times, struct sl_session *sum)
{
	sl_node threads = sl_yaml_get(tree, times, "thread_seconds");
	double seconds = sl_yaml_real(tree, times, "wall_seconds");

	sum->seconds = seconds > sum->seconds ? seconds : sum->seconds;
	sum->batches += sl_yaml_number(tree, times, "batches");
	sum->particles += sl_yaml_number(tree, times, "particles");
	sum->column_bytes += sl_yaml_number(tree, times, "column_bytes");
	sum->file_bytes += sl_yaml_number(tree, times, "file_bytes");
	sum->cpu_ns += nanoseconds(tree, times, "computing_seconds");
	for (int i = 0; i < SL_STAGE_COUNT; i++)
		sum->stage_ns[i] += nanoseconds(tree, threads, sl_stages[i].name);
	sum->transfer_ns += nanoseconds(tree, threads, "transfer");
	sum->pack_ns += nanoseconds(tree, threads, "compress");
	sum->assemble_ns += nanoseconds(tree, threads, "assemble");
	sum->commit_ns += nanoseconds(tree, threads, "commit");
}

void sl_part_times_add(
	const struct sl_existing_run *run, struct sl_part_times *times, struct sl_session *sum)
{
	const struct sl_yaml *tree = run->tree;
	sl_node root = SL_YAML_ROOT, session = sl_yaml_get(tree, root, "times");

	times->number = run->part.number;
	times->seconds = sl_yaml_real(tree, session, "wall_seconds");
	times->batches = sl_yaml_number(tree, session, "batches");
	snprintf(times->host, sizeof(times->host), "%s",
		sl_yaml_text(tree, sl_yaml_get(tree, root, "machine.host"), NULL));
	add_session(tree, session, sum);
	add_rounds(tree, sl_yaml_get(tree, root, "rounds"), &sum->rounds);
}

/* Newlines in strings are escaped, so these texts start members of the root. */
enum sl_status sl_part_members_read(const struct sl_dir *dir, char **members)
{
	static const char start[] = "\n\t\"machine\": {", stop[] = ",\n\t\"batches\": [";
	SL_CLOSED_BY(sl_host_give) char *text = NULL;
	char *from, *end;
	size_t bytes;

	*members = NULL;
	SL_TRY(sl_file_read(dir, "run.json", &text, &bytes));
	from = strstr(text, start);
	end = from ? strstr(from, stop) : NULL;
	if (!end)
		return sl_fail(SL_BAD_INPUT,
			"%s/run.json: has no machine (another program wrote it); compute the part again "
			"with --force",
			dir->path);
	*end = '\0';
	memmove(text, from, (size_t)(end - from) + 1);
	*members = text;
	text = NULL;
	return SL_OK;
}
