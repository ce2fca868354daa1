/*
 * emulator.c - the threads of a launch as fibers: who runs next, barriers, warps, shared memory.
 *
 * Blocks in flight take places; each has its threads, its warps and its shared memory. A fiber runs
 * until it must wait, then the scheduler resumes another. One launch at a time runs, under the
 * device's lock (device_emulated.c). This file is compiled without sanitizers and tells them by
 * hand what they must know: of stacks that change (AddressSanitizer) and of who waits for whom
 * (ThreadSanitizer: a fiber a thread, switches that order nothing, barriers that do).
 */
#include "emulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device_driver.h"

#ifdef SL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SL_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

#if defined(SL_ADDRESS_SANITIZER) || defined(SL_THREAD_SANITIZER)
enum { STACK_BYTES = 512 << 10 }; /* a report needs room */
#else
enum { STACK_BYTES = 64 << 10 };
#endif

enum {
	GUARD_BYTES = 4096,
	PLACES_MOST = 16,
	WARPS_MOST = SL_BLOCK_MOST / SL_WARP,
	VARIABLES_MOST = 32,
	SHARED_FILL = 0xa5,
	IDLE_ROUNDS_MOST = 100000 /* of nothing but yields: all wait for what will not come */
};

enum state { READY, AT_BARRIER, AT_WARP, DONE };

struct place;

struct fiber {
	void *sp;
	char *stack;
	struct place *place;
	uint32_t number; /* of the thread in its block */
	enum state state;
	uint32_t yes; /* what its last barrier counted */
#ifdef SL_ADDRESS_SANITIZER
	void *fake_stack;
#endif
#ifdef SL_THREAD_SANITIZER
	void *tsan;
#endif
};

/* Two rounds of words: a lane may begin the next exchange while others still read the last. */
struct warp {
	uint64_t word[2][SL_WARP];
	uint32_t arrived, alive, wanted, round;
	char tag[2];
};

struct variable {
	const void *key;
	void *at;
};

/* A block in flight. */
struct place {
	bool busy;
	uint32_t block;
	uint32_t alive, waiting, yes, round;
	struct fiber fiber[SL_BLOCK_MOST];
	struct warp warp[WARPS_MOST];
	struct variable variable[VARIABLES_MOST];
	uint32_t n_variables;
	void *dynamic;
	char tag[2];
};

struct sl_emulated_here sl_emulated_here;

static struct place *places; /* PLACES_MOST, got at the first launch and kept */
static const struct sl_emulated_launch *launch;
static const void *closure;
static struct fiber *current;
static void *scheduler_sp;
static char problem[256];
static uint64_t turn; /* of the random order */
static bool moved;    /* did a fiber do more than yield in this round? */
#ifdef SL_ADDRESS_SANITIZER
static void *scheduler_fake;
static const void *scheduler_bottom;
static size_t scheduler_bytes;
#endif
#ifdef SL_THREAD_SANITIZER
static void *scheduler_tsan;
static char start_tag, end_tag;
#endif

const char *sl_emulated_problem(void)
{
	return problem;
}

/* xorshift64 (Marsaglia, 2003). */
static uint32_t random_below(uint32_t n)
{
	turn ^= turn << 13;
	turn ^= turn >> 7;
	turn ^= turn << 17;
	return (uint32_t)(turn >> 32) % n;
}

/* --- switching -------------------------------------------------------------------------------- */

/*
 * Saves the callee's registers and the stack pointer in *save and goes on from load. Six registers
 * are all that the System V ABI for x86-64 lets a callee keep; the floating-point control words are
 * the same in all fibers.
 */
void sl_emulated_switch(void **save, void *load);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl sl_emulated_switch\n"
	".type sl_emulated_switch,@function\n"
	"sl_emulated_switch:\n"
	"endbr64\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp,(%rdi)\n"
	"mov %rsi,%rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
	"ret\n"
	".size sl_emulated_switch,.-sl_emulated_switch\n"
	".popsection\n");
enum { SAVED_WORDS = 6 };
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl sl_emulated_switch\n"
	".type sl_emulated_switch,%function\n"
	"sl_emulated_switch:\n"
	"sub sp, sp, #160\n"
	"stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
	"stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
	"stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\n"
	"stp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
	"mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
	"ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\n"
	"ldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
	"ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
	"ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\n"
	"add sp, sp, #160\n"
	"ret\n"
	".size sl_emulated_switch,.-sl_emulated_switch\n"
	".popsection\n");
