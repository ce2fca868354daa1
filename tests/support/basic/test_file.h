/*
 * test_file.h - defines tests. All files of tests are linked to one program, because linking one
 * program for each took a fifth of a build; ctest starts it once per file (tests/main.c), so files
 * share no state.
 *
 *	BEFORE_TESTS()                    before the first test of the file; at most one per file, like the next three
 *	{
 *		write_text(&folder, "c.yaml", text);
 *	}
 *
 *	TEST(runs_are_added_up)           tests run in the order of the file
 *	{
 *		assert_int_equal(1 + 1, 2);
 *	}
 *
 * Each file has an empty directory, folder (support/program/fixture.h). With BEFORE_EACH, each test
 * has one.
 */
#ifndef SL_TESTS_SUPPORT_BASIC_TEST_FILE_H
#define SL_TESTS_SUPPORT_BASIC_TEST_FILE_H

enum test_part { TEST_CASE, TESTS_BEGIN, TESTS_END, TEST_BEGINS, TEST_ENDS, TEST_MAIN };

struct test_part_of_file {
	const char *source; /* __FILE__ */
	unsigned line;
	enum test_part part;
	const char *name;
	void (*run)(void);
	int (*main)(int argc, char **argv);
	struct test_part_of_file *next;
};

extern struct test_part_of_file *test_parts;

#define TEST(function) ADD_TEST_PART(TEST_CASE, function)
#define BEFORE_TESTS() ADD_TEST_PART(TESTS_BEGIN, before_tests)
#define AFTER_TESTS()  ADD_TEST_PART(TESTS_END, after_tests)
#define BEFORE_EACH()  ADD_TEST_PART(TEST_BEGINS, before_each_test)
#define AFTER_EACH()   ADD_TEST_PART(TEST_ENDS, after_each_test)

/*
 * In the place of int main(int argc, char **argv), where a file has arguments; calls
 * run_test_file(). argv[0] is the name of the file.
 */
#define TEST_FILE(argc, argv)                                          \
	static int main_of_file(int argc, char **argv);                \
	ADD_TO_TEST_PARTS(TEST_MAIN, main_of_file, NULL, main_of_file) \
	static int main_of_file(                                       \
		__attribute__((unused)) int argc, __attribute__((unused)) char **argv)

/* Runs the tests of the file; group is a name for the output. Returns the exit code. */
int run_test_file(const char *group);

/*
 * Runs all tests on the emulated device, and again on CUDA's where there is one
 * (primitives/device/device.h).
 */
#define EMULATED_AND_DEVICE_FILE()                                                            \
	TEST_FILE(argc, argv)                                                                 \
	{                                                                                     \
		int n, failed;                                                                \
		sl_device_emulate(true);                                                      \
		failed = run_test_file("emulated");                                           \
		sl_device_emulate(false);                                                     \
		return failed + (sl_device_count(&n) == SL_OK ? run_test_file("device") : 0); \
	}

#define ADD_TEST_PART(part, function)                     \
	static void function(void);                       \
	ADD_TO_TEST_PARTS(part, function, function, NULL) \
	static void function(void)

/* The part is in the list before main() begins. */
#define ADD_TO_TEST_PARTS(part, function, run, main)                           \
	__attribute__((constructor)) static void add_##function(void)          \
	{                                                                      \
		static struct test_part_of_file this_part = {                  \
			__FILE__, __LINE__, part, #function, run, main, NULL}; \
                                                                               \
		this_part.next = test_parts;                                   \
		test_parts = &this_part;                                       \
	}

#endif
