/*
 * thread.c - the functions that the threads of a kernel call: see thread.h.
 *
 * Compiled without sanitizers, as fiber.c and launch.c are: the code that sanitizers insert does
 * not expect a switch of stacks.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "primitives/device/device_driver.h"
#include "primitives/emulator/emulator.h"

enum {
	STATIC_SHARED_MOST = 48 << 10, /* the limit of CUDA */
	LOADS_MOST = 1 << 20           /* atomic loads of a thread in one turn */
};

/* Fails the launch, and with it the device: the kernel has violated a rule. Does not return. */
static _Noreturn void fail_launch(struct sl_emulated_site at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static _Noreturn void fail_launch(struct sl_emulated_site at, const char *format, ...)
{
	struct sl_running *r = &sl_running;
	va_list arguments;
	int used;

	used = snprintf(r->problem, sizeof(r->problem),
		"%s, block %u, thread %u, at %s:%d: ", r->launch->kernel, r->thread->block->number,
		r->thread->number, at.file, at.line);
	if (used > 0 && (size_t)used < sizeof(r->problem)) {
		va_start(arguments, format);
		vsnprintf(r->problem + used, sizeof(r->problem) - (size_t)used, format, arguments);
		va_end(arguments);
	}
	sl_fiber_leave(&r->thread->fiber, false);
	abort();
}

/* The names of one file may have two addresses: a header is compiled into several kernel files. */
static bool is_same(struct sl_emulated_site a, struct sl_emulated_site b)
{
	return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0);
}

/* Marks t as waiting; the caller then leaves the fiber. */
static void wait_at(struct sl_thread *t, enum sl_thread_state state, struct sl_emulated_site at)
{
	t->state = state;
	t->at = at;
	t->block->ready--;
	if (state != SL_AT_WARP)
		t->is_polling = false;
	if (!t->is_polling)
		sl_running.progressed = true;
}

/* --- barriers --------------------------------------------------------------------------------- */

void sl_barrier_open(struct sl_block *b)
{
	sl_access_barrier(b);
	for (uint32_t i = 0; i < sl_running.launch->threads; i++) {
		if (b->thread[i].state == SL_AT_BARRIER)
			b->thread[i].state = SL_READY;
	}
	b->ready += b->waiting;
	b->waiting = 0;
	b->round++;
}

/* A thread of b that waits at the barrier. */
static const struct sl_thread *at_barrier(const struct sl_block *b)
{
	for (uint32_t i = 0; i < sl_running.launch->threads; i++)
		if (b->thread[i].state == SL_AT_BARRIER)
			return &b->thread[i];
	return NULL;
}

void sl_emulated_barrier(struct sl_emulated_site at)
{
	struct sl_thread *t = sl_running.thread;
	struct sl_block *b = t->block;
	uint32_t round = b->round % 2;

	if (b->waiting == 0)
		b->barrier_at = at;
	else if (!is_same(at, b->barrier_at))
		fail_launch(at, "it is at this barrier while thread %u waits at another one, %s:%d",
			at_barrier(b)->number, b->barrier_at.file, b->barrier_at.line);
	sl_fiber_release(&b->order->barrier[round]);
	wait_at(t, SL_AT_BARRIER, at);
	if (++b->waiting == b->alive)
		sl_barrier_open(b);
	sl_fiber_leave(&t->fiber, false);
	sl_fiber_acquire(&b->order->barrier[round]);
}

/* --- warps ------------------------------------------------------------------------------------ */

uint32_t sl_emulated_lane(void)
{
	return sl_running.thread->number % SL_WARP;
}

/*
 * Checks the call of t against the lanes of its mask that already wait for t: they must be in the
 * same call. A lane that waits for other lanes may arrive later.
 */
static void check_call(const struct sl_thread *t, const struct sl_warp *w)
{
	uint32_t lane = t->number % SL_WARP;

	if (!(t->mask >> lane & 1))
		fail_launch(t->at,
			"the mask %08x of a warp call does not contain its caller, lane %u",
			t->mask, lane);
	if (t->mask & ~w->alive)
		fail_launch(t->at, "the mask %08x of a warp call names lanes that have ended, %08x",
			t->mask, t->mask & ~w->alive);
	for (uint32_t left = w->arrived & t->mask; left; left &= left - 1) {
		const struct sl_thread *other = t - lane + __builtin_ctz(left);

		if (!(other->mask >> lane & 1))
			continue;
		if (other->mask != t->mask)
			fail_launch(t->at,
				"a warp call with mask %08x meets one of thread %u with %08x, "
				"%s:%d",
				t->mask, other->number, other->mask, other->at.file,
				other->at.line);
		if (other->call != t->call || !is_same(other->at, t->at))
			fail_launch(t->at,
				"it is in this warp call while thread %u waits in another one, %s:%d",
				other->number, other->at.file, other->at.line);
		return; /* the others of that call were checked against this one */
	}
}