#else
#error "emulator.c knows how to switch stacks on x86-64 and on 64-bit Arm only"
#endif

/* From the fiber that runs back to the scheduler. */
static void leave(bool for_good)
{
	struct fiber *f = current;

#ifdef SL_ADDRESS_SANITIZER
	__sanitizer_start_switch_fiber(
		for_good ? NULL : &f->fake_stack, scheduler_bottom, scheduler_bytes);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_switch_to_fiber(scheduler_tsan, __tsan_switch_to_fiber_no_sync);
#endif
	(void)for_good;
	sl_emulated_switch(&f->sp, scheduler_sp);
#ifdef SL_ADDRESS_SANITIZER
	__sanitizer_finish_switch_fiber(f->fake_stack, &scheduler_bottom, &scheduler_bytes);
#endif
}

/* The first function on a fiber's stack; it never returns. */
static void body(void)
{
#ifdef SL_ADDRESS_SANITIZER
	__sanitizer_finish_switch_fiber(NULL, &scheduler_bottom, &scheduler_bytes);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_acquire(&start_tag);
#endif
	launch->call(closure);
#ifdef SL_THREAD_SANITIZER
	__tsan_release(&end_tag);
#endif
	current->state = DONE;
	leave(true);
	abort();
}

/* Makes f's stack such that the first switch to it enters body. */
static void prepare_stack(struct fiber *f)
{
	void **top = (void **)(void *)(f->stack + GUARD_BYTES + STACK_BYTES);
	union {
		void (*function)(void);
		void *word;
	} entry = {body};

#ifdef SL_ADDRESS_SANITIZER
	/* frames of a fiber that was given up have left their poison behind */
	__asan_unpoison_memory_region(f->stack + GUARD_BYTES, STACK_BYTES);
#endif
#if defined(__x86_64__)
	top -= 2; /* body begins with a stack pointer of 8 modulo 16, as after a call */
	*top = entry.word;
	top -= SAVED_WORDS;
	memset(top, 0, SAVED_WORDS * sizeof(*top));
#else
	top -= 20;
	memset(top, 0, 20 * sizeof(*top));
	top[11] = entry.word; /* x30 */
#endif
	f->sp = top;
}

static bool prepare(struct fiber *f, struct place *p, uint32_t number)
{
	if (!f->stack) {
		void *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (stack == MAP_FAILED)
			return false;
		f->stack = (char *)stack;
		(void)mprotect(f->stack, GUARD_BYTES, PROT_NONE);
	}
#ifdef SL_THREAD_SANITIZER
	if (!f->tsan)
		f->tsan = __tsan_create_fiber(0);
#endif
	f->place = p;
	f->number = number;
	f->state = READY;
	prepare_stack(f);
	return true;
}

static void resume(struct fiber *f)
{
	current = f;
	sl_emulated_here.thread.x = f->number;
	sl_emulated_here.block.x = f->place->block;
#ifdef SL_ADDRESS_SANITIZER
	__sanitizer_start_switch_fiber(&scheduler_fake, f->stack + GUARD_BYTES, STACK_BYTES);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_switch_to_fiber(f->tsan, __tsan_switch_to_fiber_no_sync);
#endif
	sl_emulated_switch(&scheduler_sp, f->sp);
#ifdef SL_ADDRESS_SANITIZER
	__sanitizer_finish_switch_fiber(scheduler_fake, NULL, NULL);
#endif
}

/* The kernel has done what no kernel may: the launch is given up, and the device with it. */
static void give_up(const char *what)
{
	snprintf(problem, sizeof(problem), "%s, block %u, thread %u: %s", launch->kernel,
		sl_emulated_here.block.x, sl_emulated_here.thread.x, what);
	leave(false);
	abort();
}

/* --- what a thread calls ---------------------------------------------------------------------- */

static void open_barrier(struct place *p)
{
	for (uint32_t i = 0; i < launch->threads; i++) {
		if (p->fiber[i].state == AT_BARRIER) {
			p->fiber[i].state = READY;
			p->fiber[i].yes = p->yes;
		}
	}
	p->waiting = p->yes = 0;
	p->round++;
}

