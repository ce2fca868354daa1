/*
 * replaced.h - begins the definition of a function that replaces one of the library, __real_NAME
 * (-Wl,--wrap; tests.def).
 */
#ifndef SL_TESTS_SUPPORT_BASIC_REPLACED_H
#define SL_TESTS_SUPPORT_BASIC_REPLACED_H

#define REPLACED(type, name, ...)        \
	type __real_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__); \
	type __wrap_##name(__VA_ARGS__)

#endif
