/*
 * launch_config.h - the check of a tuning against the limits of a device.
 *
 * sl_tuning_of(), sl_tuning_check() and sl_scratch() of primitives.h are defined in launch_config.c
 * too.
 */
#ifndef SL_PRIMITIVES_LAUNCH_CONFIG_H
#define SL_PRIMITIVES_LAUNCH_CONFIG_H

#include "primitives/primitives.h"

SL_C_BEGIN

/*
 * Whether b can be launched with that tuning on a device of those limits; a field of 0 stands for
 * the default of b. SL_USAGE with a message that says what is allowed.
 */
enum sl_status sl_tuning_check_limits(const struct sl_backend *b, struct sl_tuning tuning,
	enum sl_type type, const struct sl_limits *limits);

SL_C_END

#endif
