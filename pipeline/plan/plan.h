/*
 * plan.h - a configuration becomes a plan: all that is decided before the first particle.
 *
 * Input: a resolved configuration (struct sl_choices). Output: the recipe of the stages, the number
 * of threads and slots, and the bytes of memory and disk that the run needs. Requests that exceed
 * the free memory or disk are refused before the run starts, and the message states both sizes. The
 * plan is constant afterwards: the workspace (pipeline/run/run.h) allocates what it counts,
 * and nothing allocates after that.
 */
#ifndef SL_PIPELINE_PLAN_PLAN_H
#define SL_PIPELINE_PLAN_PLAN_H

#include "pipeline/config/config.h"
#include "pipeline/plan/limits/limits.h"
#include "pipeline/resolve/resolve.h"
#include "stages/formats/common/format.h"
#include "stages/formats/images/images.h"
#include "stages/host/host.h"

struct sl_json;
struct sl_manifest_line;

/* --- plan ------------------------------------------------------------------------------------- */

enum { SL_CONFIG_TEXT_BYTES = 1 << 16 };

/* Changes whenever any rule, or the digest, gives other bits: runs of different versions cannot be
 * resumed. */
enum { SL_RULES_VERSION = 3 };

/* Sizes in bytes, all computed before the first allocation. */
struct sl_memory_plan {
	size_t slot, slot_pinned; /* each */
	size_t slot_packed; /* each, at most: what a device has packed; allocated when it is there */
	size_t device_pipeline, device_pipeline_pinned; /* per pipeline: device, pinned host */
	size_t resident;   /* survivors of a batch that stay on the device, at most */
	size_t image;      /* per writer: parts of a file other than packed columns */
	size_t histograms; /* histogram sums over batches */
	size_t image_sum;  /* image of the run */
	size_t joined;     /* to make a joined file at the end of the run */
	size_t inputs;     /* lists that are read; allocated before the plan is made */
	size_t volume;     /* the data of the rules of a volume, read before the plan is made */
	size_t host;       /* total, with pinned memory */
	size_t device;     /* total of each device */
};

/*
 * The pilot computes some particles on one thread of the host, to predict survivors, time and
 * bytes. The particles that it counts are spread over the run. For a model that does not read its
 * particles, some batches are then computed and packed as by a run on the host; lists are only
 * read.
 */
struct sl_pilot {
	uint32_t particles;
	uint32_t survivors;
	double most_fraction; /* upper estimate of survivors: four standard errors above the mean */
	double ns;            /* processor time per particle, and in addition per batch */
	double batch_ns;
	double bytes; /* packed, per survivor; 0: not known */
	/* Of each field of the key: whether the column, and the field, differ between survivors. */
	struct sl_particle first; /* survivor */
	bool varies[SL_KEY_FIELDS_MAX], sorts[SL_KEY_FIELDS_MAX];
};

/* Something that a user should know before the run; it does not prevent the run. */
enum { SL_WARNINGS_MAX = 4 + SL_KEY_FIELDS_MAX };

enum { SL_CANDIDATES_MAX = 4 };

/* One mode and schedule of the choice that pipeline/run/autotune.c measures. */
struct sl_candidate {
	char name[32];
	enum sl_mode mode;
	struct sl_schedule schedule;
	struct sl_choice compact; /* staged mode only */
};

