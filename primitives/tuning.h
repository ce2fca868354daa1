/*
 * tuning.h - tuning files: what a backend chooses where nobody chooses for it, by device and size.
 *
 * Where block and items of a tuning are both 0, the choice is the backend's own, one for all
 * devices. A file that sluice-bench tune has written on a device knows better:
 *
 *	# comments go to the end of the line
 *	device NVIDIA H200
 *	scan/shared u32 from 0     block=128 items=16
 *	scan/shared u32 from 2^22  block=256 items=32
 *	sort/shared u64 from 0     block=384 items=20
 *
 * A line holds for the device named last, as sl_device.name tells it; for that backend and type of
 * items or keys (u32 for compact, which has but one); from so many items up to where the next line
 * of the same begins. What has no line stays the backend's own. Lines of one backend and type stand
 * in ascending order.
 *
 * Speed alone depends on it, never a result. sl_scratch() counts with the same lines.
 */
#ifndef SL_PRIMITIVES_TUNING_H
#define SL_PRIMITIVES_TUNING_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum { SL_TUNINGS_MAX = 1024, SL_TUNING_BYTES_MAX = 1 << 20, SL_TUNING_PATH_BYTES = 4096 };

/*
 * Reads a file in place of what was read before. SL_USAGE when a line is wrong, with "file:line: "
 * in front of the story; nothing is read then. For the whole process; no other call may be under
 * way. What a file says of a device holds in threads that have called sl_device_use() for it.
 */
enum sl_status sl_tuning_read(const char *path);

/* Back to the backends' own choices. */
void sl_tuning_clear(void);

/*
 * Where a file is looked for: what SL_TUNING in the environment names, else sluice/tuning in
 * $XDG_CONFIG_HOME, or in $HOME/.config. An empty path: SL_TUNING is not set, or empty, and no such
 * file is there.
 */
void sl_tuning_default_path(char path[SL_TUNING_PATH_BYTES]);

/* The file that was read, and how many of its lines hold for the current device; "" for none. */
const char *sl_tuning_path(void);
uint32_t sl_tuning_lines(void);

/* One line. */
struct sl_tuning_line {
	char device[96];
	const struct sl_backend *backend; /* the emulated one, whose facts are those of both */
	enum sl_type type;
	uint32_t from; /* items */
	struct sl_tuning tuning;
	uint32_t line; /* in the file */
};

/* The line for n items on the current device; NULL: none. */
const struct sl_tuning_line *sl_tuning_find(
	const struct sl_backend *b, enum sl_type type, uint32_t n);

SL_C_END

#endif
