/*
 * turn.h - jobs of a process take turns.
 *
 * The library has state of the process: the tuning table, the emulated device, and buffers of verify.
 * A run uses all cores anyway, so one job at a time computes, and others wait.
 */
#ifndef SL_PYTHON_TURN_H
#define SL_PYTHON_TURN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* True if this thread has started the job whose turn it is: waiting for it would never end. */
bool sl_py_turn_is_mine(void);

/* Waits for the turn of a job that opener has started. False if *stop is set before. */
bool sl_py_turn_take(pthread_t opener, atomic_int *stop);
void sl_py_turn_end(void);

/* Sets the flag stop of the job whose turn it is, and waits for its end: before the process ends. */
void sl_py_turn_stop(int stop);

/* In a fork of the process, no job runs. */
void sl_py_turn_reset(void);

#endif
