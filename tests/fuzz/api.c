/*
 * api.c - fuzz target: calls the primitives with arguments that the input selects, valid and
 * invalid ones, on the host and on the emulated device.
 *
 * Each call must return SL_OK or SL_USAGE and must not write outside of its buffers, which have
 * exactly the sizes that the arguments state. The results are tested elsewhere (tests/primitives).
 */
#include <sanitizer/asan_interface.h>

#include "tests/fuzz/fuzz.h"

enum { BLOCKS_MOST = 64, N_MOST = 700 };

/* --- the input -------------------------------------------------------------------------------- */

static const uint8_t *at;
static size_t left;

/* The next number of the input, below n; 0 at its end. */
static uint32_t take(uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t most = n - 1; most > 0 && left > 0; most >>= 8) {
		v = v << 8 | *at++;
		left--;
	}
	return v % n;
}

/* True for one of eight values of the input, so that most arguments of a call are valid. */
static bool make_invalid(void)
{
	return take(256) >= 224;
}

/* --- memory ----------------------------------------------------------------------------------- */

/*
 * Most buffers of the device are parts of one block of device memory, because to map, protect and
 * unmap memory for each takes longer than the kernels. All of it but the buffers is poisoned, so
 * that AddressSanitizer reports an access to a byte outside of a buffer, as it does for host
 * memory.
 */
enum { POOL = 1 << 17, GAP = 256, SEED = 16, REPEATED = 4096, FILLED = 1 << 16 };

static void *pool;
static size_t pool_used;

static struct {
	enum sl_space space;
	void *at;
} block[BLOCKS_MOST];
static uint32_t n_blocks, n_buffers;

/* Memory of exactly that size, aligned to 256 bytes. NULL if there is none. */
static char *get_memory(enum sl_space space, size_t bytes)
{
	size_t used = sl_round_up(pool_used + bytes + GAP, GAP);
	void *p = NULL;

	if (space == SL_DEVICE && used <= POOL) {
		p = (char *)pool + pool_used;
		pool_used = used;
		ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	} else if (n_blocks < BLOCKS_MOST && sl_memory_get(space, bytes, &p) == SL_OK) {
		block[n_blocks].space = space;
		block[n_blocks++].at = p;
	}
	return (char *)p;
}

/*
 * Fills a buffer: its first bytes repeat a text of the input, and the rest has one byte of it.
 * Scratch can have many MiB; on the host its end stays as malloc() returns it. What is copied to
 * the device stays in text[] until the call has run.
 */
static void fill_buffer(enum sl_space space, char *p, size_t bytes)
{
	static char text[BLOCKS_MOST][REPEATED];
	char *t = text[n_buffers++ % BLOCKS_MOST];
	size_t first = bytes < REPEATED ? bytes : REPEATED;

	for (size_t i = 0; i < SEED; i++)
		t[i] = (char)take(256);
	for (size_t i = SEED; i < first; i += SEED)
		memcpy(t + i, t, SEED); /* REPEATED is a multiple of it */
	if (space == SL_DEVICE) {
		sl_copy(p, t, first, NULL);
		sl_fill(p + first, t[0], bytes - first, NULL);
	} else {
		memcpy(p, t, first);
		memset(p + first, t[0], (bytes < FILLED ? bytes : FILLED) - first);
	}
}

/*
 * Returns a buffer of exactly bytes bytes, filled from the input; sometimes misaligned by a byte,
 * or NULL.
 */
static void *get_buffer(enum sl_space space, size_t bytes)
{
	size_t shift = make_invalid() ? 1 : 0;
	char *p;

	if (shift && take(4) == 0)
		return NULL;
	p = get_memory(space, bytes + shift);
	if (!p)
		return NULL;
	fill_buffer(space, p + shift, bytes);
	return p + shift;
}

static void free_buffers(void)
{
	while (n_blocks > 0) {
		n_blocks--;
		sl_memory_give(block[n_blocks].space, block[n_blocks].at);
	}
	ASAN_POISON_MEMORY_REGION(pool, pool_used);
	pool_used = n_buffers = 0;
}

/* --- arguments -------------------------------------------------------------------------------- */

static const struct sl_backend *backend(void)
{
	static uint32_t n;

	while (sl_backend_at(n))
		n++;
	return sl_backend_at(take(n));
}

/* The backend of a call. Those of the device take much longer, so they are drawn less often. */
static const struct sl_backend *backend_of_call(void)
{
	const struct sl_backend *b = backend();

	return b->space == SL_DEVICE && take(4) ? backend() : b;
}

/* Mostly a small block, because each thread of the emulated device has a stack. */
static struct sl_tuning tuning(const struct sl_backend *b)
{
	const uint32_t most = take(8) == 7 ? 8 : 2;
	struct sl_tuning t = {b->tunable.block_step * (take(8) ? 1 + take(most) : 0),
		b->tunable.items_can[take(most)],
		b->tunable.padding || make_invalid() ? (enum sl_padding)take(3)
						     : SL_PADDING_DEFAULT,
		b->tunable.threads || make_invalid() ? take(4) : 0};