uint32_t sl_emulated_barrier(bool yes)
{
	struct fiber *f = current;
	struct place *p = f->place;
	uint32_t round = p->round & 1;

	(void)round;
#ifdef SL_THREAD_SANITIZER
	__tsan_release(&p->tag[round]);
#endif
	moved = true;
	p->yes += yes;
	f->state = AT_BARRIER;
	if (++p->waiting == p->alive)
		open_barrier(p);
	leave(false);
#ifdef SL_THREAD_SANITIZER
	__tsan_acquire(&p->tag[round]);
#endif
	return f->yes;
}

uint32_t sl_emulated_lane(void)
{
	return current->number % SL_WARP;
}

static void open_warp(struct place *p, uint32_t number)
{
	uint32_t first = number / SL_WARP * SL_WARP;

	for (uint32_t i = first; i < first + SL_WARP && i < launch->threads; i++)
		if (p->fiber[i].state == AT_WARP)
			p->fiber[i].state = READY;
}

const uint64_t *sl_emulated_exchange(uint32_t mask, uint64_t word)
{
	struct fiber *f = current;
	struct warp *w = &f->place->warp[f->number / SL_WARP];
	uint32_t lane = f->number % SL_WARP, round = w->round & 1;

	if (!(mask >> lane & 1))
		give_up("a warp call whose mask lacks the caller");
	if (mask & ~w->alive)
		give_up("a warp call whose mask names a lane that has ended");
	if (w->arrived != 0 && w->wanted != mask)
		give_up("lanes of a warp call give different masks");
	w->wanted = mask;
	w->word[round][lane] = word;
	w->arrived |= 1u << lane;
#ifdef SL_THREAD_SANITIZER
	__tsan_release(&w->tag[round]);
#endif
	moved = true;
	f->state = AT_WARP;
	if (w->arrived == mask) {
		w->arrived = 0;
		w->round++;
		open_warp(f->place, f->number);
	}
	leave(false);
#ifdef SL_THREAD_SANITIZER
	__tsan_acquire(&w->tag[round]);
#endif
	return w->word[round];
}

void *sl_emulated_shared(const void *key, size_t bytes)
{
	struct place *p = current->place;
	struct variable *v;

	for (uint32_t i = 0; i < p->n_variables; i++)
		if (p->variable[i].key == key)
			return p->variable[i].at;
	if (p->n_variables == VARIABLES_MOST)
		give_up("too many variables in shared memory for the emulator");
	v = &p->variable[p->n_variables++];
	v->key = key;
	v->at = aligned_alloc(64, (bytes + 63) / 64 * 64);
	if (!v->at)
		give_up("no host memory for shared memory");
	memset(v->at, SHARED_FILL, bytes);
#ifdef SL_ADDRESS_SANITIZER
	__asan_poison_memory_region((char *)v->at + bytes, (bytes + 63) / 64 * 64 - bytes);
#endif
	return v->at;
}

void *sl_emulated_dynamic(void)
{
	return current->place->dynamic;
}

void sl_emulated_yield(void)
{
	leave(false);
}

/* --- blocks ----------------------------------------------------------------------------------- */

static void end_block(struct place *p)
{
	for (uint32_t i = 0; i < p->n_variables; i++)
		free(p->variable[i].at);
	free(p->dynamic);
	p->dynamic = NULL;
	p->n_variables = 0;
	p->busy = false;
}

/* False when the host has no memory for it. */
static bool begin_block(struct place *p, uint32_t block)
{
	p->busy = true;
	p->block = block;
	p->alive = launch->threads;
	p->waiting = p->yes = p->round = 0;
	memset(p->warp, 0, sizeof(p->warp));
	if (launch->shared_bytes > 0) {
		size_t bytes = launch->shared_bytes;

		p->dynamic = aligned_alloc(64, (bytes + 63) / 64 * 64);
		if (!p->dynamic)
			return false;
		memset(p->dynamic, SHARED_FILL, bytes);
#ifdef SL_ADDRESS_SANITIZER
		__asan_poison_memory_region(
			(char *)p->dynamic + bytes, (bytes + 63) / 64 * 64 - bytes);
#endif
	}
	for (uint32_t i = 0; i < launch->threads; i++) {
		p->warp[i / SL_WARP].alive |= 1u << i % SL_WARP;
		if (!prepare(&p->fiber[i], p, i))
			return false;
	}
	return true;
}

