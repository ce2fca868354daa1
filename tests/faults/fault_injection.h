/*
 * fault_injection.h - selects the calls that fail: the definition of sl_fault() (fault.h) for
 * tests.
 *
 * The environment variable SL_FAULT says which calls of the device layer and the file layer fail:
 *
 *	SL_FAULT=file_write:3:28        the third write fails with errno 28 (ENOSPC)
 *	SL_FAULT=file_fsync:2+:5        every fsync from the second on fails with EIO
 *	SL_FAULT=host_malloc:1:12,...   several, separated by commas
 *	SL_FAULT=file_link:4:stop       the process stops (SIGSTOP) before the fourth link, which then
 *	                                succeeds: a test can change files at this moment
 *	SL_FAULT=file_link:4:kill       the process is killed there
 *	SL_FAULT=dev_sync:2:700         the second wait for the device ends with CUDA's error 700
 *	SL_FAULT=dev_flip:3:17          the third copy, if it is from the device, arrives with its
 *	                                17th bit inverted (counted from 1, modulo the size)
 *
 * Each entry has its own count of the calls of its kind. A test that relies on a malformed value
 * would prove nothing, so such a value ends the process at the first call, with exit code 2.
 */
#ifndef SL_TESTS_FAULTS_FAULT_INJECTION_H
#define SL_TESTS_FAULTS_FAULT_INJECTION_H

#include "primitives/base/fault.h"

SL_C_BEGIN

/*
 * Replaces the value of SL_FAULT by text (NULL: none) and resets all counts. Returns a message that
 * says what is wrong with text, or NULL. Not while other threads make calls.
 */
const char *sl_fault_set(const char *text);

/*
 * Sets the entries of the environment, and resets all counts. Ends the process if they are
 * malformed.
 */
void sl_fault_from_environment(void);

/* Called for each call, before it may fail; NULL: not called. */
extern void (*sl_fault_watch)(const char *call);

SL_C_END

#endif