/* Whether all lanes of mask have arrived at the call. */
static bool is_complete(const struct sl_warp *w, const struct sl_thread *lane, uint32_t mask)
{
	if ((w->arrived & mask) != mask)
		return false;
	for (uint32_t left = mask; left; left &= left - 1)
		if (lane[__builtin_ctz(left)].mask != mask)
			return false;
	return true;
}

/* The lanes of mask whose word is the given one or, with any, not 0. */
static uint32_t lanes_with(const struct sl_thread *lane, uint32_t mask, bool any, uint64_t word)
{
	uint32_t lanes = 0;

	for (uint32_t left = mask; left; left &= left - 1) {
		const uint64_t mine = lane[__builtin_ctz(left)].word;

		if (any ? mine != 0 : mine == word)
			lanes |= left & -left;
	}
	return lanes;
}

/* Sets the result of each lane of mask and makes it ready. */
static void open_warp(
	struct sl_warp *w, struct sl_thread *lane, enum sl_emulated_call call, uint32_t mask)
{
	uint32_t votes = call == SL_CALL_BALLOT ? lanes_with(lane, mask, true, 0) : 0;

	for (uint32_t left = mask; left; left &= left - 1) {
		struct sl_thread *t = &lane[__builtin_ctz(left)];

		t->state = SL_READY;
		t->block->ready++;
		if (call == SL_CALL_BALLOT)
			t->result = votes;
		if (call == SL_CALL_MATCH)
			t->result = lanes_with(lane, mask, false, t->word);
		if (call == SL_CALL_SHUFFLE)
			t->result = mask >> t->from % SL_WARP & 1
			                    ? lane[t->from % SL_WARP].word
			                    : SL_EMULATED_FILL * UINT64_C(0x0101010101010101);
	}
	w->arrived &= ~mask;
	w->round += call == SL_CALL_SYNC;
}

uint64_t sl_emulated_warp(enum sl_emulated_call call, uint32_t mask, uint64_t word, uint32_t from,
	struct sl_emulated_site at)
{
	struct sl_thread *t = sl_running.thread;
	uint32_t lane = t->number % SL_WARP, number = t->number / SL_WARP;
	struct sl_warp *w = &t->block->warp[number];
	char *order = &t->block->order->warp[number][w->round % 2];

	wait_at(t, SL_AT_WARP, at);
	t->call = call;
	t->mask = mask;
	t->word = word;
	t->from = from;
	check_call(t, w);
	w->arrived |= 1u << lane;
	if (call == SL_CALL_SYNC)
		sl_fiber_release(order);
	if (is_complete(w, t - lane, mask))
		open_warp(w, t - lane, call, mask);
	sl_fiber_leave(&t->fiber, false);
	if (call == SL_CALL_SYNC)
		sl_fiber_acquire(order);
	return t->result;
}

/* --- atomics ---------------------------------------------------------------------------------- */

void sl_emulated_atomic(
	enum sl_access_kind kind, const void *to, size_t bytes, struct sl_emulated_site at)
{
	struct sl_running *r = &sl_running;

	/* The functions of cuda_names.h have one call for all kernels, so the line is the place. */
	sl_access_add(kind, to, bytes, (uintptr_t)at.file + (uintptr_t)at.line);
	if (kind != SL_ACCESS_LOAD) {
		r->progressed = true;
		r->thread->is_polling = false;
	} else if (++r->loads == LOADS_MOST) {
		fail_launch(at,
			"it has made %d atomic loads without sl_backoff(), so it may wait for a thread "
			"that cannot run; call sl_backoff() in loops that wait for another block",
			LOADS_MOST);
	}
	if (sl_running.settings->seed && sl_random_below(8) == 0)
		sl_fiber_leave(&r->thread->fiber, false);
}

void sl_emulated_backoff(struct sl_emulated_site at)
{
	struct sl_running *r = &sl_running;

	r->backed_off = true;
	r->thread->is_polling = true;
	r->backoff_at = at;
	r->backoff_block = r->thread->block->number;
	r->backoff_thread = r->thread->number;
	sl_fiber_leave(&r->thread->fiber, false);
}

/* --- mbarriers -------------------------------------------------------------------------------- */

enum { BULK_ALIGN = 16 };

void sl_emulated_mbarrier_init(struct sl_mbarrier *m, uint32_t arrivals)
{
	*m = (struct sl_mbarrier){.arrivals = arrivals, .missing = arrivals};
}

