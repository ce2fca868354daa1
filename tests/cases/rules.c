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

/* What a comparison has in host memory, and again in device memory. */
struct side {
	struct sl_rule_parameters world;
	uint32_t words[]; /* SL_RULE_IN of each of n items, then SL_RULE_OUT of each */
};

static enum sl_status compare(enum sl_rule rule, const struct side *s, uint32_t n)
{
	static const struct {
		const char *name;
		uint32_t words;
	} facts[] = {
#define RULE(name, words) {#name, words},
		SL_RULES(RULE)
#undef RULE
	};

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t *in = s->words + (size_t)i * SL_RULE_IN;
		const uint32_t *out = s->words + (size_t)n * SL_RULE_IN + (size_t)i * SL_RULE_OUT;
		uint32_t want[SL_RULE_OUT];

		on_host(rule, &s->world, in, want);
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

static enum sl_status run(enum sl_rule rule, struct side *host, struct side *device, uint32_t n)
{
	const size_t in = (size_t)n * SL_RULE_IN,
		     bytes = (size_t)n * SL_RULE_OUT * sizeof(uint32_t);

	SL_TRY(sl_fill(device->words + in, 0x5a, bytes, NULL));
	SL_TRY(SL_LAUNCHER(sl_queue_rule)(
		rule, &device->world, device->words, device->words + in, n, NULL));
	SL_TRY(sl_copy(host->words + in, device->words + in, bytes, NULL));
	SL_TRY(sl_stream_wait(NULL));
	return compare(rule, host, n);
}

static enum sl_status run_all(struct side *host, struct side *device, uint32_t n)
{
	make_world(&host->world);
	make_fields(&host->world);
	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < SL_RULE_IN; k++)
			host->words[(size_t)i * SL_RULE_IN + (size_t)k] = word_of(i, n, k);
	SL_TRY(sl_copy(device, host,
		sizeof(*host) + (size_t)n * SL_RULE_IN * sizeof(host->words[0]), NULL));
	for (int rule = 0; rule < SL_RULE_COUNT; rule++)
		SL_TRY(run((enum sl_rule)rule, host, device, n));
	return SL_OK;
}

enum sl_status sl_rules_agree(uint32_t n)
{
	const size_t words = (size_t)n * (SL_RULE_IN + SL_RULE_OUT);
	const size_t bytes = sizeof(struct side) + words * sizeof(uint32_t);
	void *host, *device = NULL;
	enum sl_status s = sl_memory_get(SL_HOST, bytes, &host);

	if (s == SL_OK)
		s = sl_memory_get(SL_DEVICE, bytes, &device);
	if (s == SL_OK)
		s = run_all((struct side *)host, (struct side *)device, n);
	sl_memory_give(SL_HOST, host);
	sl_memory_give(SL_DEVICE, device);
	return s;
}
