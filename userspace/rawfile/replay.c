// SPDX-License-Identifier: GPL-2.0
/*
 * Reads raw files and passes them to a sequencer, as the recorder did: see rawfile.h.
 *
 * The input is untrusted: it is read through lib/buf.h, and every count is compared with the
 * available bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/private.h"
#include "lib/buf.h"
#include "lib/input.h"
#include "lib/map.h"
#include "rawfile/rawfile.h"
#include "sequence/sequencer.h"

struct replay {
	struct buf file;
	bool mapped; /* or read from a pipe; false: the memory is borrowed */
	size_t size;
	struct raw_header header;
	struct map pcs, starts; /* PC to struct symbol */
	bool ended;		/* END was found */
};

struct symbol {
	int n;
	struct sym_frame frame[]; /* names follow the array, in the same allocation */
};

void replay__destroy(struct replay *r)
{
	if (!r)
		return;
	if (r->mapped)
		munmap((void *)r->file.start, (size_t)(r->file.end - r->file.start));
	map__free(&r->pcs);
	map__free(&r->starts);
	free(r);
}

bool replay__ended(const struct replay *r)
{
	return r->ended;
}

const struct raw_header *replay__header(const struct replay *r)
{
	return &r->header;
}

/* ---- frames ---- */

static bool read_frame(struct buf *b, struct sym_frame *frame, char **names)
{
	uint32_t line, flags, func, file;
	const char *text;

	frame->pc = buf__u64(b);
	line = buf__u32(b);
	flags = buf__u32(b);
	func = buf__u32(b);
	file = buf__u32(b);
	text = buf__take(b, (size_t)func + file);
	if (!text)
		return false;
	buf__skip(b, -((size_t)func + file) & 7);
	frame->line = line;
	frame->wrapper = flags & 1;
	frame->elides = flags >> 1 & 1;
	frame->pushed = flags >> 2 & 3;
	frame->func = memcpy(*names, text, func);
	frame->file = memcpy(*names + func + 1, text + func, file);
	*names += (size_t)func + file + 2; /* the NULs are from calloc() */
	return !b->bad;
}

/* The names fit into the size of the chunk: its lengths and padding are longer than their NULs. */
static int read_frames(struct replay *r, struct buf *b)
{
	uint64_t pc = buf__u64(b);
	uint32_t n = buf__u32(b), start = buf__u32(b), i;
	struct map *map = start ? &r->starts : &r->pcs;
	struct symbol *symbol;
	char *names;

	if (b->bad || !pc || !n || n > SYM_INLINE_MAX || map__get(map, pc))
		return -EBADMSG;
	symbol = calloc(1, sizeof(*symbol) + n * sizeof(*symbol->frame) + buf__left(b));
	if (!symbol)
		return -ENOMEM;
	symbol->n = (int)n;
	names = (char *)&symbol->frame[n];
	for (i = 0; i < n; i++) {
		if (!read_frame(b, &symbol->frame[i], &names)) {
			free(symbol);
			return -EBADMSG;
		}
	}
	if (map__put(map, pc, symbol)) {
		free(symbol);
		return -ENOMEM;
	}
	return 0;
}

static int find_frames(void *ctx, uint64_t pc, struct sym_frame *frames)
{
	const struct replay *r = ctx;
	const struct symbol *symbol = map__get(&r->pcs, pc);

	if (!symbol)
		return 0;
	memcpy(frames, symbol->frame, (size_t)symbol->n * sizeof(*frames));
	return symbol->n;
}

static int find_start(void *ctx, uint64_t startpc, struct sym_frame *frame)
{
	const struct replay *r = ctx;
	const struct symbol *symbol = map__get(&r->starts, startpc);

	if (!symbol)
		return 0;
	*frame = symbol->frame[0];
	return 1;
}

void replay__symbolizer(struct replay *r, struct symbolizer *ret)
{
	*ret = (struct symbolizer){ .ctx = r, .frames = find_frames, .start = find_start };
}

/* ---- opening ---- */

#define INPUT_MAX (1ul << 30) /* bytes of a pipe */

