/* sink.h - finished batches become files: assemble, commit, one line in the manifest. */
#ifndef SL_SINK_H
#define SL_SINK_H

#include "pipeline/run.h"

/* Commits the batch in slot to dir. One thread at a time. */
enum sl_status sl_sink_commit(struct sl_plan *plan, const struct sl_dir *dir,
	const struct sl_slot *slot, struct sl_session *session);

/* What the manifest says of a batch, but for its file; of its tallies by bins all but the name. */
void sl_sink_line(const struct sl_batch *b, struct sl_manifest_line *line);

/* The names of the files of a batch: survivors, and tallies by bins ("" where there are none). */
void sl_sink_bins_name(const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES]);
void sl_sink_name(const struct sl_plan *plan, uint64_t batch, char name[SL_FILE_NAME_BYTES]);

#endif
