/* inputs.c - see inputs.h. */
#include "stages/inputs.h"

#include <stdio.h>
#include <string.h>

#include "primitives/base/device.h"
#include "primitives/base/files.h"

/* --- opening ---------------------------------------------------------------------------------- */

/* Past all strings, to the first particle. */
static enum sl_status pass_strings(struct sl_mcpl_stream *s)
{
	uint64_t strings = 1 + (uint64_t)s->header.comments + 2 * (uint64_t)s->header.blobs;
	char text[1];
	uint32_t length;

	for (uint64_t i = 0; i < strings; i++)
		SL_TRY(sl_mcpl_text(s, text, sizeof(text), &length));
	return sl_mcpl_begin(s);
}

static enum sl_status open_stream(const struct sl_input *f, struct sl_mcpl_stream *s)
{
	enum sl_status status;

	SL_TRY(sl_mcpl_open(s, f->map.at, f->map.bytes));
	status = pass_strings(s);
	if (status != SL_OK)
		sl_mcpl_close(s);
	return status;
}

static enum sl_status open_input(const char *path, uint64_t first, struct sl_input *f)
{
	snprintf(f->path, sizeof(f->path), "%s", path);
	f->first = first;
	SL_TRY(sl_map_file(path, &f->map));
	SL_TRY(sl_while(open_stream(f, &f->stream), "%s", path));
	f->header = f->stream.header;
	f->gzipped = f->stream.gzipped;
	f->recovered = f->stream.recovered;
	f->crc = sl_crc32(f->map.at, f->map.bytes);
	if (f->gzipped)
		sl_mcpl_close(&f->stream);
	return SL_OK;
}

enum sl_status sl_inputs_open(
	const struct sl_lines *files, struct sl_inputs **made, uint32_t *which)
{
	struct sl_inputs *inputs;
	void *memory;

	*made = NULL;
	*which = 0;
	SL_TRY(sl_memory_get(SL_HOST, sizeof(*inputs), &memory));
	inputs = *made = (struct sl_inputs *)memory;
	memset(inputs, 0, sizeof(*inputs));
	pthread_mutex_init(&inputs->lock, NULL);
	pthread_cond_init(&inputs->next, NULL);
	inputs->opened = SL_LIST_MAX;
	for (; *which < files->n; ++*which) {
		struct sl_input *f = &inputs->at[inputs->n++];

		SL_TRY(open_input(files->at[*which], inputs->particles, f));
		inputs->particles += f->header.particles;
		inputs->gzipped |= f->gzipped;
	}
	return SL_OK;
}

static void stop_inflating(struct sl_inputs *inputs)
{
	if (inputs->opened < inputs->n)
		sl_mcpl_close(&inputs->inflating);
	inputs->opened = SL_LIST_MAX;
}

void sl_inputs_close(struct sl_inputs *inputs)
{
	if (!inputs)
		return;
	stop_inflating(inputs);
	for (uint32_t k = 0; k < inputs->n; k++)
		sl_unmap(&inputs->at[k].map);
	pthread_cond_destroy(&inputs->next);
	pthread_mutex_destroy(&inputs->lock);
	sl_memory_give(SL_HOST, inputs);
}

void sl_inputs_restart(struct sl_inputs *inputs)
{
	inputs->turn = 0;
}