/* A thread has ended: those that wait for all of the others need not wait for it. */
static void count_out(struct place *p, const struct fiber *f)
{
	p->alive--;
	p->warp[f->number / SL_WARP].alive &= ~(1u << f->number % SL_WARP);
	if (p->alive > 0 && p->waiting == p->alive)
		open_barrier(p);
	if (p->alive == 0)
		end_block(p);
}

/* Lets every thread of a block that can run do so once. False: the launch was given up. */
static bool run_round(struct place *p)
{
	uint32_t n = launch->threads, off = sl_emulated_chosen()->seed ? random_below(n) : 0;

	for (uint32_t k = 0; k < n && p->busy; k++) {
		struct fiber *f = &p->fiber[(off + k) % n];

		/* at random, a ready thread may also be passed over */
		if (f->state != READY || (sl_emulated_chosen()->seed && random_below(4) == 0))
			continue;
		resume(f);
		if (problem[0])
			return false;
		if (f->state == DONE) {
			moved = true;
			count_out(p, f);
		}
	}
	return true;
}

static bool is_stuck(const struct place *p)
{
	for (uint32_t i = 0; i < launch->threads; i++)
		if (p->fiber[i].state == READY)
			return false;
	return true;
}

static void tell_stuck(const struct place *p)
{
	uint32_t at_barrier = 0, at_warp = 0;

	for (uint32_t i = 0; i < launch->threads; i++) {
		at_barrier += p->fiber[i].state == AT_BARRIER;
		at_warp += p->fiber[i].state == AT_WARP;
	}
	snprintf(problem, sizeof(problem),
		"%s, block %u: deadlock, %u threads wait at a barrier and %u in a warp call that "
		"not all reach",
		launch->kernel, p->block, at_barrier, at_warp);
}

/* Runs all blocks, n in flight at a time. False: given up, problem says why. */
static bool run_blocks(uint32_t n)
{
	uint32_t begun = 0, idle = 0;
	bool from_last = sl_emulated_chosen()->from_last;

	for (bool busy = true; busy;) {
		busy = moved = false;
		for (uint32_t k = 0; k < n; k++) {
			struct place *p = &places[k];

			if (!p->busy && begun < launch->blocks) {
				uint32_t block = from_last ? launch->blocks - 1 - begun : begun;

				begun++;
				moved = true;
				if (!begin_block(p, block)) {
					snprintf(problem, sizeof(problem),
						"%s: the emulator has no host memory for a block",
						launch->kernel);
					return false;
				}
			}
			if (!p->busy)
				continue;
			busy = true;
			if (is_stuck(p)) {
				tell_stuck(p);
				return false;
			}
			if (!run_round(p))
				return false;
		}
		idle = moved ? 0 : idle + 1;
		if (idle > IDLE_ROUNDS_MOST) {
			snprintf(problem, sizeof(problem),
				"%s: livelock, all threads wait for a block that cannot begin",
				launch->kernel);
			return false;
		}
	}
	return true;
}

static bool is_refused(const struct sl_emulated_launch *l)
{
	if (l->blocks > 0 && l->threads > 0 && l->threads <= SL_BLOCK_MOST)
		return false;
	snprintf(problem, sizeof(problem), "%s: %u blocks of %u threads cannot be launched",
		l->kernel, l->blocks, l->threads);
	return true;
}

int sl_emulated_run(const struct sl_emulated_launch *l, const void *of)
{
	uint32_t n = sl_emulated_chosen()->blocks;
	bool ended;

	problem[0] = '\0';
	if (is_refused(l))
		return SL_ERROR_VALUE;
	if (!places)
		places = (struct place *)calloc(PLACES_MOST, sizeof(*places));
	if (!places)
		return SL_ERROR_MEMORY;
	launch = l;
	closure = of;
	turn = sl_emulated_chosen()->seed * 2 + 1;
	sl_emulated_here.threads.x = l->threads;
	sl_emulated_here.blocks.x = l->blocks;
#ifdef SL_THREAD_SANITIZER
	scheduler_tsan = __tsan_get_current_fiber();
	__tsan_release(&start_tag);
#endif
	ended = run_blocks(n < 1 ? 1 : n < PLACES_MOST ? n : PLACES_MOST);
#ifdef SL_THREAD_SANITIZER
	__tsan_acquire(&end_tag);
#endif
	for (uint32_t k = 0; k < PLACES_MOST; k++)
		if (places[k].busy)
			end_block(&places[k]);
	return ended ? 0 : SL_ERROR_LAUNCH;
}