	if (make_invalid())
		t.block = take(4096);
	return t;
}

static enum sl_type type(void)
{
	return make_invalid() ? (enum sl_type)take(8) : (enum sl_type)take(2);
}

/* Scratch for a job, sometimes too small or with a wrong count of used bytes. */
static struct sl_arena scratch(const struct sl_backend *b, const struct sl_shape *most)
{
	size_t bytes = sl_scratch(b, most);
	struct sl_arena a = {.base = NULL};

	if (bytes > (size_t)1 << 22)
		return a;
	if (make_invalid())
		bytes = bytes * take(256) / 256;
	a.base = get_buffer(b->space, bytes);
	a.size = a.base ? bytes : 0;
	if (make_invalid())
		a.used = take(2) ? SIZE_MAX - take(1024) : take(1024);
	return a;
}

static enum sl_space space_of(const struct sl_backend *b)
{
	return make_invalid() ? (enum sl_space)take(4) : b->space;
}

static void finish(enum sl_status s, const struct sl_backend *b)
{
	fuzz_expect(s == SL_OK || s == SL_USAGE);
	fuzz_expect(s == SL_OK || sl_last_error()[0] != '\0');
	fuzz_expect(b->space != SL_DEVICE || sl_stream_wait(NULL) == SL_OK);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void call_scan(const struct sl_backend *b, uint32_t n)
{
	enum sl_type t = make_invalid() ? (enum sl_type)take(8) : (enum sl_type)take(4);
	struct sl_shape most = {.n = n, .type = t, .tuning = tuning(b)};
	struct sl_exec x = {space_of(b), NULL, scratch(b, &most), most.tuning};
	char *in = (char *)get_buffer(b->space, n * sl_type_bytes(t));
	void *out = take(2) ? in : get_buffer(b->space, n * sl_type_bytes(t));

	if (make_invalid() && in && n > 1) { /* overlapping, one item apart */
		out = in + sl_type_bytes(t);
		n--;
	}
	finish(sl_scan(b, &x,
		       &(struct sl_scan_job){
			       .in = in, .out = out, .n = n, .type = t, .inclusive = take(2)}),
		b);
}

static void call_compact(const struct sl_backend *b, uint32_t n)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 16, 32, 3, 0};
	struct sl_compact_column column[SL_COMPACT_COLUMNS_MAX + 1];
	uint32_t columns = take(4) ? take(4) : take(SL_COMPACT_COLUMNS_MAX + 2);
	struct sl_shape most = {.n = n, .n_columns = columns, .tuning = tuning(b)};
	struct sl_exec x = {space_of(b), NULL, scratch(b, &most), most.tuning};
	struct sl_compact_job job = {.keep = (const uint8_t *)get_buffer(b->space, n),
		.out = (uint32_t *)get_buffer(b->space, (size_t)n * 4),
		.n_out = (uint32_t *)get_buffer(b->space, 4),
		.n = n,
		.n_columns = columns,
		.column = make_invalid() ? NULL : column};

	for (uint32_t i = 0; i < columns; i++) {
		uint32_t bytes = make_invalid() ? sizes[take(8)] : sizes[take(6)];

		column[i].bytes = bytes;
		column[i].from = get_buffer(b->space, (size_t)n * bytes);
		column[i].to = make_invalid() ? (void *)(uintptr_t)column[i].from
		                              : get_buffer(b->space, (size_t)n * bytes);
	}
	if (make_invalid())
		job.scan.backend = backend();
	finish(sl_compact(b, &x, &job), b);
}

static void call_sort(const struct sl_backend *b, uint32_t n)
{
	enum sl_type t = type();
	size_t keys = n * sl_type_bytes(t), indices = (size_t)n * 4;
	bool index = take(2), separate = take(2);
	uint32_t begin_bit = take(4) ? take(16) : take(65);
	uint32_t end_bit = make_invalid() ? take(256) : begin_bit + take(take(4) ? 9 : 33);
	struct sl_shape most = {.n = n, .type = t, .keys_only = !index, .tuning = tuning(b)};
	struct sl_exec x = {space_of(b), NULL, scratch(b, &most), most.tuning};
	struct sl_sort_job job = {.key = get_buffer(b->space, keys),
		.index = index ? (uint32_t *)get_buffer(b->space, indices) : NULL,
		.key_out = separate ? get_buffer(b->space, keys) : NULL,
		.index_out = index && separate ? (uint32_t *)get_buffer(b->space, indices) : NULL,
		.key_spent = take(2),
		.n = n,
		.type = t,
		.begin_bit = begin_bit,
		.end_bit = end_bit};

	if (make_invalid())
		job.index_out = (uint32_t *)job.key;
	if (make_invalid())
		job.scan.backend = backend();
	finish(sl_sort(b, &x, &job), b);
}

