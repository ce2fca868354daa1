/*
 * program_main.h - main() and _exit() of the program, under the names that CMakeLists.txt gives
 * them (program_server.h).
 */
#ifndef SL_TESTS_SUPPORT_PROGRAM_PROGRAM_MAIN_H
#define SL_TESTS_SUPPORT_PROGRAM_PROGRAM_MAIN_H

int program_main(int argc, char **argv);
_Noreturn void program_exit(int code);

#endif
