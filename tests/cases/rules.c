/* rules.c - see rules.h: compares the rules of the host with those of a device. */
#include "rule_items.h"
#include "tests/cases/inputs.h"

static void make_fields(struct sl_rule_parameters *w)
{
	static const struct sl_key_field fields[SL_RULE_FIELDS] = {
		{.column = SL_COLUMN_x, .bits = 1, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_y, .bits = 5, .lo = 0, .hi = 1},
		{.column = SL_COLUMN_z, .bits = 8, .lo = -1e30, .hi = 1e30},
		{.column = SL_COLUMN_u, .bits = 16, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_v, .bits = 24, .lo = -0.5, .hi = 1e-3},
		{.column = SL_COLUMN_w, .bits = 31, .lo = 0, .hi = 1e-40},
		{.column = SL_COLUMN_x, .bits = 32, .lo = -1, .hi = 1},
		{.column = SL_COLUMN_steps, .bits = 13, .lo = 1000, .hi = 4e9},
	};

	for (int i = 0; i < SL_RULE_FIELDS; i++)
		w->field[i] = sl_key_rule_make(&fields[i]);
}

static void on_host(
	enum sl_rule rule, const struct sl_rule_parameters *w, const uint32_t *in, uint32_t *out)
{
	switch (rule) {
#define RULE(name, words)                   \
	case SL_RULE_##name:                \
		sl_rule_##name(w, in, out); \
		break;
		SL_RULES(RULE)
#undef RULE
	case SL_RULE_COUNT:
		break;
	}
}

/* The arrays of one comparison, in host memory and in device memory. */
struct sides {
	uint32_t n;
	struct sl_rule_parameters *world, *device_world;
	uint32_t *in, *device_in;
	uint32_t *out, *device_out;
};

static enum sl_status compare(enum sl_rule rule, const struct sides *s)
{
	static const struct {
		const char *name;
		uint32_t words;
	} facts[] = {
#define RULE(name, words) {#name, words},
		SL_RULES(RULE)
#undef RULE
	};

	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t *in = s->in + (size_t)i * SL_RULE_IN;
		const uint32_t *out = s->out + (size_t)i * SL_RULE_OUT;
		uint32_t want[SL_RULE_OUT];

		on_host(rule, s->world, in, want);
		for (uint32_t k = 0; k < facts[rule].words; k++)
			if (out[k] != want[k])
				return sl_fail(SL_CHECK_FAILED,
					"rule %s, item %u (%08x %08x %08x %08x %08x %08x %08x "
					"%08x): word %u is %08x on the device, %08x on the host",
					facts[rule].name, i, in[0], in[1], in[2], in[3], in[4],
					in[5], in[6], in[7], k, out[k], want[k]);
	}
	return SL_OK;
}

static enum sl_status run(enum sl_rule rule, const struct sides *s)
{
	size_t bytes = (size_t)s->n * SL_RULE_OUT * sizeof(uint32_t);

	SL_TRY(sl_fill(s->device_out, 0x5a, bytes, NULL));
	SL_TRY(SL_LAUNCHER(sl_queue_rule)(
		rule, s->device_world, s->device_in, s->device_out, s->n, NULL));
	SL_TRY(sl_copy(s->out, s->device_out, bytes, NULL));
	SL_TRY(sl_stream_wait(NULL));
	return compare(rule, s);
}

static enum sl_status get_sides(struct sides *s)
{
	size_t in_bytes = (size_t)s->n * SL_RULE_IN * sizeof(uint32_t);
	size_t out_bytes = (size_t)s->n * SL_RULE_OUT * sizeof(uint32_t);

	SL_TRY(sl_memory_get(SL_HOST, sizeof(*s->world), (void **)&s->world));
	SL_TRY(sl_memory_get(SL_DEVICE, sizeof(*s->world), (void **)&s->device_world));
	SL_TRY(sl_memory_get(SL_HOST, in_bytes, (void **)&s->in));
	SL_TRY(sl_memory_get(SL_DEVICE, in_bytes, (void **)&s->device_in));
	SL_TRY(sl_memory_get(SL_HOST, out_bytes, (void **)&s->out));
	SL_TRY(sl_memory_get(SL_DEVICE, out_bytes, (void **)&s->device_out));
	make_world(s->world);
	make_fields(s->world);
	for (uint32_t i = 0; i < s->n; i++)
		for (int k = 0; k < SL_RULE_IN; k++)
			s->in[(size_t)i * SL_RULE_IN + (size_t)k] = word_of(i, s->n, k);
	SL_TRY(sl_copy(s->device_world, s->world, sizeof(*s->world), NULL));
	return sl_copy(s->device_in, s->in, in_bytes, NULL);
}

static void give_sides(struct sides *s)
{
	sl_memory_give(SL_HOST, s->world);
	sl_memory_give(SL_DEVICE, s->device_world);
	sl_memory_give(SL_HOST, s->in);
	sl_memory_give(SL_DEVICE, s->device_in);
	sl_memory_give(SL_HOST, s->out);
	sl_memory_give(SL_DEVICE, s->device_out);
}

enum sl_status sl_rules_agree(uint32_t n)
{
	struct sides s = {.n = n};
	enum sl_status status = get_sides(&s);

	for (int rule = 0; rule < SL_RULE_COUNT && status == SL_OK; rule++)
		status = run((enum sl_rule)rule, &s);
	give_sides(&s);
	return status;
}