struct sl_plan {
	/* What the plan was made from. With a stop rule, recipe.n_batches is the maximum. */
	struct sl_choices choices;
	struct sl_config config; /* with the chosen run.batch and stop.min_batches */
	bool batch_is_auto;      /* run.batch is auto: the plan may make it smaller */
	struct sl_recipe recipe; /* its inputs stay open until sl_plan_free() */
	struct {
		struct sl_inputs *inputs; /* of the lists that particles start from; or NULL */
		struct sl_source_counts counts;
	} source;
	void *rules_data; /* the data of its rules (struct sl_model); owned; NULL: none */
	struct sl_machine machine;
	struct sl_file_facts facts;
	char *config_text;      /* all settings that determine the results, as YAML; owned */
	char *batch_config;     /* the same without run.particles; in the block of config_text */
	char to[SL_TEXT_BYTES]; /* the output directory */
	bool on_device;
	uint32_t n_candidates; /* 0: the configuration names the schedule */
	struct sl_candidate candidate[SL_CANDIDATES_MAX];
	const char *schedule_reason; /* why there is no choice of schedules, or "" */
	uint32_t n_devices; /* that the run uses, at most those of the choices; 0 on the host */
	struct sl_device device[SL_DEVICES_MAX]; /* all devices of the choices */
	uint32_t threads;
	uint32_t n_writers;
	uint32_t n_host_slots;
	uint32_t n_device_slots; /* batches on each device at a time; 0 on the host */
	struct sl_pilot pilot;
	struct sl_memory_plan memory;
	uint64_t disk_bytes;    /* upper bound, before compression */
	uint64_t disk_expected; /* as the pilot predicts it; compressed, if that was sampled */
	uint64_t disk_free;
	uint32_t n_warnings;
	char warning[SL_WARNINGS_MAX][SL_MESSAGE_BYTES];
};

/*
 * Makes the plan of a resolved configuration. Allocates only the plan, its text and its input
 * tables. The caller frees *plan with sl_plan_free(), also after a failure.
 */
enum sl_status sl_plan_make(
	const struct sl_config *config, const struct sl_choices *choices, struct sl_plan **plan);

/* Adds a warning, as long as there is space. */
void sl_plan_warn(struct sl_plan *plan, const char *format, ...) SL_PRINTF(2, 3);

/*
 * Makes device i of the plan current for the calling thread; does nothing for a plan on the host.
 */
enum sl_status sl_plan_use_device(const struct sl_plan *plan, uint32_t i);

/*
 * The facts of the files of batches. Their configuration has no run.particles, so that the files
 * stay as they are when the run is extended.
 */
struct sl_file_facts sl_plan_batch_facts(const struct sl_plan *plan);

/* Frees the plan and closes its input files. plan may be NULL. */
void sl_plan_free(struct sl_plan *plan);

/* For SL_CLOSED_BY: frees *plan. */
static inline void sl_plan_give(struct sl_plan **plan)
{
	sl_plan_free(*plan);
}

/* The numbers of the batches that the plan computes: all, or those of its part. */
struct sl_batch_range sl_plan_batches(const struct sl_plan *plan);

/* True if the plan computes a part of a run (--part); the recipe is that of the whole run. */
bool sl_plan_is_part(const struct sl_plan *plan);

/* A table with the columns of the plan's files and n rows but no data, by which formats size them. */
struct sl_table sl_plan_table(const struct sl_plan *plan, uint32_t n);

/*
 * True if the plan makes a list of all batches: output.joined, or a key that implies it. A part
 * makes none: that is done when the parts are joined.
 */
bool sl_plan_is_joined(const struct sl_plan *plan);

/*
 * What the order file of a batch has for each survivor: 8 bytes for the key if batches are merged
 * by it, then 8 bytes for the priority if the list is a sample. bytes = 0: the run has no such
 * files.
 */
struct sl_order_items {
	bool key, priority;
	uint32_t bytes;
};
struct sl_order_items sl_plan_order_items(const struct sl_plan *plan);

/* The suffix of these files. */
#define SL_ORDER_SUFFIX ".order"

/* The backend that compresses survivors: the device's, or the host's. */
const struct sl_backend *sl_plan_deflate(const struct sl_plan *plan);

/* True if the device packs survivors completely, so that host threads compress nothing. */
bool sl_plan_is_device_packed(const struct sl_plan *plan);

/* --- candidates ------------------------------------------------------------------------------- */

