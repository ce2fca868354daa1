/*
 * test_file.h - the files of tests, which are linked to one program: linking one program for each took a fifth of a
 * build. ctest starts it once per file (tests/main.c), so files share no state.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_TEST_FILE_H
#define SL_TESTS_SUPPORT_BASIC_TEST_FILE_H

struct test_file {
	const char *source;                /* __FILE__ */
	int (*run)(int argc, char **argv); /* as main(), without the name of the file */
	struct test_file *next;
};

extern struct test_file *test_files;

/* In the place of int main(int argc, char **argv). The file is in the list before main() begins. */
#define TEST_FILE(argc, argv)                                                        \
	static int run_test_file(int argc, char **argv);                             \
	__attribute__((constructor)) static void add_test_file(void)                 \
	{                                                                            \
		static struct test_file this_file;                                   \
                                                                                     \
		this_file = (struct test_file){__FILE__, run_test_file, test_files}; \
		test_files = &this_file;                                             \
	}                                                                            \
	static int run_test_file(                                                    \
		__attribute__((unused)) int argc, __attribute__((unused)) char **argv)

#endif
