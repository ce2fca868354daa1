/*
 * tuning.h - tuning files: launch configurations measured on a device, by backend and size.
 *
 * Each backend has one default launch configuration for all devices. A tuning file, written by
 * `sluice-bench tune` on a device, replaces it where the caller leaves the tuning at 0:
 *
 *	# a comment ends with the line
 *	device NVIDIA H200
 *	scan/shared u32 from 0     block=128 items=16
 *	scan/shared u32 from 2^22  block=256 items=32
 *	sort/shared u64 from 0     block=384 items=20
 *	scan/tiled  u32 from 0     block=128 items=8 padding=off
 *
 * A line applies to the last device named before it (as in sl_device.name), to one backend and type
 * of item or key (u32 for compact), and from that many items up to the next line of the same backend
 * and type. Lines of one backend and type are in ascending order. Without a line, the default of the
 * backend applies; so it does to padding in a line without it.
 *
 * A tuning changes speed, never results. sl_scratch() uses the same lines.
 *
 * The file that was read is state of the process: read it before other threads make calls. Its lines
 * apply in threads that have called sl_device_use() for the device that they name.
 */
#ifndef SL_PRIMITIVES_TUNING_H
#define SL_PRIMITIVES_TUNING_H

#include "primitives/primitives.h"

SL_C_BEGIN

enum { SL_TUNINGS_MAX = 1024, SL_TUNING_BYTES_MAX = 1 << 20, SL_TUNING_PATH_BYTES = 4096 };

/*
 * Reads a tuning file, which replaces the one read before. SL_USAGE if a line is wrong: the message
 * begins with "file:line: ", and the previous file stays in use. SL_DISK or SL_BAD_INPUT if the file
 * cannot be read. No other call of the library may run at the same time.
 */
SL_API enum sl_status sl_tuning_read(const char *path);

/* Back to the defaults of the backends. */
SL_API void sl_tuning_clear(void);

/*
 * The path of the file that the programs read by default: the value of SL_TUNING in the environment
 * if it is set, else sluice/tuning in $XDG_CONFIG_HOME or $HOME/.config if that file exists. An
 * empty path: no file.
 */
SL_API void sl_tuning_default_path(char path[SL_TUNING_PATH_BYTES]);

/* The path of the file in use, "" for none. */
SL_API const char *sl_tuning_path(void);

/* How many of its lines apply to the current device. */
SL_API uint32_t sl_tuning_lines(void);

/* One line of a tuning file. */
struct sl_tuning_line {
	char device[96];                  /* as in sl_device.name */
	const struct sl_backend *backend; /* the emulated one; it also stands for that of CUDA */
	enum sl_type type;
	uint32_t from; /* smallest number of items */
	struct sl_tuning tuning;
	uint32_t line; /* line number in the file */
};

/* The line that applies to n items on the current device; NULL: none. */
SL_API const struct sl_tuning_line *sl_tuning_find(
	const struct sl_backend *b, enum sl_type type, uint32_t n);

SL_C_END

#endif
