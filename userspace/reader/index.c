// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the index of a trace: see index.h.
 *
 * Upstream: the bytes of the index, through lib/buf.h. Downstream: reader/reader.h, which resumes
 * at the position found. The directory is read when the index is opened, a state when it is
 * requested.
 */
#include "reader/index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/array.h"
#include "lib/buf.h"
#include "lib/regular.h"
#include "reader/index_impl.h"
#include "reader/order_save.h"

struct index {
	int fd;		       /* -1: the index is in memory */
	const uint8_t *memory; /* borrowed */
	uint64_t size;
	bool sums;
	int64_t start;
	struct index_generation *generation;
	size_t n, cap;
	struct index_count *counts; /* of all generations */
	size_t ncounts, counts_cap;
};

/* The last bytes of the file. */
struct index_end {
	uint64_t offset, len; /* of the directory */
	uint32_t sum;
	struct index_trace trace;
};

uint32_t index__sum(uint32_t sum, const void *data, size_t len)
{
	return (uint32_t)crc32_z(sum, data, len);
}

char *index__name(const char *path)
{
	char *name;

	return asprintf(&name, "%s.idx", path) < 0 ? NULL : name;
}

/* identity of the trace */

static int sum_ends(int fd, uint64_t size, uint32_t *ret)
{
	size_t len = size < INDEX_TRACE_END ? size : INDEX_TRACE_END;
	uint8_t *ends = malloc(2 * INDEX_TRACE_END);
	int err = ends ? 0 : -ENOMEM;

	err = err ?: regular__read_at(fd, 0, ends, len);
	err = err ?: regular__read_at(fd, size - len, ends + len, len);
	if (!err)
		*ret = index__sum(0, ends, 2 * len);
	free(ends);
	return err;
}