/*
 * The schedules that a run measures if transport.schedule is auto or measured.
 *
 * All candidates give the same bits. The first is histories. The plan has memory for each
 * of them, and pipeline/run/run.h measures them.
 */

/* Fills plan->candidate; n_candidates is 0 if the configuration names the schedule. */
void sl_candidates_make(struct sl_plan *plan, const struct sl_choices *choices);

/* The particles of one trial if `left` particles remain; 0: too few to repay the trials. */
uint64_t sl_candidates_trial(uint64_t left);

/* Copies the mode, schedule and compact backend of a candidate to recipe r. */
void sl_candidate_apply(struct sl_recipe *r, const struct sl_candidate *candidate);

/*
 * The backend that compacts active particles and survivors. With candidates it is the backend of
 * the staged ones. A fused plan has none (backend is NULL).
 */
const struct sl_choice *sl_plan_compact(const struct sl_plan *plan);

/* --- file_names ------------------------------------------------------------------------------- */

/*
 * The names of all files that a run writes: one naming scheme in one place.
 *
 * 	NAME_000012.h5        survivors of batch 12 (suffix of the format)
 * 	NAME_000012.bins      histograms of batch 12, if the run has any
 * 	NAME_000012.order     sort keys of batch 12, if the joined file needs them
 * 	NAME.xdmf             lets ParaView open the openPMD files
 * 	NAME.tallies          histograms of the whole run (HDF5)
 * 	NAME.png, .image.h5   image of the whole run
 * 	NAME.mcpl             all batches as one list, with output.joined
 *
 * Names are relative to the output directory.
 */

/*
 * The output directory of a configuration: output.to, or out/NAME; of a part, the directory in it
 * that is named after the part. --part is only accepted if that fits.
 */
void sl_output_directory_name(const struct sl_config *config, char to[SL_TEXT_BYTES]);

/* Sets the names of the files of a batch in its line; "" for files that the run does not write. */
void sl_batch_file_names(const struct sl_plan *plan, uint64_t batch, struct sl_manifest_line *line);

/* The files of a run that belong to no batch. */
enum sl_side_file {
	SL_SIDE_XDMF,
	SL_SIDE_STEPS,
	SL_SIDE_HISTOGRAMS,
	SL_SIDE_IMAGE,
	SL_SIDE_PNG,
	SL_SIDE_COUNT
};
const char *sl_side_file_name(
	const char *run, enum sl_side_file which, char name[SL_FILE_NAME_BYTES]);

/* The list of all batches of a run (output.joined). */
const char *sl_merged_list_name(
	const char *run, const struct sl_format *format, char name[SL_FILE_NAME_BYTES]);

/* The HDF5 file of the histograms of the run; false if the run makes none. */
bool sl_tallies_file_name(const struct sl_plan *plan, char name[SL_FILE_NAME_BYTES]);

/* --- host_slot -------------------------------------------------------------------------------- */

/*
 * The host memory of one batch in flight: its layout and its size.
 *
 * A run has more slots than threads (memory.c), so that a thread can start the next batch while a
 * writer still uses the slot of the previous one. If a device computes, the batch is in the memory
 * of a device pipeline (stages/device/device_pipeline.h), and the slot holds what was copied from
 * the device. Pinned memory is separate because only copies from the device need it.
 *
 * 	host     block  | index | table | records | columns | keep | place | key | states | bins | scratch |
 * 	                                          | packed ...                           |
 * 	device   block  | packed | bins | scratch |
 * 	         pinned | columns and records, if read | table | or streams packed on the device |
 *
 * On the host, the packed survivors take the memory of what nothing reads after the stage write.
 */

struct sl_host_slot {
	void *block, *pinned; /* the memory; owned by the workspace */
	struct sl_batch batch;
	struct sl_packed packed;
	struct sl_exec exec;
	uint64_t ns[SL_STAGE_COUNT]; /* duration of each stage of the batch */
	uint64_t cpu_ns;             /* processor time of all stages on the host */
	uint64_t transfer_ns;        /* duration of copies from the device */
	uint64_t pack_ns;            /* duration of compression */
};

