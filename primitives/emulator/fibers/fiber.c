/* fiber.c - see fiber.h. Compiled without sanitizers; it calls their fiber interface explicitly. */
#include "fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * AddressSanitizer needs to know the current stack only to name the variable in a report. A fuzzer
 * calls so many small kernels that telling it would take a quarter of the time.
 */
#if defined(SL_ADDRESS_SANITIZER) && !defined(SL_FUZZER_SANITIZER)
#define SL_SWITCHES_REPORTED
#endif

#ifdef SL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SL_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(from, to) 0
#endif

#if defined(SL_ADDRESS_SANITIZER) || defined(SL_THREAD_SANITIZER)
enum { STACK_BYTES = 512 << 10 }; /* sanitizers print reports on this stack */
#else
enum { STACK_BYTES = 64 << 10 };
#endif

enum { GUARD_BYTES = 4096 };

static void *scheduler_sp;
#ifdef SL_SWITCHES_REPORTED
static void *scheduler_fake;
static const void *scheduler_bottom;
static size_t scheduler_bytes;
#endif
#ifdef SL_THREAD_SANITIZER
static void *scheduler_tsan;
#endif
static void (*body_of)(void);

/* --- switching -------------------------------------------------------------------------------- */

/*
 * Saves the callee-saved registers on the stack and the stack pointer in *save, then continues at
 * the stack pointer load. The System V ABI for x86-64 has six callee-saved registers; the floating-
 * point control words are the same in all fibers.
 */
void sl_fiber_switch(void **save, void *load);

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
	".globl sl_fiber_switch\n"
	".hidden sl_fiber_switch\n"
	".type sl_fiber_switch,@function\n"
	"sl_fiber_switch:\n"
	"endbr64\n"
	"push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp,(%rdi)\n"
	"mov %rsi,%rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
	"ret\n"
	".size sl_fiber_switch,.-sl_fiber_switch\n"
	".popsection\n");
/*
 * Saved registers, the return address, and one word that makes the stack pointer of the body 8
 * modulo 16, as after a call.
 */
enum { FRAME_WORDS = 8, ENTRY_WORD = 6 };
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
	".globl sl_fiber_switch\n"
	".hidden sl_fiber_switch\n"
	".type sl_fiber_switch,%function\n"
	"sl_fiber_switch:\n"
	"hint #34\n" /* bti c */
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
	".size sl_fiber_switch,.-sl_fiber_switch\n"
	".popsection\n");
enum { FRAME_WORDS = 20, ENTRY_WORD = 11 }; /* x30 */
#else
#error "fiber.c can switch stacks on x86-64 and 64-bit Arm only"
#endif

void sl_fiber_set_scheduler(void)
{
#ifdef SL_THREAD_SANITIZER
	scheduler_tsan = __tsan_get_current_fiber();
#endif
}

void sl_fiber_enter(struct sl_fiber *f)
{
#ifdef SL_SWITCHES_REPORTED
	__sanitizer_start_switch_fiber(&scheduler_fake, f->stack + GUARD_BYTES, STACK_BYTES);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_switch_to_fiber(f->tsan, __tsan_switch_to_fiber_no_sync);
#endif
	sl_fiber_switch(&scheduler_sp, f->sp);
#ifdef SL_SWITCHES_REPORTED
	__sanitizer_finish_switch_fiber(scheduler_fake, NULL, NULL);
#endif
}

void sl_fiber_leave(struct sl_fiber *f, bool is_last)
{
	(void)is_last;
#ifdef SL_SWITCHES_REPORTED
	__sanitizer_start_switch_fiber(
		is_last ? NULL : &f->fake_stack, scheduler_bottom, scheduler_bytes);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_switch_to_fiber(scheduler_tsan, __tsan_switch_to_fiber_no_sync);
#endif
	sl_fiber_switch(&f->sp, scheduler_sp);
#ifdef SL_SWITCHES_REPORTED
	__sanitizer_finish_switch_fiber(f->fake_stack, &scheduler_bottom, &scheduler_bytes);
#endif
}

/* The first function on a fiber's stack. */
static void first(void)
{
#ifdef SL_SWITCHES_REPORTED
	__sanitizer_finish_switch_fiber(NULL, &scheduler_bottom, &scheduler_bytes);
#endif
	body_of();
	abort();
}

/* --- stacks ----------------------------------------------------------------------------------- */

static bool get_stack(struct sl_fiber *f)
{
	void *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stack == MAP_FAILED)
		return false;
	if (mprotect(stack, GUARD_BYTES, PROT_NONE) != 0) {
		(void)munmap(stack, GUARD_BYTES + STACK_BYTES);
		return false;
	}
	f->stack = (char *)stack;
	(void)VALGRIND_STACK_REGISTER(
		f->stack + GUARD_BYTES, f->stack + GUARD_BYTES + STACK_BYTES - 1);
	return true;
}

bool sl_fiber_begin(struct sl_fiber *f, void (*body)(void))
{
	union {
		void (*function)(void);
		void *word;
	} entry = {first};
	void **frame;

	if (!f->stack && !get_stack(f))
		return false;
#ifdef SL_THREAD_SANITIZER
	if (!f->tsan)
		f->tsan = __tsan_create_fiber(0);
#endif
	frame = (void **)(void *)(f->stack + GUARD_BYTES + STACK_BYTES) - FRAME_WORDS;
	memset(frame, 0, FRAME_WORDS * sizeof(*frame));
	frame[ENTRY_WORD] = entry.word;
	f->sp = frame;
	body_of = body;
	return true;
}

/*
 * The frames of f left poisoned memory on the stack and unfinished calls in the state of its
 * thread.
 */
void sl_fiber_abandon(struct sl_fiber *f)
{
	(void)f;
#ifdef SL_ADDRESS_SANITIZER
	__asan_unpoison_memory_region(f->stack + GUARD_BYTES, STACK_BYTES);
#endif
#ifdef SL_THREAD_SANITIZER
	__tsan_destroy_fiber(f->tsan);
	f->tsan = NULL;
#endif
}

/* --- ThreadSanitizer -------------------------------------------------------------------------- */

#ifdef SL_THREAD_SANITIZER

void sl_fiber_name(struct sl_fiber *f, unsigned block, unsigned thread)
{
	char name[64];

	snprintf(name, sizeof(name), "block %u, thread %u", block, thread);
	__tsan_set_fiber_name(f->tsan, name);
}

void sl_fiber_release(void *tag)
{
	__tsan_release(tag);
}

void sl_fiber_acquire(void *tag)
{
	__tsan_acquire(tag);
}

void sl_fiber_act_as(struct sl_fiber *f)
{
	__tsan_switch_to_fiber(f ? f->tsan : scheduler_tsan, __tsan_switch_to_fiber_no_sync);
}

void sl_fiber_free(void *p, void *tag)
{
	static void *cleaner;

	if (!cleaner)
		cleaner = __tsan_create_fiber(0);
	__tsan_switch_to_fiber(cleaner, __tsan_switch_to_fiber_no_sync);
	__tsan_acquire(tag);
	free(p);
	__tsan_switch_to_fiber(scheduler_tsan, __tsan_switch_to_fiber_no_sync);
}

#endif
