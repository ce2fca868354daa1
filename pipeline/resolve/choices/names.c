/* names.c - one look-up serves fates and columns: both are sets of at most 32 named items. */
#include "pipeline/resolve/choices/names.h"

#include <stdio.h>
#include <string.h>

#include "pipeline/config/reader/diagnostics.h"
#include "pipeline/text/messages.h"

/* A kind of thing that a model has a set of. */
struct naming {
	const char *what, *lacking; /* "fate", and why one that there is may be none here */
	int n;
	const char *(*name)(int i);
};

static const char *fate_name(int i)
{
	return sl_fate_facts[i].name;
}

static const char *column_name(int i)
{
	return sl_column_facts[i].name;
}

static const struct naming fates = {
	"fate", "none of its particles ends so", SL_FATE_COUNT, fate_name};
static const struct naming columns = {
	"column", "its particles have none", SL_COLUMN_COUNT, column_name};

/* What to try for a word that is none of the set: the nearest, or all. */
static const char *suggest(
	const struct naming *of, uint64_t set, const char *word, char text[SL_SUGGESTION_BYTES])
{
	const char *words[64];
	size_t n = 0;

	for (int i = 0; i < of->n; i++)
		if (SL_HAS(set, i))
			words[n++] = of->name(i);
	return sl_suggest(word, words, n, text, SL_SUGGESTION_BYTES);
}

/* The member of allowed that word names; of->n, with a complaint about key, when there is none. */
static int resolve_word(struct sl_reader *r, const char *key, const char *word,
	const struct naming *of, uint64_t allowed, const char *model)
{
	char shown[SL_SHOWN_BYTES], words[SL_SUGGESTION_BYTES];
	int i = 0;

	while (i < of->n && strcmp(of->name(i), word) != 0)
		i++;
	if (i < of->n && SL_HAS(allowed, i))
		return i;
	sl_config_complain(r, key, "%s is no %s of %s (%s), try %s", sl_show(shown, word), of->what,
		model, i < of->n ? of->lacking : "there is none of that name",
		suggest(of, allowed, word, words));
	return of->n;
}

/* The set that a list of words names, all of them in allowed, each once. */
static uint32_t resolve_set(struct sl_reader *r, const char *key, const struct sl_texts *list,
	const struct naming *of, uint32_t allowed, const char *model)
{
	char item[SL_WORD_BYTES], shown[SL_SHOWN_BYTES];
	uint32_t set = 0;

	for (uint32_t k = 0; k < list->n; k++) {
		int i;

		snprintf(item, sizeof(item), "%s[%u]", key, k);
		i = resolve_word(r, item, list->at[k], of, allowed, model);
		if (i < of->n && SL_HAS(set, i))
			sl_config_complain(r, item,
				"%s is repeated (once is enough), try removing it",
				sl_show(shown, list->at[k]));
		else if (i < of->n)
			set |= SL_BIT(i);
	}
	return set;
}

sl_fate_set sl_final_fates(const struct sl_choices *choices)
{
	return (choices->model->fates & ~SL_FATE_BIT(SL_FATE_alive)) |
	       (choices->condition.n > 0 ? SL_FATE_BIT(SL_FATE_dropped) : 0);
}

bool sl_resolve_fate(struct sl_reader *r, const char *key, const char *word,
	const struct sl_choices *choices, enum sl_fate *fate)
{
	*fate = (enum sl_fate)resolve_word(
		r, key, word, &fates, sl_final_fates(choices), choices->model->name);
	return *fate < SL_FATE_COUNT;
}

/* As MCPL has it: the energy of a particle is the kinetic one. */
enum sl_column sl_column_named(const char *word)
{
	return strcmp(word, "ekin") == 0 ? SL_COLUMN_energy : sl_column_find(word);
}

bool sl_resolve_column(struct sl_reader *r, const char *key, const char *word,
	const struct sl_model *model, uint32_t allowed, enum sl_column *column)
{
	enum sl_column named = sl_column_named(word);

	if (named < SL_COLUMN_COUNT)
		word = column_name(named);
	*column = (enum sl_column)resolve_word(r, key, word, &columns, allowed, model->name);
	return *column < SL_COLUMN_COUNT;
}

const char *sl_suggest_fate(sl_fate_set set, const char *word, char text[SL_SUGGESTION_BYTES])
{
	return suggest(&fates, set, word, text);
}

uint32_t sl_resolve_column_set(struct sl_reader *r, const char *key, const struct sl_texts *list,
	const struct sl_model *model, uint32_t allowed)
{
	return resolve_set(r, key, list, &columns, allowed, model->name);
}