/*
 * Lays out the slot of a batch of recipe r in the two arenas and sets its pointers. With arenas
 * that have no memory it only measures: their used fields are the sizes. r is the plan's recipe,
 * or the plan's recipe with another schedule.
 */
void sl_host_slot_lay_out(struct sl_arena *block, struct sl_arena *pinned,
	const struct sl_plan *plan, const struct sl_recipe *r, struct sl_host_slot *s);

/* --- memory ----------------------------------------------------------------------------------- */

/*
 * Computes the memory of a plan, reduces it until it fits, or refuses the plan.
 *
 * Sizes are exact, because the same layout functions measure the memory and place pointers in it.
 * Settings at auto (run.threads, run.slots, run.batch) are chosen to fit. The number of concurrent
 * batches is reduced first, because it changes no byte of the results; then the batch is halved. If
 * the schedule is open, the memory suffices for every candidate; if it cannot, the schedule is
 * histories.
 */

/*
 * Chooses threads, slots and, if necessary, the batch size; sets plan->memory. If batches of a list
 * do not fit on the host as they are, counts their survivors first, so that they need memory for
 * these only. Fails only if an input cannot be read.
 */
enum sl_status sl_memory_plan_fit(struct sl_plan *plan);

/* Threads that the configuration asks for: run.threads, or as many as the machine has cores. */
uint32_t sl_memory_plan_threads(const struct sl_plan *plan);

/* SL_HOST_MEMORY or SL_DEVICE_MEMORY if the plan does not fit; the message states what would. */
enum sl_status sl_memory_plan_check(const struct sl_plan *plan);

/* The particles in the largest batch: less than run.batch if the run has fewer particles. */
uint32_t sl_memory_plan_batch(const struct sl_plan *plan);

/* The bytes that a slot of the host may need. */
size_t sl_memory_plan_slot(const struct sl_plan *plan);

/* The most survivors of a batch: fewer than its particles if they were counted. */
uint32_t sl_memory_plan_rows(const struct sl_plan *plan);

/*
 * The size of batches, by doubling run.batch, that divides the run into at most that many and fits
 * in the free memory; if none does, the largest that fits. run.batch itself if no larger one fits.
 */
uint32_t sl_memory_plan_larger_batch(const struct sl_plan *plan, uint64_t batches);

/* --- pilot ------------------------------------------------------------------------------------ */

/* Computes some particles of a run, to predict its survivors, its time and its bytes. */

/* Counts a particle of the pilot, with its final fate. */
void sl_pilot_add(struct sl_pilot *p, const struct sl_recipe *r, struct sl_particle *particle);

/*
 * Counts the survivors in plan->pilot; of lists also the time. Adds a warning for each field of the
 * key that sorts nothing, and for too many threads.
 */
enum sl_status sl_pilot_run(struct sl_plan *plan);

/*
 * Predicts time and bytes, unless they are known already. This takes as long as to compute 40,000
 * particles, so a run does it only if its disk may be too small. Lists are not sampled.
 */
enum sl_status sl_pilot_sample(struct sl_plan *plan);

/* --- recipe ----------------------------------------------------------------------------------- */

/*
 * Choices become the recipe of the stages.
 *
 * The stages know no configuration: what they do not find in the recipe cannot change a result. The
 * recipe gets its inputs (sl_plan_open_inputs()) after sl_recipe_make() and before sl_recipe_choose_kept(),
 * and its kernels when the devices are opened.
 */

/*
 * Copies to r, which is all zero, what the stages need. Allocates nothing. SL_USAGE if the
 * environment variable SL_LEVEL, which selects loops of another instruction level for tests, names
 * none of this processor; or the error of the format for records that it cannot describe.
 */
enum sl_status sl_recipe_make(
	const struct sl_choices *c, const struct sl_config *config, struct sl_recipe *r);

