/* device_order.c - see device_order.h. */
#include "pipeline/output/merge/device_order.h"

#include <string.h>

#include "pipeline/plan/joined_memory.h"

enum { RECORDS = SL_ORDER_STAGING_RECORDS };

_Static_assert(SL_ORDER_STAGING_BYTES == RECORDS * (sizeof(uint64_t) + sizeof(uint32_t)),
	"plans count these bytes");

struct sl_order_devices sl_order_devices_of(const struct sl_workspace *w)
{
	struct sl_order_devices devices = {.n = 0};

	if (!w || !w->device)
		return devices;
	devices.sort = (struct sl_global_sort){.sort = w->recipe.sort,
		.type = sl_key_type(&w->recipe),
		.end_bit = w->recipe.key_bits};
	for (uint32_t d = 0; d < w->plan->n_devices; d++)
		if (!w->device[d].dropped)
			devices.device[devices.n++] = &w->plan->device[d];
	return devices;
}

/* --- memory ----------------------------------------------------------------------------------- */

static size_t key_bytes(const struct sl_device_order *o)
{
	return sl_type_bytes(o->sort.type);
}

static void lay_out(struct sl_arena *a, const struct sl_device_order *o, struct sl_global_share *s)
{
	s->key = sl_cut_items(a, s->n, key_bytes(o));
	s->index = (uint32_t *)sl_cut_items(a, s->n, sizeof(*s->index));
	s->key_out = sl_cut_items(a, s->n, key_bytes(o));
	s->index_out = (uint32_t *)sl_cut_items(a, s->n, sizeof(*s->index_out));
	s->scratch.base = sl_cut(a, s->scratch.size);
}

/* Makes the device of share i current. */
static enum sl_status use_share(const struct sl_device_order *o, uint32_t i)
{
	const struct sl_device *device = o->share[i].device;

	if (sl_device_switch(device))
		return SL_OK;
	return sl_fail(SL_DEVICE_FAILED, "device %d has failed", device->number);
}

/* Allocates the memory of share i on its device. */
static enum sl_status get_share(struct sl_device_order *o, uint32_t i)
{
	struct sl_global_share *s = &o->share[i];
	struct sl_arena a = {0};

	SL_TRY(use_share(o, i));
	s->scratch.size = sl_global_sort_scratch(&o->sort, s->n, o->records, o->n_shares, false);
	SL_TRY(sl_stream_make(&s->stream));
	lay_out(&a, o, s);
	SL_TRY(sl_memory_get(SL_DEVICE, a.used, &o->block[i]));
	a = (struct sl_arena){.base = o->block[i], .size = a.used};
	lay_out(&a, o, s);
	return SL_OK;
}

/* All shares have as many keys as their parts of the result. */
static enum sl_status get_memory(
	struct sl_device_order *o, const struct sl_order_devices *devices, uint64_t records)
{
	void *staging;

	o->sort = devices->sort;
	o->records = records;
	o->n_shares = devices->n;
	for (uint32_t i = 0; i < o->n_shares; i++) {
		uint64_t part = sl_global_sort_part(records, o->n_shares, i);

		if (part > UINT32_MAX)
			return sl_fail(SL_DEVICE_MEMORY,
				"%llu records are more than a device can sort",
				(unsigned long long)part);
		o->share[i] =
			(struct sl_global_share){.device = devices->device[i], .n = (uint32_t)part};
	}
	for (uint32_t i = 0; i < o->n_shares; i++)
		SL_TRY(get_share(o, i));
	SL_TRY(sl_memory_get(SL_PINNED, SL_ORDER_STAGING_BYTES, &staging));
	o->file = (uint32_t *)staging;
	o->key = o->file + RECORDS;
	return SL_OK;
}

/* --- keys to the devices ---------------------------------------------------------------------- */

/* The place of the next key. */
struct upload {
	uint32_t share, at;
};

static enum sl_status other_number(const struct sl_device_order *o)
{
	return sl_fail(SL_CHECK_FAILED, "the files do not have %llu records",
		(unsigned long long)o->records);
}

/* Makes n keys of 8 bytes in the staging block keys of the type. */
static void narrow(struct sl_device_order *o, uint32_t n)
{
	char *to = (char *)o->key;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t key;
		uint32_t low;

		memcpy(&key, to + i * sizeof(key), sizeof(key));
		low = (uint32_t)key;
		memcpy(to + i * sizeof(low), &low, sizeof(low));
	}
}

/* Copies the n keys in the staging block, of file `number`, to a share that has room for them. */
static enum sl_status copy_keys(
	struct sl_device_order *o, uint32_t n, uint32_t number, struct upload *u)
{
	const struct sl_global_share *s = &o->share[u->share];
	const size_t bytes = key_bytes(o);

	for (uint32_t i = 0; i < n; i++)
		o->file[i] = number;
	if (o->sort.type == SL_U32)
		narrow(o, n);
	SL_TRY(sl_copy((char *)s->key + u->at * bytes, o->key, n * bytes, s->stream));
	SL_TRY(sl_copy(s->index + u->at, o->file, n * sizeof(*o->file), s->stream));
	u->at += n;
	return sl_stream_wait(s->stream);
}