uint32_t sl_inputs_constants(const struct sl_inputs *inputs, struct sl_particle *values)
{
	const struct sl_mcpl_header *first = &inputs->at[0].header;
	const uint32_t polarisation =
		SL_BIT(SL_COLUMN_pol_x) | SL_BIT(SL_COLUMN_pol_y) | SL_BIT(SL_COLUMN_pol_z);
	uint32_t set = polarisation | SL_BIT(SL_COLUMN_userflags) | SL_BIT(SL_COLUMN_pdg) |
	               SL_BIT(SL_COLUMN_weight);

	memset(values, 0, sizeof(*values));
	values->pdg = first->pdg;
	values->weight = (float)first->weight;
	for (uint32_t k = 0; k < inputs->n; k++) {
		const struct sl_mcpl_header *h = &inputs->at[k].header;

		set &= h->polarised ? ~polarisation : SL_EVERY_COLUMN;
		set &= h->flags ? ~SL_BIT(SL_COLUMN_userflags) : SL_EVERY_COLUMN;
		if (h->pdg == 0 || h->pdg != first->pdg)
			set &= ~SL_BIT(SL_COLUMN_pdg);
		if (h->weight == 0 || (float)h->weight != values->weight)
			set &= ~SL_BIT(SL_COLUMN_weight);
	}
	return set;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void put(const struct sl_columns *c, uint32_t i, const struct sl_mcpl_particle *p)
{
	c->x[i] = (float)p->position[0];
	c->y[i] = (float)p->position[1];
	c->z[i] = (float)p->position[2];
	c->u[i] = (float)p->direction[0];
	c->v[i] = (float)p->direction[1];
	c->w[i] = (float)p->direction[2];
	c->energy[i] = (float)(p->energy * sl_mcpl_kev);
	c->time[i] = (float)(p->time * sl_mcpl_ns);
	c->weight[i] = (float)p->weight;
	c->pdg[i] = p->pdg;
	c->userflags[i] = p->flags;
	c->pol_x[i] = (float)p->polarisation[0];
	c->pol_y[i] = (float)p->polarisation[1];
	c->pol_z[i] = (float)p->polarisation[2];
	c->fate[i] = SL_FATE_listed;
}

/* The next n particles of a stream: those from place on of the batch. */
static enum sl_status take(
	struct sl_mcpl_stream *s, const struct sl_columns *c, uint32_t place, uint32_t n)
{
	struct sl_mcpl_particle p;

	for (uint32_t i = place; i < place + n; i++) {
		SL_TRY(sl_mcpl_next(s, &p));
		put(c, i, &p);
	}
	return SL_OK;
}

/* Particles of a plain file, from number from of it on. */
static enum sl_status read_plain(const struct sl_input *f, uint64_t from, uint32_t n,
	const struct sl_columns *c, uint32_t place)
{
	struct sl_mcpl_stream s = f->stream;
	size_t bytes = (size_t)from * f->header.record_bytes;

	s.at += bytes;
	s.left -= bytes;
	return take(&s, c, place, n);
}

/* The same of one in gzip: what is before them goes by. */
static enum sl_status read_gzipped(struct sl_inputs *inputs, uint32_t k, uint64_t from, uint32_t n,
	const struct sl_columns *c, uint32_t place)
{
	struct sl_mcpl_stream *s = &inputs->inflating;
	struct sl_mcpl_particle p;

	if (inputs->opened != k || s->read > from) {
		stop_inflating(inputs);
		SL_TRY(open_stream(&inputs->at[k], s));
		inputs->opened = k;
	}
	while (s->read < from)
		SL_TRY(sl_mcpl_next(s, &p));
	return take(s, c, place, n);
}

/* What b has of the files in gzip, or of the others. */
static enum sl_status read_some(struct sl_inputs *inputs, bool gzipped, struct sl_batch *b)
{
	uint64_t begin = b->first_id, end = b->first_id + b->n;

	for (uint32_t k = 0; k < inputs->n; k++) {
		const struct sl_input *f = &inputs->at[k];
		uint64_t first = f->first > begin ? f->first : begin;
		uint64_t last = f->first + f->header.particles;
		uint32_t place = (uint32_t)(first - begin);
		enum sl_status s;

		last = last < end ? last : end;
		if (f->gzipped != gzipped || first >= last)
			continue;
		s = gzipped ? read_gzipped(inputs, k, first - f->first, (uint32_t)(last - first),
				      &b->columns, place)
		            : read_plain(f, first - f->first, (uint32_t)(last - first), &b->columns,
				      place);
		if (s != SL_OK)
			return sl_while(s, "%s", f->path);
	}
	return SL_OK;
}

static enum sl_status read_in_turn(struct sl_inputs *inputs, uint64_t turn, struct sl_batch *b)
{
	enum sl_status s;

	pthread_mutex_lock(&inputs->lock);
	while (turn != SL_NO_TURN && inputs->turn != turn)
		pthread_cond_wait(&inputs->next, &inputs->lock);
	s = read_some(inputs, true, b);
	inputs->turn += turn != SL_NO_TURN;
	pthread_cond_broadcast(&inputs->next);
	pthread_mutex_unlock(&inputs->lock);
	return s;
}

enum sl_status sl_inputs_read(struct sl_inputs *inputs, uint64_t turn, struct sl_batch *b)
{
	if (inputs->gzipped)
		SL_TRY(read_in_turn(inputs, turn, b));
	return read_some(inputs, false, b);
}
