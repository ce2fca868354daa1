/*
 * mutant.h - included before each kernel that mutants.py compiles: holds the number of the
 * selected mutant, 0 for none.
 */
#ifndef SL_TESTS_MUTANTS_MUTANT_H
#define SL_TESTS_MUTANTS_MUTANT_H

#ifdef __cplusplus
extern "C" int sluice_mutant;
#else
extern int sluice_mutant;
#endif

#endif