/* A pipe cannot be mapped: reads it into anonymous memory, which is released in the same way. */
static void *read_pipe(int fd, size_t *ret_size)
{
	size_t size = 0, cap = 1 << 20;
	char *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n = 0;

	while (data != MAP_FAILED && size < INPUT_MAX) {
		n = read(fd, data + size, cap - size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		size += (size_t)n;
		if (size == cap) {
			data = mremap(data, cap, cap * 2, MREMAP_MAYMOVE);
			cap *= 2;
		}
	}
	*ret_size = size;
	return data;
}

static int map_file(struct replay *r, const char *path, struct error *error)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO), err;
	struct stat st;
	void *data;

	if (fd < 0 || fstat(fd, &st)) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return input__denied(path, err, error);
	}
	r->size = (size_t)st.st_size;
	if (S_ISREG(st.st_mode) && st.st_size)
		data = mmap(NULL, r->size, PROT_READ, MAP_PRIVATE, fd, 0);
	else
		data = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) ? read_pipe(fd, &r->size) :
								      NULL;
	err = -errno;
	close(fd);
	if (data == MAP_FAILED)
		return error__set(error, err, "%s: %s", path, strerror(-err));
	if (!data)
		return error__set(error, -EINVAL,
				  "%s is not a file of gotrace-bpf record --save-input", path);
	r->file = buf__make(data, r->size);
	r->mapped = true;
	return 0;
}

/* Takes over `r`, whose file is mapped or borrowed. */
static int open_replay(struct replay **ret, struct replay *r, const char *name, struct error *error)
{
	int err = raw_header__read(&r->file, name, &r->header, error);
	struct buf file = r->file;
	struct raw_chunk chunk;

	if (!err && r->header.t0 > GT_TIME_MAX)
		err = error__set(error, -EBADMSG, "%s is corrupt: it begins at %" PRIu64 " ns",
				 name, r->header.t0);
	while (!err && raw_chunk__next(&file, &chunk))
		if (chunk.type == RAW_FRAMES && read_frames(r, &chunk.data) == -ENOMEM)
			err = error__set(error, -ENOMEM, "out of memory");
	if (err) {
		replay__destroy(r);
		return err;
	}
	*ret = r;
	return 0;
}

int replay__open(struct replay **ret, const char *path, struct error *error)
{
	struct replay *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return error__set(error, -ENOMEM, "out of memory");
	err = map_file(r, path, error);
	if (!err)
		return open_replay(ret, r, path, error);
	replay__destroy(r);
	return err;
}

int replay__open_memory(struct replay **ret, const void *data, size_t size, const char *name,
			struct error *error)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return error__set(error, -ENOMEM, "out of memory");
	r->size = size;
	r->file = buf__make(data, size);
	return open_replay(ret, r, name, error);
}

/* ---- replaying ---- */

union record_copy {
	struct gt_record rec;
	unsigned char head[sizeof(struct gt_record) + GT_PAYLOAD_MAX];
	unsigned char bytes[sizeof(struct gt_record) + sizeof(struct gt_stack) + 8 * GT_STACK_MAX];
};

/* The record at the cursor has no tail, and enough bytes follow: one copy without branches. */
static size_t take_short(struct buf *b, union record_copy *ret)
{
	int payload;

	memcpy(ret->head, b->pos, sizeof(ret->head));
	payload = gt_payload_size(ret->rec.kind);
	if (payload < 0 || gt_tail_size(&ret->rec))
		return 0;
	buf__skip(b, sizeof(ret->rec) + (size_t)payload);
	return sizeof(ret->rec) + (size_t)payload;
}

/*
 * Copies the record at the cursor and advances: in an invalid file it may be unaligned, and the
 * file may change at any time. Returns its size, at most that of the copy; 0: none.
 */
static size_t take_record(struct buf *b, union record_copy *ret)
{
	size_t size = buf__left(b) < sizeof(ret->head) || b->bad ? 0 : take_short(b, ret);
	const void *data;

	if (size)
		return size;
	size = b->bad ? 0 : raw_record__size(b);
	data = buf__take(b, size);
	if (size > sizeof(*ret))
		size = sizeof(*ret);
	memset(&ret->rec, 0, sizeof(ret->rec));
	if (size)
		memcpy(ret->bytes, data, size);
	return size;
}

static int play_records(struct sequencer *seq, struct buf *b)
{
	union record_copy copy;
	uint64_t ring = buf__u64(b);
	unsigned int to = ring < GT_RINGS_ALL ? (unsigned int)ring : 0;
	int err = 0;
	size_t size;

	while (err != -ENOMEM && (size = take_record(b, &copy)))
		err = sequencer__record(seq, to, &copy.rec, size);
	return err == -ENOMEM ? err : 0;
}

/*
 * Size of held records in memory, as a multiple of the file size: queues grow by doubling and have
 * an index. In a recovered flight recorder buffer, the snapshots precede the records of their time,
 * all of which wait.
 */
#define HELD_TIMES 4

