/*
 * coverage.h - included before every file of a build that counts executed lines
 * (CMakePresets.json): processes that end by _exit(), as the program and its children do, write
 * their counts too.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_COVERAGE_H
#define SL_TESTS_SUPPORT_BASIC_COVERAGE_H

#include <unistd.h>

#ifdef __cplusplus
extern "C" void __gcov_dump(void);
#else
void __gcov_dump(void);
#endif

__attribute__((noreturn)) static inline void coverage_exit(int code)
{
	__gcov_dump();
	(_exit)(code);
}
#define _exit(code) coverage_exit(code)

#endif
