/*
 * driver.h - the driver of the emulated device: what a launch from a kernel file calls.
 *
 * The driver itself is sl_driver_emulated (primitives/device/device_driver.h).
 */
#ifndef SL_PRIMITIVES_EMULATOR_DRIVER_H
#define SL_PRIMITIVES_EMULATOR_DRIVER_H

#include "launch.h"
#include "primitives/device/device.h"

SL_C_BEGIN

/* The compute capability of the emulated device: 75 or 90 for 7.5 or 9.0. */
uint32_t sl_emulated_capability(void);

/*
 * Queues a launch on stream s and returns 0 or an error number of CUDA. Copies *l and
 * closure_bytes <= SL_CLOSURE_BYTES of the closure; *l->kernel must stay valid.
 */
SL_FOR_MODELS int sl_emulated_queue(
	const struct sl_emulated_launch *l, const void *closure, size_t closure_bytes, sl_stream s);

SL_C_END

#endif
