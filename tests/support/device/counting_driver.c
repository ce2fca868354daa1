/* counting_driver.c - see counting_driver.h. */
#include "tests/support/device/counting_driver.h"
#include "tests/faults/fault_injection.h"

#include <stdio.h>
#include <sys/mman.h>

#include "primitives/emulator/emulator.h"
#include "tests/support/basic/allocations.h"
#include "tests/support/basic/check.h"
#include "tests/support/basic/replaced.h"

struct counting *counting;
struct driver_answers driver_answers;

static void count_call(enum counted_call call)
{
	atomic_fetch_add(&counting->calls[call], 1);
	if (atomic_load(&counting->failed))
		atomic_fetch_add(&counting->after, 1);
}

/* Counts the call; returns the error that it must return, or 0. */
static int injected_error(enum counted_call call)
{
	unsigned k = atomic_fetch_add(&counting->all, 1) + 1;

	count_call(call);
	if (k != counting->fail_at)
		return 0;
	atomic_store(&counting->failed, 1);
	return counting->error;
}

extern const struct sl_driver __real_sl_driver_emulated;

#define X(name, parameters, arguments)                                    \
	static int name parameters                                        \
	{                                                                 \
		int error = injected_error(CALL_##name);                  \
                                                                          \
		allocations_exclude(true);                                \
		if (error == 0)                                           \
			error = __real_sl_driver_emulated.name arguments; \
		allocations_exclude(false);                               \
		return error;                                             \
	}
COUNTED_ANSWERS(X)
COUNTED_CALLS(X)
#undef X

#define X(name, parameters, arguments)                    \
	static void name parameters                       \
	{                                                 \
		count_call(CALL_##name);                  \
		__real_sl_driver_emulated.name arguments; \
	}
COUNTED_QUIET_CALLS(X)
#undef X

static void versions(int *driver, int *runtime)
{
	*driver = driver_answers.driver;
	*runtime = driver_answers.runtime;
}

static int count_or_answer(int *n)
{
	return driver_answers.count ? driver_answers.count : count(n);
}

static int use_or_answer(int number, struct sl_device *d)
{
	if (driver_answers.use == 0)
		return use(number, d);
	d->major = driver_answers.major;
	d->minor = driver_answers.minor;
	snprintf(d->name, sizeof(d->name), "Old GPU");
	return driver_answers.use;
}

struct sl_driver __wrap_sl_driver_emulated;

__attribute__((constructor)) static void wrap_driver(void)
{
	struct sl_driver *d = &__wrap_sl_driver_emulated;

	*d = __real_sl_driver_emulated;
	d->name = "counting";
#define X(name, parameters, arguments) d->name = name;
	COUNTED_CALLS(X)
	COUNTED_QUIET_CALLS(X)
#undef X
	d->count = count_or_answer;
	d->use = use_or_answer;
	d->versions = versions;
}

/* Kernel launches are not part of struct sl_driver. */
REPLACED(int, sl_emulated_queue, const struct sl_emulated_launch *l, const void *closure,
	size_t closure_bytes, sl_stream s)
{
	int error = injected_error(CALL_launch);

	allocations_exclude(true);
	if (error == 0)
		error = __real_sl_emulated_queue(l, closure, closure_bytes, s);
	allocations_exclude(false);
	return error;
}

/* An error injected by SL_FAULT replaces the call of the driver. */
REPLACED(int, sl_fault, const char *call)
{
	int error = __real_sl_fault(call);

	if (error == SL_ERROR_ADDRESS || error == SL_ERROR_LAUNCH)
		atomic_store(&counting->failed, 1);
	return error;
}

void counting_clear(void)
{
	memset((void *)counting, 0, sizeof(*counting));
	memset(&driver_answers, 0, sizeof(driver_answers));
	sl_fault_set(NULL);
}

void counting_begin(void)
{
	counting = (struct counting *)mmap(
		NULL, sizeof(*counting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(counting != MAP_FAILED);
	sl_device_emulate(true);
	counting_clear();
}
