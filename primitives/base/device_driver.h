/*
 * device_driver.h - what device.c asks of a driver; device_cuda.c or device_host.c answers.
 *
 * A driver only makes the call and answers 0 or its own error number. Faults on demand, statuses
 * and stories are device.c's, once for all drivers.
 */
#ifndef SL_BASE_DEVICE_DRIVER_H
#define SL_BASE_DEVICE_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "device.h"

SL_C_BEGIN

/* As sl_device_count, and with its story. */
enum sl_status sl_driver_count(int *n);

/* Makes device number the thread's own and describes it. */
int sl_driver_use(int number, struct sl_device *device);

/* SL_DEVICE or SL_PINNED memory; bytes > 0. */
int sl_driver_get(enum sl_space space, size_t bytes, void **p);
void sl_driver_give(enum sl_space space, void *p);

/* Bytes that the current device has free. */
size_t sl_driver_free_bytes(void);

int sl_driver_stream_make(sl_stream *s);
void sl_driver_stream_free(sl_stream s);
int sl_driver_stream_wait(sl_stream s);

/* As sl_copy and sl_fill; bytes > 0. */
int sl_driver_copy(void *to, const void *from, size_t bytes, sl_stream s);
int sl_driver_fill(void *to, int value, size_t bytes, sl_stream s);

/* What the error number means, and whether it says that memory ran out. */
const char *sl_driver_error_text(int error);
bool sl_driver_error_is_memory(int error);

/* The status of a call of the device, with a story that begins with what was done. In device.c. */
enum sl_status sl_device_status(int error, const char *what);

SL_C_END

#endif
