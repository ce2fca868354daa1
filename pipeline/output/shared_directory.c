/* shared_directory.c - see output.h. */
#include "pipeline/output/output.h"

#include <string.h>
#include <time.h>

#include "primitives/base/clock.h"
#include "primitives/files/files.h"

/*
 * How long a rank waits for the directory that rank 0 has opened. A network file system can show a
 * directory, or a file that was replaced, late: NFS keeps for up to 30 s that a name did not exist.
 */
enum { SECONDS_TO_APPEAR = 40, INTERVAL_NS = 100000000 };

/*
 * The contents of LOCK identify a run directory: rank 0 has just signed it, with process, host and
 * time.
 */
static enum sl_status identify(const struct sl_dir *dir, struct sl_file_contents *lock)
{
	memset(lock, 0, sizeof(*lock)); /* with the padding, because it is compared and sent */
	return sl_file_check(dir, SL_LOCK_NAME, &lock->bytes, &lock->crc);
}

/*
 * Opens the directory of the plan if it is the one that rank 0 has described; else closes it again.
 */
static bool is_opened(
	const struct sl_plan *plan, const struct sl_file_contents *wanted, struct sl_dir *dir)
{
	struct sl_file_contents found;
	bool exists;

	if (sl_dir_exists(plan->to, &exists) != SL_OK || !exists ||
		sl_dir_open(plan->to, false, dir) != SL_OK)
		return false;
	if (identify(dir, &found) == SL_OK && memcmp(&found, wanted, sizeof(found)) == 0)
		return true;
	sl_dir_close(dir);
	return false;
}

static enum sl_status join(
	const struct sl_plan *plan, const struct sl_file_contents *wanted, struct sl_dir *dir)
{
	const struct timespec interval = {.tv_nsec = INTERVAL_NS};
	uint64_t start = sl_now_ns();
	bool opened = is_opened(plan, wanted, dir);

	while (!opened && 1e-9 * (double)(sl_now_ns() - start) < SECONDS_TO_APPEAR) {
		nanosleep(&interval, NULL);
		opened = is_opened(plan, wanted, dir);
	}
	if (!opened)
		return sl_fail(SL_USAGE,
			"%s: is not the directory that rank 0 has opened under this name (the ranks "
			"write into one directory); choose --out on a file system that all nodes share",
			plan->to);
	dir->lazy = plan->config.output.durable != SL_DURABLE_BATCH;
	dir->locked_for_us = true;
	return SL_OK;
}

/*
 * Opens the directory on all ranks, and writes only LOCK, so that a refused start changes no run.
 */
static enum sl_status open_on_all(
	const struct sl_plan *plan, struct sl_ranks *ranks, struct sl_dir *dir)
{
	struct sl_file_contents wanted;
	enum sl_status s = SL_OK;

	memset(&wanted, 0, sizeof(wanted));
	if (ranks->rank == 0)
		s = sl_output_lock(plan, dir);
	if (s == SL_OK && ranks->rank == 0)
		s = identify(dir, &wanted);
	SL_TRY(sl_ranks_agree(ranks, s));
	SL_TRY(ranks->broadcast(&wanted, sizeof(wanted)));
	if (ranks->rank > 0)
		s = join(plan, &wanted, dir);
	return sl_ranks_agree(ranks, s);
}

enum sl_status sl_output_open(struct sl_workspace *w, struct sl_ranks *ranks, enum sl_start start,
	struct sl_dir *dir, struct sl_manifest *done)
{
	enum sl_status s = SL_OK;

	memset(done, 0, sizeof(*done));
	SL_TRY(ranks ? open_on_all(w->plan, ranks, dir) : sl_output_lock(w->plan, dir));
	if (!ranks || ranks->rank == 0)
		s = sl_output_enter(w, start, dir, done);
	return sl_ranks_agree(ranks, s);
}