static void call_expand(const struct sl_backend *b, uint32_t n)
{
	const uint32_t n_out = take(N_MOST), bytes = UINT32_C(1) << take(6);
	struct sl_compact_column column = {get_buffer(b->space, (size_t)n * bytes),
		get_buffer(b->space, (size_t)n_out * bytes), bytes};
	struct sl_shape most = {.n = n,
		.n_out = n_out,
		.counts = take(2),
		.type = type(),
		.n_columns = take(2),
		.tuning = tuning(b)};
	struct sl_exec x = {space_of(b), NULL, scratch(b, &most), most.tuning};
	struct sl_expand_job job = {.runs = get_buffer(b->space, n * sl_type_bytes(most.type)),
		.out = (uint32_t *)get_buffer(b->space, (size_t)n_out * 4),
		.n = n,
		.n_out = n_out,
		.type = most.type,
		.form = most.counts ? SL_RUN_COUNTS : (enum sl_run_form)take(2),
		.n_columns = most.n_columns,
		.column = &column};

	if (make_invalid())
		job.scan.backend = backend();
	finish(sl_expand(b, &x, &job), b);
}

/* One input, or several parts, some of which may be empty or invalid; sometimes too many. */
static void call_deflate(const struct sl_backend *b, uint32_t n)
{
	struct sl_deflate_part part[SL_DEFLATE_PARTS_MAX + 1];
	const uint32_t several =
		take(3) ? 0 : 1 + take(make_invalid() ? SL_DEFLATE_PARTS_MAX + 1 : 4);
	struct sl_shape most = {.part = several ? part : NULL, .n_parts = several};
	struct sl_deflate_job job = {.level = make_invalid() ? (int)take(16) - 3 : 1 + (int)take(9),
		.wrapper = (enum sl_wrapper)take(make_invalid() ? 8 : 3),
		.whole_chunks = take(2),
		.part = several && !make_invalid() ? part : NULL,
		.n_parts = several};
	struct sl_exec x = {.space = space_of(b)};
	size_t streams = 0, room = 0;

	for (uint32_t k = 0; k < several + !several; k++) {
		size_t item = (size_t)1 << take(4),
		       bytes = (several ? take(n + 1) : n) / item * item;
		size_t chunk = take(2) ? 0 : item * (256 - take(256));

		part[k] = (struct sl_deflate_part){
			get_buffer(b->space, bytes), bytes, chunk, (uint32_t)item};
	}
	most.level = job.level;
	most.in_bytes = part[0].in_bytes;
	most.chunk_bytes = part[0].chunk_bytes;
	most.item_bytes = part[0].item_bytes;
	if (several <= SL_DEFLATE_PARTS_MAX)
		x.scratch = scratch(b, &most);
	if (make_invalid()) /* not those of the shape */
		part[0].chunk_bytes += take(16);
	for (uint32_t k = 0; k < several + !several; k++) {
		streams += sl_deflate_streams(part[k].in_bytes, part[k].chunk_bytes);
		room += sl_deflate_most(part[k].in_bytes, part[k].chunk_bytes, part[k].item_bytes);
	}
	if (!several) {
		job.in = part[0].in;
		job.in_bytes = part[0].in_bytes - (make_invalid() ? part[0].in_bytes / 3 : 0);
		job.chunk_bytes = part[0].chunk_bytes;
		job.item_bytes = part[0].item_bytes;
	}
	job.out_size = take(2) ? room : room * take(256) / 256;
	job.out = get_buffer(b->space, job.out_size);
	job.out_bytes = (size_t *)get_buffer(b->space, streams * sizeof(size_t));
	if (take(4) == 0) /* any number of the input, also near SIZE_MAX */
		job.out_used = (size_t *)get_buffer(b->space, sizeof(size_t));
	finish(sl_deflate(b, &x, &job), b);
}

FUZZ(api)
{
	static void (*const call[SL_PRIMITIVE_COUNT])(const struct sl_backend *b, uint32_t n) = {
		call_scan, call_compact, call_sort, call_deflate, call_expand};
	static struct sl_device device;

	sl_device_emulate(true); /* other targets of the program end it */
	if (!device.name[0]) {
		fuzz_expect(sl_device_use(0, &device) == SL_OK);
		fuzz_expect(sl_memory_get(SL_DEVICE, POOL, &pool) == SL_OK);
		ASAN_POISON_MEMORY_REGION(pool, POOL);
	}
	at = data;
	left = size;
	do {
		const struct sl_backend *b = backend_of_call();

		call[b->primitive](b, take(4) ? take(70) : take(N_MOST));
		free_buffers();
	} while (left > 0);
}
