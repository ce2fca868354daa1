/* python.h - the Python interpreter with which tests read files independently of the program. */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PYTHON_H
#define SL_TESTS_SUPPORT_PROGRAM_PYTHON_H

#define PYTHON "/usr/bin/python3"

/* Skips the running test if this Python has no h5py. */
void need_h5py(void);

#endif
