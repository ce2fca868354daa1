/*
 * program.h - main() of the program (pipeline/cli/main.c), under the name that
 * python/CMakeLists.txt gives it.
 */
#ifndef SL_PYTHON_PROGRAM_H
#define SL_PYTHON_PROGRAM_H

/* Does not return: the program ends the process. */
int sl_program_main(int argc, char **argv);

#endif