int index_trace__read(struct index_trace *ret, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err = 0;
	struct index_trace trace;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err = error__set(error, -errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = error__set(error, -ESPIPE, "%s: not a regular file", path);
	if (!err) {
		trace.size = (uint64_t)st.st_size;
		trace.mtime = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
		err = sum_ends(fd, trace.size, &trace.sum);
		if (err)
			error__set(error, err, "%s: %s", path, strerror(-err));
	}
	if (fd >= 0)
		close(fd);
	if (!err)
		*ret = trace;
	return err;
}

/* the directory */

static int broken(struct error *error, const char *what)
{
	return error__set(error, -EBADMSG, "the index is corrupt: %s", what);
}

/* Reads bytes of the index. The caller frees *ret_free after use. */
static int fetch(const struct index *ix, uint64_t offset, uint64_t len, struct buf *ret,
		 void **ret_free, struct error *error)
{
	void *data;
	int err;

	if (offset > ix->size || len > ix->size - offset)
		return broken(error, "a section is outside of the file");
	*ret_free = NULL;
	if (ix->memory) {
		*ret = buf__make(ix->memory + offset, len);
		return 0;
	}
	data = malloc(len ? len : 1);
	err = data ? regular__read_at(ix->fd, offset, data, len) : -ENOMEM;
	if (err) {
		free(data);
		return error__set(error, err, "cannot read the index: %s", strerror(-err));
	}
	*ret = buf__make(data, len);
	*ret_free = data;
	return 0;
}

/* Reads a part of the index and verifies its checksum. */
static int fetch_summed(const struct index *ix, uint64_t offset, uint64_t len, uint32_t sum,
			struct buf *ret, void **ret_free, struct error *error)
{
	int err = fetch(ix, offset, len, ret, ret_free, error);

	if (!err && ix->sums && index__sum(0, ret->start, len) != sum) {
		free(*ret_free);
		return broken(error, "checksum mismatch");
	}
	return err;
}

static int read_end(const struct index *ix, struct index_end *ret, struct error *error)
{
	struct buf b;
	void *data;
	int err;

	if (ix->size < INDEX_MAGIC_LEN + INDEX_END_LEN)
		return broken(error, "the file is too short");
	err = fetch(ix, 0, INDEX_MAGIC_LEN, &b, &data, error);
	if (err)
		return err;
	err = memcmp(b.start, INDEX_MAGIC, INDEX_MAGIC_LEN);
	free(data);
	if (err)
		return broken(error, "not an index, or one of another version");
	err = fetch(ix, ix->size - INDEX_END_LEN, INDEX_END_LEN, &b, &data, error);
	if (err)
		return err;
	ret->offset = buf__u64(&b);
	ret->len = buf__u64(&b);
	ret->sum = buf__u32(&b);
	buf__u32(&b);
	ret->trace.size = buf__u64(&b);
	ret->trace.mtime = (int64_t)buf__u64(&b);
	ret->trace.sum = buf__u32(&b);
	buf__u32(&b);
	if (ix->sums && index__sum(0, b.start, INDEX_END_SUM) != buf__u32(&b))
		err = broken(error, "checksum mismatch");
	free(data);
	return err;
}

static int parse_counts(struct index *ix, struct index_generation *g, struct buf *b)
{
	uint64_t n = buf__uleb(b), type;

	for (; n && !b->bad; n--) {
		if (array__grow(&ix->counts, ix->ncounts, &ix->counts_cap, sizeof(*ix->counts)))
			return -ENOMEM;
		type = buf__uleb(b);
		if (type >= EV_END || !spec__event((unsigned int)type))
			b->bad = true;
		ix->counts[ix->ncounts++] = (struct index_count){ buf__uleb(b), (uint8_t)type };
		g->counts++;
	}
	return 0;
}

static int parse_generation(struct index *ix, struct buf *b)
{
	struct index_generation *g;
	int err = array__grow(&ix->generation, ix->n, &ix->cap, sizeof(*ix->generation));

	if (err)
		return err;
	g = &ix->generation[ix->n++];
	*g = (struct index_generation){
		.place.offset = buf__uleb(b),
	};
	g->place.generation = buf__uleb(b);
	g->place.syncs = (unsigned int)buf__uleb(b);
	g->place.last_time = (int64_t)buf__uleb(b);
	g->sync = (int64_t)buf__uleb(b);
	g->first = (int64_t)buf__uleb(b);
	g->last = (int64_t)buf__uleb(b);
	g->events = buf__uleb(b);
	err = parse_counts(ix, g, b);
	g->state_offset = buf__uleb(b);
	g->state_len = buf__uleb(b);
	g->state_sum = (uint32_t)buf__uleb(b);
	return err;
}

static int parse_directory(struct index *ix, struct buf *b)
{
	const struct index_count *count;
	uint64_t n;
	int err = 0;

	ix->start = (int64_t)buf__uleb(b);
	for (n = buf__uleb(b); n && !err && !b->bad; n--)
		err = parse_generation(ix, b);
	if (b->bad || !ix->n || !ix->generation[0].state_len)
		return err ?: -EBADMSG;
	count = ix->counts;
	for (size_t i = 0; i < ix->n; i++) {
		ix->generation[i].count = count;
		count += ix->generation[i].counts;
	}
	return err;
}

/* Takes ownership of ix. Checks that it belongs to `trace`, if that is not NULL. */
static int load(struct index *ix, const struct index_trace *trace, struct index **ret,
		struct error *error)
{
	struct index_end end = {};
	void *data = NULL;
	struct buf b;
	int err = read_end(ix, &end, error);

	if (!err && trace && !index_trace__same(trace, &end.trace))
		err = error__set(error, -ESTALE, "the trace has changed since the index was made");
	if (!err)
		err = fetch_summed(ix, end.offset, end.len, end.sum, &b, &data, error);
	if (!err) {
		err = parse_directory(ix, &b);
		if (err == -EBADMSG)
			broken(error, "invalid directory");
		free(data);
	}
	if (err)
		index__destroy(ix);
	else
		*ret = ix;
	return err;
}

int index__open(struct index **ret, const char *path, struct error *error)
{
	struct index *ix = calloc(1, sizeof(*ix));
	char *name = index__name(path);
	struct index_trace trace;
	struct stat st = {};
	int err = 0;

	if (!ix || !name) {
		free(ix);
		free(name);
		return error__set(error, -ENOMEM, "out of memory");
	}
	ix->sums = true;
	ix->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (ix->fd < 0 || fstat(ix->fd, &st))
		err = error__set(error, -errno, "%s: %s", name, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		err = broken(error, "not a regular file");
	free(name);
	if (!err)
		err = index_trace__read(&trace, path, error);
	if (err) {
		index__destroy(ix);
		return err;
	}
	ix->size = (uint64_t)st.st_size;
	return load(ix, &trace, ret, error);
}

int index__parse(struct index **ret, const void *data, size_t len, bool sums, struct error *error)
{
	struct index *ix = calloc(1, sizeof(*ix));

	if (!ix)
		return error__set(error, -ENOMEM, "out of memory");
	ix->fd = -1;
	ix->memory = data;
	ix->size = len;
	ix->sums = sums;
	return load(ix, NULL, ret, error);
}

void index__destroy(struct index *ix)
{
	if (!ix)
		return;
	if (ix->fd >= 0)
		close(ix->fd);
	free(ix->generation);
	free(ix->counts);
	free(ix);
}

int64_t index__start(const struct index *ix)
{
	return ix->start;
}

size_t index__generations(const struct index *ix)
{
	return ix->n;
}

const struct index_generation *index__generation(const struct index *ix, size_t i)
{
	return &ix->generation[i];
}

/* states */

static int load_string(struct intern *in, struct buf *b, uint32_t *ret)
{
	uint64_t len = buf__uleb(b);
	const char *text = len <= TRACE_STRING_MAX ? buf__take(b, len) : NULL;

	if (!text)
		b->bad = true;
	return text ? intern__text(in, (struct trace_string){ text, (uint32_t)len }, ret) : 0;
}

/* Interning assigns ids from 1 in the order of the file, since all functions are different. */
static int load_functions(struct start_functions *o, struct buf *b)
{
	struct intern_frame frame;
	uint64_t n;
	int err = 0;

	for (n = buf__uleb(b); n && !err && !b->bad; n--) {
		frame = (struct intern_frame){ .pc = buf__uleb(b) };
		frame.line = (uint32_t)buf__uleb(b);
		err = load_string(o->in, b, &frame.func);
		err = err ?: load_string(o->in, b, &frame.file);
		if (!err && !b->bad && !intern__stack(o->in, &frame, 1))
			err = -ENOMEM;
	}
	return err;
}

static int load_start_functions(struct start_functions *o, struct buf *b)
{
	uint64_t n, g = 0, function;
	int err = load_functions(o, b);

	for (n = err ? 0 : buf__uleb(b); n && !err && !b->bad; n--) {
		g += buf__uleb(b);
		function = buf__uleb(b);
		if (function > intern__stacks(o->in))
			b->bad = true;
		else
			err = start_functions__set(o, g, (uint32_t)function);
	}
	return err ?: b->bad ? -EBADMSG : 0;
}

static int load_state(const struct index *ix, const struct index_generation *g, struct order *state,
		      struct start_functions *functions, struct error *error)
{
	void *data = NULL;
	struct buf b;
	int err = fetch_summed(ix, g->state_offset, g->state_len, g->state_sum, &b, &data, error);

	if (err)
		return err;
	err = order__load(state, &b);
	err = err ?: load_start_functions(functions, &b);
	free(data);
	return err == -EBADMSG ? broken(error, "invalid state") : err;
}

int index__place(const struct index *ix, int64_t time, struct reader_place *ret,
		 struct order *ret_state, struct start_functions *ret_functions,
		 struct error *error)
{
	const struct index_generation *g = ix->generation;
	struct start_functions functions = {};
	struct order state;
	int err;

	for (size_t i = 1; i < ix->n && ix->generation[i].sync <= time; i++)
		if (ix->generation[i].state_len)
			g = &ix->generation[i];
	order__init(&state);
	err = start_functions__init(&functions);
	if (!err)
		err = load_state(ix, g, &state, &functions, error);
	if (err) {
		order__deinit(&state);
		start_functions__deinit(&functions);
		return error__set(error, err, "out of memory");
	}
	*ret = g->place;
	*ret_state = state;
	*ret_functions = functions;
	return 0;
}