/* Moves to the next share when one is full. Returns the room in the share; 0 if all are full. */
static uint32_t room_for_keys(const struct sl_device_order *o, struct upload *u)
{
	while (u->at == o->share[u->share].n && u->share + 1 < o->n_shares)
		*u = (struct upload){.share = u->share + 1};
	return o->share[u->share].n - u->at;
}

/*
 * Reads the keys of selected records from row *row of n on to the staging block, at most `most`. *row is the row after
 * them then. Returns their number.
 */
static uint32_t read_keys(const struct sl_device_order *o, const struct sl_selection *selection,
	const uint8_t *items, uint64_t n, uint64_t *row, uint32_t most)
{
	uint64_t *key = (uint64_t *)o->key;
	uint32_t keys = 0;

	for (; keys < most && *row < n; ++*row)
		keys += sl_selection_takes(
			selection, items + (size_t)*row * selection->items.bytes, &key[keys]);
	return keys;
}

/* Copies the keys of n items of a batch, whose records are in file `number`. */
static enum sl_status upload_items(struct sl_device_order *o, const struct sl_order_keys *k,
	const uint8_t *items, uint64_t n, uint32_t number, struct upload *u)
{
	uint64_t row = 0;
	uint32_t keys = 1;

	while (keys > 0) {
		uint32_t room = room_for_keys(o, u), most = room < RECORDS ? room : RECORDS;

		if (k->cancel && atomic_load(k->cancel))
			return sl_fail(SL_PEER_LOST, "another rank was lost");
		/* asks for a key even if all shares are full: one that comes is too many */
		keys = read_keys(o, k->selection, items, n, &row, most > 0 ? most : 1);
		if (keys > room)
			return other_number(o);
		SL_TRY(use_share(o, u->share));
		SL_TRY(copy_keys(o, keys, number, u));
	}
	return SL_OK;
}

/* Copies the keys of batch i. The checksum of an order file that is read as a whole is compared with the manifest. */
static enum sl_status upload_batch(
	struct sl_device_order *o, const struct sl_order_keys *k, size_t i, struct upload *u)
{
	const struct sl_manifest_line *l = &k->batches->line[i];
	const uint64_t first = k->range ? k->range[i].first : 0,
		       end = k->range ? k->range[i].end : l->survivors;
	const size_t bytes = k->selection->items.bytes;
	struct sl_checked_file f;
	enum sl_status s;

	SL_TRY(sl_checked_file_open(&f, k->dir, l->order_file, l->order_bytes, l->order_crc));
	if (first > end || end > f.map.bytes / bytes)
		s = sl_checked_file_differs(k->dir, l->order_file);
	else if (first == end) /* an empty file has no address */
		s = SL_OK;
	else
		s = upload_items(o, k, (const uint8_t *)f.map.at + (size_t)first * bytes,
			end - first, (uint32_t)(i / k->batches_per_file), u);
	if (s == SL_OK && !k->range)
		s = sl_checked_file_end(&f);
	sl_checked_file_close(&f);
	return s;
}

static enum sl_status upload(struct sl_device_order *o, const struct sl_order_keys *k)
{
	struct upload u = {.share = 0};

	for (size_t i = 0; i < k->batches->n; i++)
		SL_TRY(upload_batch(o, k, i, &u));
	return room_for_keys(o, &u) == 0 ? SL_OK : other_number(o);
}

enum sl_status sl_device_order_begin(struct sl_device_order *o,
	const struct sl_order_devices *devices, const struct sl_order_keys *keys)
{
	memset(o, 0, sizeof(*o));
	SL_TRY(get_memory(o, devices, keys->records));
	SL_TRY(upload(o, keys));
	return sl_global_sort(&o->sort, o->share, o->n_shares);
}

/* --- the result ------------------------------------------------------------------------------- */

enum sl_status sl_device_order_read(struct sl_device_order *o)
{
	const struct sl_global_share *s = &o->share[o->share_at];
	uint64_t left;

	while (o->at == s->n && o->share_at + 1 < o->n_shares) {
		s = &o->share[++o->share_at];
		o->at = 0;
	}
	left = s->n - o->at;
	o->taken = 0;
	o->at_hand = left < RECORDS ? (uint32_t)left : RECORDS;
	SL_TRY(use_share(o, o->share_at));
	SL_TRY(sl_copy(o->file, s->index_out + o->at, o->at_hand * sizeof(*o->file), s->stream));
	o->at += o->at_hand;
	return sl_stream_wait(s->stream);
}

void sl_device_order_end(struct sl_device_order *o)
{
	char message[SL_MESSAGE_BYTES];

	memcpy(message, sl_last_error(), sizeof(message));
	for (uint32_t i = 0; i < o->n_shares; i++) {
		if (!o->share[i].device || use_share(o, i) != SL_OK)
			continue;
		sl_stream_free(o->share[i].stream);
		sl_memory_give(SL_DEVICE, o->block[i]);
	}
	sl_memory_give(SL_PINNED, o->file);
	sl_set_last_error(message);
}
