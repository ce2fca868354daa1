/*
 * fiber.h - stacks that take turns on one thread of the host: what the threads of the emulated
 * device run on.
 *
 *	sl_fiber_home();                the thread that calls this is home
 *	sl_fiber_begin(&f, body);       body starts at the next sl_fiber_enter, on a stack of its
 *own sl_fiber_enter(&f);             home gives the turn to f, and has it back when f leaves
 *	sl_fiber_leave(&f, false);      in f: home's turn
 *	sl_fiber_leave(&f, true);       ... and f has ended: how body ends, which must not return
 *
 * All of it is one host thread at a time: the device's lock sees to that. Sanitizers and valgrind
 * are told of each change of stacks. For ThreadSanitizer each fiber is a thread, and a change of
 * turns orders nothing: only what sl_fiber_release and sl_fiber_acquire say is ordered.
 */
#ifndef SL_PRIMITIVES_EMULATOR_FIBER_H
#define SL_PRIMITIVES_EMULATOR_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct sl_fiber {
	void *sp;
	char *stack;      /* got at the first begin, kept */
	void *fake_stack; /* AddressSanitizer's */
	void *tsan;       /* ThreadSanitizer's thread */
};

/* From now on the calling thread is home. */
void sl_fiber_home(void);

/* All zero is a valid f. False when the host has no memory for a stack. */
bool sl_fiber_begin(struct sl_fiber *f, void (*body)(void));

void sl_fiber_enter(struct sl_fiber *f);
void sl_fiber_leave(struct sl_fiber *f, bool for_good);

/* f will not be entered again before it has begun again, though its body has not ended. */
void sl_fiber_abandon(struct sl_fiber *f);

/* For ThreadSanitizer: what it is in reports. */
void sl_fiber_name(struct sl_fiber *f, unsigned block, unsigned thread);

/*
 * For ThreadSanitizer: all before a release of a tag comes before all after an acquire of it. What
 * the tag says is forgotten when the memory that it lies in is freed.
 */
void sl_fiber_release(void *tag);
void sl_fiber_acquire(void *tag);

/* For ThreadSanitizer: what follows is f's doing, NULL: home's, whoever runs. */
void sl_fiber_act_as(struct sl_fiber *f);

/* free(p), after all that tag says, of which home need not know. */
void sl_fiber_free(void *p, void *tag);

/*
 * ThreadSanitizer sees no race between two threads that ran on the same fiber. So that it sees
 * those between blocks that follow each other they take turns on more places than one, as far as
 * it has threads: 8,000.
 */
#ifdef SL_THREAD_SANITIZER
enum { SL_FIBER_SETS_BESIDE = 3, SL_FIBERS_MAX = 6144 };
#else
enum { SL_FIBER_SETS_BESIDE = 0, SL_FIBERS_MAX = 1 << 20 };
#endif

#endif
