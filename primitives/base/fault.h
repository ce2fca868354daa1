/*
 * fault.h - the places where tests inject faults, so that they reach every error branch.
 *
 * The device layer (device.h) and the file layer (files.h) call sl_fault() before each system or
 * driver call. In the library and the program it always returns 0. The tests, and the program that
 * they run, are linked with another definition: tests/faults/fault_injection.c.
 */
#ifndef SL_PRIMITIVES_BASE_FAULT_H
#define SL_PRIMITIVES_BASE_FAULT_H

#include "hd.h"

SL_C_BEGIN

/* The error that this call of that kind ("file_write") must report, or 0 for none. Thread-safe. */
int sl_fault(const char *call);

SL_C_END

#endif