/*
 * With the inputs of r open: chooses the layout of the source records that batches keep (none, if
 * the output is not MCPL), and the columns of which batches on the host need only the digests.
 */
void sl_recipe_choose_kept(const struct sl_choices *c, struct sl_recipe *r);

/* --- input files ------------------------------------------------------------------------------ */

/*
 * If the model reads its particles from files: opens the files (sl_plan_free() closes them) and
 * compares their CRC-32 with model.list.checksums. Fills in model.list.checksums if it is absent.
 */
enum sl_status sl_plan_open_inputs(struct sl_plan *plan);

/* Allocates and reads the data of the rules, if the model has any (struct sl_model). */
enum sl_status sl_plan_load_data(struct sl_plan *plan);

/* Reads particle id and sets its final fate. */
enum sl_status sl_inputs_particle(const struct sl_recipe *r, uint64_t id, struct sl_particle *p);

/*
 * Reads pilot->particles of the particles, which are all of them or a multiple of SL_PILOT_GROUP;
 * counts survivors and sets the time. They are groups of neighbours that are spread evenly over the
 * lists, because a list can be sorted, and few places of it are read. If a list must be
 * decompressed, they are the first ones. *variance is that of the share of survivors, from the
 * differences between groups.
 */
enum { SL_PILOT_GROUP = 32 };
enum sl_status sl_inputs_pilot(const struct sl_recipe *r, struct sl_pilot *pilot, double *variance);

/* Makes r refer to the particles in columns, the first of which has the id first_id. */
void sl_inputs_set_columns(
	struct sl_recipe *r, uint64_t first_id, const struct sl_columns *columns);

/* The files of the model list, or of a source; NULL: none. */
const struct sl_inputs *sl_plan_inputs(const struct sl_plan *plan);

/*
 * Writes the members "list_source", "inputs" and "renamed_blobs" of run.json. Their lines
 * (pipeline/print/result.h); a run can have thousands of files, so at most SL_INPUTS_SHOWN are
 * printed.
 */
void sl_inputs_json(struct sl_json *j, const struct sl_plan *plan);
#define SL_INPUTS_SHOWN "16"
#define SL_INPUT_LINE                                          \
	"{file}: {particles~particle}[; {notice}][; {unread}]" \
	"[{?metadata_left_out}; comments and blobs are not copied to the output]"
#define SL_BLOB_LINE                                              \
	"{file}: blob '{blob}' has the name of a different blob;" \
	" the output appends _{number} to the name"

/* --- disk ------------------------------------------------------------------------------------- */

/*
 * Predicts the bytes that a run writes, and refuses a run that the disk surely cannot hold.
 *
 * The prediction is an upper bound before compression, and an estimate with the compression that
 * the pilot has found. It needs the number of batches that are on the disk already; a joined file
 * takes the space of all batches again.
 */

/* Opens the folder `to`, or the nearest one above it that can be opened; *is_to: it is `to`. */
enum sl_status sl_dir_open_nearest(const char *to, struct sl_dir *dir, bool *is_to);

/* --- resources -------------------------------------------------------------------------------- */

/*
 * Checks before a run whether it fits in memory and on the disk.
 *
 * The disk is checked separately from the plan, because the prediction needs the pilot and, for a
 * resumed run, the batches that are already committed.
 */

/*
 * Runs the pilot, adds the warnings and returns SL_HOST_MEMORY, SL_DEVICE_MEMORY or SL_DISK if the
 * run does not fit. done is the number of batches that are already on the disk. predict: also the
 * time and the bytes of the run.
 */
enum sl_status sl_plan_check_resources(struct sl_plan *plan, uint64_t done, bool predict);

/*
 * sl_plan_check_resources() for a run without files. keep_all: the caller keeps all survivors in
 * memory, or in device memory if they are resident, so that they must fit as well.
 */
enum sl_status sl_plan_check_in_memory(struct sl_plan *plan, bool keep_all);

#endif