static int play_snapshot(struct sequencer *seq, struct raw_snapshots *both, struct buf *b,
			 const struct replay *r, uint64_t last)
{
	uint32_t which = 0;
	int err;

	buf__u32_at(b, 0, &which);
	raw_snapshots__add(both, b);
	if (which != 1)
		return 0;
	if (both->present[1] && both->snap[1].time_end > last)
		sequencer__may_hold(seq, (uint64_t)r->size * HELD_TIMES);
	err = sequencer__take_snapshots(seq, both->present[0] ? &both->snap[0] : NULL,
					both->present[1] ? &both->snap[1] : NULL);
	return err == -EALREADY ? 0 : err;
}

/* There may be any number of pairs; an incomplete one, or one that is too early, is ignored. */
static int play_resnapshot(struct sequencer *seq, struct raw_snapshots *both, struct buf *b)
{
	uint32_t which = 0;
	int err = 0;

	buf__u32_at(b, 0, &which);
	if (!which)
		raw_snapshots__free(both);
	raw_snapshots__add(both, b);
	if (which == 1 && both->present[0] && both->present[1])
		err = sequencer__take_resnapshots(seq, &both->snap[0], &both->snap[1]);
	if (which)
		raw_snapshots__free(both);
	return err == -EAGAIN ? 0 : err;
}

static void give_host_clock(struct sequencer *seq, struct buf *b)
{
	struct private_host_clock clock = { .time = buf__u64(b) };

	clock.synchronized = buf__u64(b);
	clock.max_error = buf__u64(b);
	clock.error = buf__u64(b);
	clock.shift = (int64_t)buf__u64(b);
	if (!b->bad)
		sequencer__host_clock(seq, &clock);
}

static void give_cpu_samples(struct sequencer *seq, struct buf *b)
{
	struct private_cpu_samples taken = { .period_ns = buf__u64(b) };

	taken.throttles = buf__u64(b);
	taken.throttled_ns = buf__u64(b);
	if (!b->bad)
		sequencer__cpu_samples(seq, &taken);
}

/* False: it is none that a trace can have, and is ignored. */
static bool read_time(struct buf *b, uint64_t *ret)
{
	uint64_t time = buf__u64(b);

	if (time > GT_TIME_MAX)
		return false;
	*ret = time;
	return true;
}

/* `both`: the pair of the initial state, and that after the latest loss. */
static int play_chunk(const struct replay *r, struct sequencer *seq, struct raw_snapshots both[2],
		      struct raw_chunk *chunk, uint64_t *last)
{
	uint64_t kind, count;

	switch (chunk->type) {
	case RAW_RECORDS:
		return play_records(seq, &chunk->data);
	case RAW_WATERMARK:
		return read_time(&chunk->data, last) ? sequencer__watermark(seq, *last) : 0;
	case RAW_SNAPSHOT:
		return play_snapshot(seq, &both[0], &chunk->data, r, *last);
	case RAW_RESNAPSHOT:
		return play_resnapshot(seq, &both[1], &chunk->data);
	case RAW_LOST:
		kind = buf__u64(&chunk->data);
		count = buf__u64(&chunk->data);
		if (!chunk->data.bad && kind < GT_KIND_END)
			sequencer__lost(seq, (unsigned int)kind, count);
		return 0;
	case RAW_HOST_CLOCK:
		give_host_clock(seq, &chunk->data);
		return 0;
	case RAW_CPU_SAMPLES:
		give_cpu_samples(seq, &chunk->data);
		return 0;
	case RAW_CLOCK:
		sequencer__clock_error(seq, buf__u64(&chunk->data));
		return 0;
	default:
		return 0; /* FRAMES were read before; types of later versions are ignored */
	}
}

int replay__play(struct replay *r, struct sequencer *seq, uint64_t *ret_end)
{
	struct raw_snapshots both[2] = {};
	uint64_t last = r->header.t0;
	struct buf file = r->file;
	struct raw_chunk chunk = {};
	int err;

	if (r->header.flags & RAW_NO_KERNEL)
		sequencer__no_kernel(seq);
	if (r->header.flags & RAW_CALLS_ONLY)
		sequencer__calls_only(seq);
	sequencer__max_names(seq, r->header.flags >> RAW_NAMES_SHIFT);
	err = sequencer__start(seq, r->header.t0, r->header.wall_ns);
	while (!err && !r->ended && raw_chunk__next(&file, &chunk)) {
		r->ended = chunk.type == RAW_END;
		if (r->ended)
			read_time(&chunk.data, &last);
		else
			err = play_chunk(r, seq, both, &chunk, &last);
	}
	raw_snapshots__free(&both[0]);
	raw_snapshots__free(&both[1]);
	*ret_end = last > r->header.t0 ? last : r->header.t0;
	return err;
}

int replay__run(struct replay *r, struct sequencer *seq)
{
	uint64_t end;
	int err = replay__play(r, seq, &end);

	return err ? err : sequencer__finish(seq, end);
}
