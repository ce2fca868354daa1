/*
 * fault.h - faults on demand, so that tests reach every error branch.
 *
 * The thin layers (device.h, files.h) ask here before each call. The environment says what
 * fails:
 *
 *	SL_FAULT=file_write:3:28        the third write fails with errno 28 (ENOSPC)
 *	SL_FAULT=file_fsync:2+:5        every fsync from the second on fails with EIO
 *	SL_FAULT=host_malloc:1:12,...   several, separated by commas
 *	SL_FAULT=dev_sync:2:700         the second wait for the device ends with CUDA's error 700
 *	SL_FAULT=dev_flip:3:17          the third copy, if it is one from the device, brings its
 *	                                17th bit, from 1 and round and round, the wrong way
 *
 * Each entry counts the calls of its kind by itself. Without the variable a call costs one load and
 * one branch.
 */
#ifndef SL_PRIMITIVES_BASE_FAULT_H
#define SL_PRIMITIVES_BASE_FAULT_H

#include "hd.h"

SL_C_BEGIN

/* The error that this call of the named kind must report, or 0 to go on. Thread-safe. */
int sl_fault(const char *call);

/*
 * What is wrong with SL_FAULT, or NULL. A malformed one injects nothing, and a test that believes
 * in it would prove nothing: the program refuses to start with this sentence.
 */
const char *sl_fault_problem(void);

/*
 * For tests: from now on text stands for SL_FAULT, NULL for none; all counts begin anew. Returns
 * sl_fault_problem(). Not while other threads make calls.
 */
const char *sl_fault_set(const char *text);

SL_C_END

#endif
