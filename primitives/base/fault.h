/*
 * fault.h - fault injection, so that tests reach every error branch.
 *
 * The device layer (device.h) and the file layer (files.h) call sl_fault() before each system or
 * driver call. The environment variable SL_FAULT says which calls fail:
 *
 *	SL_FAULT=file_write:3:28        the third write fails with errno 28 (ENOSPC)
 *	SL_FAULT=file_fsync:2+:5        every fsync from the second on fails with EIO
 *	SL_FAULT=host_malloc:1:12,...   several, separated by commas
 *	SL_FAULT=dev_sync:2:700         the second wait for the device ends with CUDA's error 700
 *	SL_FAULT=dev_flip:3:17          the third copy, if it is from the device, arrives with its
 *	                                17th bit inverted (counted from 1, modulo the size)
 *
 * Each entry has its own count of the calls of its kind. Without the variable, a call costs one load
 * and one branch.
 */
#ifndef SL_PRIMITIVES_BASE_FAULT_H
#define SL_PRIMITIVES_BASE_FAULT_H

#include "hd.h"

SL_C_BEGIN

/* The error that this call of that kind must report, or 0 for none. Thread-safe. */
int sl_fault(const char *call);

/*
 * A message that says what is wrong with SL_FAULT; NULL if nothing is. A malformed value injects
 * nothing, so a test that relies on it would prove nothing: the program refuses to start.
 */
const char *sl_fault_problem(void);

/*
 * For tests: replaces the value of SL_FAULT by text (NULL: none) and resets all counts. Returns
 * sl_fault_problem(). Not while other threads make calls.
 */
const char *sl_fault_set(const char *text);

SL_C_END

#endif
