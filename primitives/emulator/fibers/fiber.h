/*
 * fiber.h - several stacks on one host thread, one of which runs at a time: the threads of the
 * emulated device.
 *
 *	sl_fiber_set_scheduler();       the calling thread becomes the scheduler
 *	sl_fiber_begin(&f, body);       prepares a stack; body starts at the next sl_fiber_enter
 *	sl_fiber_enter(&f);             runs f until it leaves
 *	sl_fiber_leave(&f, false);      in f: returns to the scheduler
 *	sl_fiber_leave(&f, true);       in f: the same for the last time, as the last statement of body
 *
 * One host thread at a time uses this, under the lock of the driver. Each switch of stacks is
 * reported to sanitizers and valgrind. For ThreadSanitizer each fiber is a thread, and a switch of
 * stacks orders nothing: only sl_fiber_release() and sl_fiber_acquire() do.
 */
#ifndef SL_PRIMITIVES_EMULATOR_FIBERS_FIBER_H
#define SL_PRIMITIVES_EMULATOR_FIBERS_FIBER_H

#include <stdbool.h>
#include <stddef.h>

struct sl_fiber {
	void *sp;
	char *stack;      /* allocated at the first begin and kept */
	void *fake_stack; /* of AddressSanitizer */
	void *tsan;       /* the thread of ThreadSanitizer */
};

/* The calling thread becomes the scheduler, to which sl_fiber_leave() returns. */
void sl_fiber_set_scheduler(void);

/*
 * Prepares f, which is all zero before its first use. False if the host has no memory for a stack.
 */
bool sl_fiber_begin(struct sl_fiber *f, void (*body)(void));

void sl_fiber_enter(struct sl_fiber *f);
void sl_fiber_leave(struct sl_fiber *f, bool is_last);

/*
 * Discards f, whose body has not ended: it is not entered again before the next sl_fiber_begin().
 */
void sl_fiber_abandon(struct sl_fiber *f);

#ifdef SL_THREAD_SANITIZER

/* For ThreadSanitizer: the name of f in reports. */
void sl_fiber_name(struct sl_fiber *f, unsigned block, unsigned thread);

/*
 * For ThreadSanitizer: what precedes a release of a tag happens before what follows an acquire of
 * it. The order is forgotten when the memory that contains the tag is freed.
 */
void sl_fiber_release(void *tag);
void sl_fiber_acquire(void *tag);

/* For ThreadSanitizer: attributes what follows to f, or to the scheduler if f is NULL. */
void sl_fiber_act_as(struct sl_fiber *f);

/* free(p), ordered after all releases of tag. The scheduler itself does not acquire the tag. */
void sl_fiber_free(void *p, void *tag);

#else
#define sl_fiber_name(f, block, thread) ((void)(f), (void)(block), (void)(thread))
#define sl_fiber_release(tag)           ((void)(tag))
#define sl_fiber_acquire(tag)           ((void)(tag))
#define sl_fiber_act_as(f)              ((void)(f))
#define sl_fiber_free(p, tag)           ((void)(tag), free(p))
#endif

/*
 * ThreadSanitizer sees no race between two threads that ran on the same fiber. Consecutive blocks
 * therefore alternate between several sets of fibers, within its limit of about 8,000 threads.
 */
#ifdef SL_THREAD_SANITIZER
enum { SL_FIBER_SPARE_SETS = 3, SL_FIBERS_MAX = 6144 };
#else
enum { SL_FIBER_SPARE_SETS = 0, SL_FIBERS_MAX = 1 << 20 };
#endif

#endif
