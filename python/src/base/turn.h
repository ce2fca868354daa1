/*
 * turn.h - jobs of a process take turns.
 *
 * The library has state of the process: the emulated device, and buffers of verify.
 * A run uses all cores anyway, so one job at a time computes, and others wait.
 */
#ifndef SL_PYTHON_BASE_TURN_H
#define SL_PYTHON_BASE_TURN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "primitives/base/status.h"

/* True if this thread has started the job whose turn it is: waiting for it would never end. */
bool sl_py_turn_is_mine(void);

/*
 * Waits for the turn of a job that opener has started. SL_STOPPED if *stop is set before; SL_USAGE
 * if the job whose turn it is has waited long for its loop, which can wait for this call. shares:
 * the job will call sl_py_turn_settle().
 */
enum sl_status sl_py_turn_take(pthread_t opener, bool shares, atomic_int *stop);

/* The job whose turn it is begins to wait for its loop, or computes again. */
void sl_py_turn_idle(bool idle);
/* emulated: the kind of device of the process (sl_device_emulate()) before the job. */
void sl_py_turn_end(bool emulated);

/*
 * Calls on a device may work next to a job on the same kind of device that says so, from then until
 * its end: its survivors are arrays of that device, which its caller works on.
 */
void sl_py_turn_settle(bool emulated);

/*
 * Waits until a call may use that kind of device, and chooses the kind for the process. Then calls
 * sl_py_turn_unshare() after the call. SL_USAGE if this thread has a job in progress that does not
 * share, and as for sl_py_turn_take().
 */
enum sl_status sl_py_turn_share(bool emulated);
void sl_py_turn_unshare(void);

/*
 * Sets the flag stop of the job whose turn it is, and waits for its end: before the process ends.
 */
void sl_py_turn_stop(int stop);

/* In a fork of the process, no job runs. */
void sl_py_turn_reset(void);

#endif