/* Fresh shared memory contains SL_EMULATED_FILL, which is not a valid number of arrivals. */
static void check_mbarrier(const struct sl_mbarrier *m, struct sl_emulated_site at)
{
	if (m->arrivals == 0 || m->arrivals > SL_BLOCK_MAX)
		fail_launch(at, "the mbarrier is not initialised");
}

/*
 * Completes the phase if all arrivals and bytes were counted, and makes the waiting threads ready.
 */
static void complete_phase(struct sl_mbarrier *m)
{
	struct sl_block *b = sl_running.thread->block;

	if (m->missing > 0 || m->bytes != 0)
		return;
	m->missing = m->arrivals;
	m->phase++;
	for (uint32_t i = 0; i < sl_running.launch->threads; i++) {
		if (b->thread[i].state == SL_AT_MBARRIER && b->thread[i].mbarrier == m) {
			b->thread[i].state = SL_READY;
			b->ready++;
		}
	}
}

void sl_emulated_mbarrier_arrive(struct sl_mbarrier *m, uint32_t bytes, struct sl_emulated_site at)
{
	sl_emulated_atomic(SL_ACCESS_UPDATE, m, sizeof(*m), at);
	check_mbarrier(m, at);
	if (m->missing == 0)
		fail_launch(at,
			"more threads arrive at the mbarrier than the %u that it was initialised for",
			m->arrivals);
	sl_fiber_release(&m->order[m->phase % 2]);
	m->bytes += bytes;
	m->missing--;
	complete_phase(m);
}

void sl_emulated_bulk_load(void *to, const void *from, uint32_t bytes, struct sl_mbarrier *m,
	struct sl_emulated_site at)
{
	sl_emulated_atomic(SL_ACCESS_UPDATE, m, sizeof(*m), at);
	check_mbarrier(m, at);
	if (bytes == 0 || ((uintptr_t)to | (uintptr_t)from | bytes) % BULK_ALIGN != 0)
		fail_launch(at,
			"a bulk load of %u bytes from %p to %p: all must be multiples of %d", bytes,
			from, to, BULK_ALIGN);
	sl_access_add(SL_ACCESS_LOAD, from, bytes, (uintptr_t)__builtin_return_address(0));
	memcpy(to, from, bytes);
	sl_fiber_release(&m->order[m->phase % 2]);
	m->bytes -= bytes;
	complete_phase(m);
}

void sl_emulated_mbarrier_wait(struct sl_mbarrier *m, uint32_t phase, struct sl_emulated_site at)
{
	struct sl_thread *t = sl_running.thread;

	check_mbarrier(m, at);
	while (m->phase == phase) {
		t->mbarrier = m;
		wait_at(t, SL_AT_MBARRIER, at);
		sl_fiber_leave(&t->fiber, false);
	}
	if (m->phase != phase + 1)
		fail_launch(at,
			"it waits for phase %u of an mbarrier that is in phase %u: only the current "
			"phase and the previous one can be waited for",
			phase, m->phase);
	sl_fiber_acquire(&m->order[phase % 2]);
}

/* --- shared memory ---------------------------------------------------------------------------- */

/*
 * The first thread of a block that reaches a variable allocates it. It acts as the scheduler
 * meanwhile, so that ThreadSanitizer attributes the allocation to the scheduler and not to this
 * thread.
 */
static void *new_variable(
	struct sl_block *b, const void *key, size_t bytes, struct sl_emulated_site at)
{
	void *p;

	b->variable_bytes += bytes;
	if (b->n_variables == SL_VARIABLES_MAX || b->variable_bytes > STATIC_SHARED_MOST)
		fail_launch(at,
			"variables in shared memory take %zu bytes; at most %d bytes in %d "
			"variables are allowed",
			b->variable_bytes, STATIC_SHARED_MOST, SL_VARIABLES_MAX);
	sl_fiber_act_as(NULL);
	p = sl_shared_get(bytes);
	sl_fiber_release(&b->order->shared);
	sl_fiber_act_as(&sl_running.thread->fiber);
	if (!p) {
		sl_running.error = SL_ERROR_MEMORY;
		fail_launch(at, "the host has no memory for shared memory");
	}
	b->variable[b->n_variables++] = (struct sl_variable){key, p, bytes};
	return p;
}

void *sl_emulated_shared(const void *key, size_t bytes, struct sl_emulated_site at)
{
	struct sl_block *b = sl_running.thread->block;
	void *p = NULL;

	for (uint32_t i = 0; i < b->n_variables && !p; i++)
		if (b->variable[i].key == key)
			p = b->variable[i].at;
	if (!p)
		p = new_variable(b, key, bytes, at);
	sl_fiber_acquire(&b->order->shared);
	return p;
}

void *sl_emulated_dynamic(void)
{
	return sl_running.thread->block->dynamic;
}
