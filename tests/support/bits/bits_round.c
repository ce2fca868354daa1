/* bits_round.c - see bits_round.h. */
#include "tests/support/bits/bits_round.h"

#include <stdarg.h>
#include <stdio.h>

#include "tests/cases/sampling.h"
#include "tests/support/program/fixture.h"
#include "tests/support/program/program.h"

enum { STORY_BYTES = 1 << 15 };

struct bits_round bits_round;
static char story[STORY_BYTES]; /* the commands so far */
static size_t told;

void bits_tell(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	if (told < STORY_BYTES - 5000)
		told += (size_t)vsnprintf(story + told, STORY_BYTES - told, format, list);
	va_end(list);
}

bool bits_on_gpu(void)
{
	return strcmp(bits_round.device, "cuda") == 0;
}

bool bits_round_has(const char *flag)
{
	return bits_has(bits_context.flags, flag);
}

static void set_flag(const char *flag)
{
	const size_t used = strlen(bits_context.flags);

	snprintf(bits_context.flags + used, sizeof(bits_context.flags) - used, " %s", flag);
}

void bits_fail(const char *what)
{
	printf("%s%s\n", bits_round.line->text, story); /* longer than messages of cmocka */
	fail_msg(
		"%s\nto repeat it: SLUICE_ONE_IN=%llu SLUICE_SHARE=%llu SLUICE_LINE='%s' sluice_tests FILE",
		what, (unsigned long long)sl_sampling_step(1), (unsigned long long)bits_round.seed,
		bits_round.line->title);
}

void bits_tell_words(const struct bits_words *w)
{
	const char *const *part[] = {w->env, w->word};

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; part[k][i] && told < STORY_BYTES - 300; i++) {
			const char *quote = strpbrk(part[k][i], " {[<>(*") ? "'" : "";

			bits_tell("%s%.200s%s ", quote, part[k][i], quote);
		}
	bits_tell("\n");
}

/* Runs a command, which must end with this code. */
void bits_step(const struct bits_words *w, int code)
{
	struct ending e;

	bits_tell_words(w);
	call(&folder, w->env, w->word, &e);
	if (e.timed_out || (code == ANY_FAILURE ? e.code == SL_OK : e.code != code)) {
		bits_tell("ended with %d, not %d: %.2000s%.2000s", e.code, code, e.out, e.err);
		bits_fail("a command failed");
	}
	process_free(&e);
}

void bits_command(const char *line, int code)
{
	struct bits_words w = {.n = 0};
	char copy[64];

	snprintf(copy, sizeof(copy), "sluice %s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		bits_add(&w, "%s", word);
	bits_step(&w, code);
}

/* --- what the files are ----------------------------------------------------------------------- */

/* Begins a run of the configuration of the round. */
void bits_begin(struct bits_words *w, const char *out, unsigned particles, unsigned batch)
{
	*w = (struct bits_words){.n = 0};
	bits_add(w, "sluice");
	bits_add(w, "run");
	bits_add(w, "%s", bits_round_has("shipped") ? bits_round.line->text : "c.yaml");
	bits_add(w, "--out %s", out);
	bits_add(w, "--quiet");
	if (!bits_round_has("list"))
		bits_add(w, "run.particles=%u", particles);
	bits_add(w, "run.batch=%u", batch);
	if (bits_round_has("shipped"))
		bits_add(w, "check.sigma=1000"); /* so few particles may miss published values */
	for (size_t i = 0; i < bits_round.files.n; i++)
		w->word[w->n++] = bits_round.files.word[i];
	w->word[w->n] = NULL;
}

/* Returns the value of a setting of the files, or "". */
const char *bits_round_setting(const char *key)
{
	for (size_t i = 0; i < bits_round.files.n; i++)
		if (strncmp(bits_round.files.word[i], key, strlen(key)) == 0)
			return bits_round.files.word[i] + strlen(key);
	return "";
}

/* Flags of a shipped configuration: what its models refuse. */
static void find_refused(const char *key, const char *flag)
{
	struct bits_words w;
	struct ending e;

	bits_begin(&w, "plan", bits_round.particles, bits_round.batch);
	w.word[1] = "plan";
	bits_add(&w, "--device %s", bits_round.device);
	bits_add(&w, "%s", key);
	call(&folder, NULL, w.word, &e);
	if (e.code != SL_OK)
		set_flag(flag);
	process_free(&e);
}

static void choose_sizes(void)
{
	bits_round.particles = bits_round.line->particles;
	bits_round.batch = bits_round.line->batch;
	if (bits_on_gpu() && !bits_round_has("list")) {
		bits_round.particles = 1000003;
		bits_round.batch = 250007;
	}
	if (!bits_round_has("fixed") && !bits_round_has("stop") && bits_one_of(3) == 0)
		bits_round.batch = 1 + bits_round.particles / (1 + bits_one_of(9));
}

/* One setting of each choice. */
static void choose_settings(void)
{
	for (size_t k = 0; k < BITS_CHOICES; k++) {
		const char *choice;
		unsigned n;

		if (bits_round.line->n[k] == 0)
			continue;
		choice = bits_round.line->choice[k][bits_one_of((unsigned)bits_round.line->n[k])];
		if (sscanf(choice, "one batch of %u", &n) != 1)
			bits_add(&bits_round.files, "%s", choice);
		else if (!bits_on_gpu())
			bits_round.particles = bits_round.batch = n;
		if (strncmp(choice, "transport", 9) == 0)
			set_flag("transport");
	}
}

void bits_round_choose(void)
{
	struct bits_context *c = &bits_context;

	told = 0;
	story[0] = '\0';
	snprintf(c->flags, sizeof(c->flags), "%s%s", bits_round.line->flags,
		bits_on_gpu() ? " gpu" : "");
	bits_round.files = (struct bits_words){.n = 0};
	choose_sizes();
	bits_add(&bits_round.files, "$files");
	bits_round.format = bits_round_setting("output.format=");
	c->deflate = bits_backend(SL_DEFLATE, SL_HOST);
	if (strcmp(c->deflate, "auto") == 0 || bits_one_of(2) == 0)
		c->deflate = "cpu";
	if (strcmp(bits_round.format, "openpmd") == 0 || strcmp(bits_round.format, "npz") == 0 ||
		strstr(bits_round.format, ".gz"))
		set_flag("compressed");
	/* compressors of a device have twins on the host; a joined file is made on the host */
	if (bits_round_has("compressed") && !strstr(bits_round.format, "csv") &&
		strncmp(c->deflate, "cpu", 3) == 0 && !*bits_round_setting("output.joined=") &&
		!*bits_round_setting("output.order=") && !*bits_round_setting("output.limit=") &&
		!*bits_round_setting("output.sample="))
		set_flag("twin");
	choose_settings();
	bits_round.batches = (bits_round.particles + bits_round.batch - 1) / bits_round.batch;
	if (bits_round_has("shipped")) {
		find_refused("run.mode=fused", "staged");
		find_refused("transport.schedule=rounds", "history");
	} else {
		write_text(&folder, "c.yaml", bits_round.line->text);
	}
}
