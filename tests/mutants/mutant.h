/* mutant.h - comes before each kernel that mutants.py compiles: which mutant is chosen, 0: none. */
#ifndef SL_TESTS_MUTANTS_MUTANT_H
#define SL_TESTS_MUTANTS_MUTANT_H

#ifdef __cplusplus
extern "C" int sluice_mutant;
#else
extern int sluice_mutant;
#endif

#endif
