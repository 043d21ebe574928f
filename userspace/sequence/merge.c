// SPDX-License-Identifier: GPL-2.0
/*
 * The k-way merge of merge.h: one sorted queue per ring, and a heap of their heads.
 *
 * Upstream: sequencer.c, with records in the order in which capture/drain.c or rawfile/replay.c
 * read them. Downstream: state.c, which relies on the order of time. Records are copied, because
 * the memory of a ring is returned to the probes at once; a copy is kept until the watermark has
 * passed it.
 */
#include "sequence/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gotrace/config.h"
#include "lib/array.h"
#include "lib/heap.h"

/* With the tid, so that a search for a thread's records reads this array alone. */
struct entry {
	uint64_t time;
	uint32_t at; /* offset of the record's copy in the ring's bytes, in words */
	uint32_t tid;
};

#define WORD	  8 /* sizes of records are multiples of this */
#define BYTES_MAX ((uint64_t)UINT32_MAX * WORD)
#define HINTS	  64

#define WHOLE_WORDS(number, NAME, name, payload, ...)                                              \
	_Static_assert(sizeof(struct gt_##payload) % WORD == 0, #name);
GT_KINDS(WHOLE_WORDS)

#define GAP_NS	 1000000ull /* a number that is only late arrives within this time */
#define GAPS_MAX 256	    /* per ring, that may still be filled */

/* Numbers seq ... seq + n - 1 have not arrived yet. */
struct gap {
	uint32_t seq, n;
	uint64_t from, to;
};

struct queue {
	struct entry *entry;
	size_t head, n, cap; /* entry[head .. n) are queued */
	unsigned char *bytes;
	size_t len, bytes_cap;
	uint32_t first_seq, last_seq;
	uint64_t received;
	uint64_t last_time; /* the latest time so far */
	struct gap *gap;    /* oldest first */
	unsigned int gaps;
};

struct head {
	uint64_t time; /* of the queue's first entry */
	unsigned int queue;
};

struct merge {
	struct queue queue[GT_RINGS_ALL];
	unsigned int queues;	/* number of queues ever used */
	uint64_t bytes_max;	/* memory limit of all queues */
	struct merge_gap early; /* gaps beyond GAPS_MAX, combined into one */
	/* A binary heap of the queues that have entries, built for the first request. */
	struct head heap[GT_RINGS_ALL];
	unsigned int heads;
	bool heap_is_made;
	uint8_t hint[HINTS]; /* by tid: the queue in which merge__ahead() last found a hit */
};

_Static_assert(GT_RINGS_ALL <= UINT8_MAX, "a hint is the number of a queue");

struct merge *merge__create(void)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (m)
		m->bytes_max = MERGE_BYTES_MAX;
	return m;
}

void merge__may_hold(struct merge *m, uint64_t bytes)
{
	if (bytes > m->bytes_max)
		m->bytes_max = bytes;
}

void merge__destroy(struct merge *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->queues; i++) {
		free(m->queue[i].entry);
		free(m->queue[i].bytes);
		free(m->queue[i].gap);
	}
	free(m);
}

/* False: the queues have reached their memory limit. */
static bool may_grow(const struct merge *m, size_t more)
{
	return merge__memory(m) + more <= m->bytes_max;
}

static size_t record_size(const void *rec)
{
	return sizeof(struct gt_record) + gt_payload_size(((const struct gt_record *)rec)->kind);
}

static int queue__reserve(const struct merge *m, struct queue *q, size_t size)
{
	if (q->len + size > BYTES_MAX)
		return -ENOBUFS;
	if (q->n == q->cap && !may_grow(m, q->cap * sizeof(*q->entry)))
		return -ENOBUFS;
	if (array__grow(&q->entry, q->n, &q->cap, sizeof(*q->entry)))
		return -ENOMEM;
	if (q->len + size > q->bytes_cap && !may_grow(m, q->bytes_cap))
		return -ENOBUFS;
	return array__grow(&q->bytes, q->len + size - 1, &q->bytes_cap, 1);
}

static void early__add(struct merge_gap *early, const struct gap *gap)
{
	if (!early->count || gap->from < early->from)
		early->from = gap->from;
	if (gap->to > early->to)
		early->to = gap->to;
	early->count += gap->n;
}

static void queue__drop_gap(struct queue *q, unsigned int i)
{
	memmove(&q->gap[i], &q->gap[i + 1], (--q->gaps - i) * sizeof(*q->gap));
}

static void queue__open_gap(struct merge *m, struct queue *q, uint32_t seq, uint32_t n, uint64_t to)
{
	struct gap gap = { seq, n, q->last_time < to ? q->last_time : to, to };

	if (!q->gap)
		q->gap = calloc(GAPS_MAX, sizeof(*q->gap));
	if (!q->gap || q->gaps == GAPS_MAX)
		early__add(&m->early, q->gap ? &q->gap[0] : &gap);
	if (!q->gap)
		return;
	if (q->gaps == GAPS_MAX)
		queue__drop_gap(q, 0);
	q->gap[q->gaps++] = gap;
}

/* The number was only late: what remains of its gap is one gap or two. */
static void queue__fill_gap(struct merge *m, struct queue *q, uint32_t seq)
{
	for (unsigned int i = q->gaps; i-- > 0;) {
		struct gap *gap = &q->gap[i];
		uint32_t before = seq - gap->seq, after = gap->n - before - 1;

		if (before >= gap->n)
			continue;
		gap->n = before;
		if (after && before && q->gaps == GAPS_MAX)
			early__add(&m->early, &(struct gap){ 0, after, gap->from, gap->to });
		else if (after && before) {
			memmove(gap + 1, gap, (q->gaps++ - i) * sizeof(*gap));
			gap[1].seq = seq + 1;
			gap[1].n = after;
		} else if (after) {
			gap->seq = seq + 1;
			gap->n = after;
		} else if (!before) {
			queue__drop_gap(q, i);
		}
		return;
	}
}

static struct queue *merge__queue(struct merge *m, unsigned int ring)
{
	if (ring >= m->queues)
		m->queues = ring + 1;
	return &m->queue[ring];
}

/* A record may follow a neighbour with a higher number: widen the range in both directions. */
void merge__count(struct merge *m, unsigned int ring, const struct gt_record *rec)
{
	struct queue *q = merge__queue(m, ring);
	uint32_t seq = rec->seq;

	if (!q->received++) {
		q->first_seq = q->last_seq = seq;
	} else if ((int32_t)(seq - q->last_seq) > 0) {
		if (seq - q->last_seq > 1)
			queue__open_gap(m, q, q->last_seq + 1, seq - q->last_seq - 1, rec->time);
		q->last_seq = seq;
	} else if ((int32_t)(seq - q->first_seq) < 0) {
		q->first_seq = seq;
	} else if (q->gaps) {
		queue__fill_gap(m, q, seq);
	}
	if (rec->time > q->last_time)
		q->last_time = rec->time;
}

static struct gt_record *queue__record(const struct queue *q, size_t entry)
{
	return (struct gt_record *)(q->bytes + (size_t)q->entry[entry].at * WORD);
}

static bool is_hit(const struct gt_record *rec)
{
	return rec->kind && rec->kind != GT_SAMPLE && rec->kind != GT_SOCKET &&
	       !gt_kind_is_kernels(rec->kind);
}

int merge__add(struct merge *m, unsigned int ring, const struct gt_record *rec, size_t size)
{
	struct queue *q;
	size_t i;
	int err;

	if (ring >= GT_RINGS_ALL)
		return -EINVAL;
	q = merge__queue(m, ring);
	m->heap_is_made = false;
	err = queue__reserve(m, q, size);
	if (err)
		return err;
	memcpy(q->bytes + q->len, rec, size);
	for (i = q->n; i > q->head && q->entry[i - 1].time > rec->time; i--)
		q->entry[i] = q->entry[i - 1];
	q->entry[i] = (struct entry){ rec->time, (uint32_t)(q->len / WORD), rec->tid };
	q->n++;
	q->len += size;
	return 0;
}

int merge__put(struct merge *m, unsigned int ring, const struct gt_record *rec, size_t size)
{
	int err = merge__add(m, ring, rec, size);

	if (!err)
		merge__count(m, ring, rec);
	return err;
}

uint64_t merge__time_after(const struct merge *m, unsigned int ring, uint32_t tid, uint64_t time)
{
	const struct queue *q = &m->queue[ring < GT_RINGS_ALL ? ring : 0];

	for (size_t i = q->n; i > q->head && q->entry[i - 1].time > time; i--) {
		const struct gt_record *rec = queue__record(q, i - 1);

		if (q->entry[i - 1].tid == tid && rec->kind && rec->kind != GT_SAMPLE)
			return rec->time;
	}
	return time;
}

/* At equal times the ring with the lower number comes first. */
static inline bool is_earlier(const struct head *a, const struct head *b)
{
	return a->time < b->time || (a->time == b->time && a->queue < b->queue);
}

DEFINE_HEAP(heap, struct head, is_earlier)

static void make_heap(struct merge *m)
{
	m->heads = 0;
	for (unsigned int i = 0; i < m->queues; i++) {
		const struct queue *q = &m->queue[i];

		if (q->head < q->n)
			m->heap[m->heads++] = (struct head){ q->entry[q->head].time, i };
	}
	for (unsigned int i = m->heads / 2; i-- > 0;)
		heap__down(m->heap, m->heads, i);
	m->heap_is_made = true;
}

static struct gt_record *pop(struct merge *m, uint64_t watermark)
{
	struct gt_record *rec;
	struct queue *q;

	if (!m->heap_is_made)
		make_heap(m);
	if (!m->heads || m->heap[0].time > watermark)
		return NULL;
	q = &m->queue[m->heap[0].queue];
	rec = queue__record(q, q->head++);
	if (q->head < q->n)
		m->heap[0].time = q->entry[q->head].time;
	else
		m->heap[0] = m->heap[--m->heads];
	heap__down(m->heap, m->heads, 0);
	return rec;
}

const struct gt_record *merge__next(struct merge *m, uint64_t watermark)
{
	const struct gt_record *rec;

	do
		rec = pop(m, watermark);
	while (rec && !rec->kind);
	return rec;
}

void merge__rewind(struct merge *m)
{
	for (unsigned int i = 0; i < m->queues; i++)
		m->queue[i].head = 0;
	m->heap_is_made = false;
}

/* ---- looking ahead ---- */

struct found {
	struct gt_record *rec;
	unsigned int queue;
};

/* Looks for an earlier hit in a queue; of hits at one time, that of the first queue counts. */
static bool search(struct merge *m, unsigned int queue, uint32_t tid, uint64_t until,
		   uint64_t *left, struct found *best)
{
	const struct queue *q = &m->queue[queue];

	if (best->rec && best->rec->time < until)
		until = best->rec->time;
	for (size_t e = q->head; e < q->n && q->entry[e].time <= until; e++) {
		struct gt_record *rec;

		if (!*left)
			return false;
		--*left;
		if (q->entry[e].tid != tid)
			continue;
		rec = queue__record(q, e);
		if (!is_hit(rec))
			continue;
		if (!best->rec || rec->time < best->rec->time || queue < best->queue)
			*best = (struct found){ rec, queue };
		break;
	}
	return true;
}

/* Begins where the thread was found last, so that the other queues are searched up to there only. */
struct gt_record *merge__ahead(struct merge *m, uint32_t tid, uint64_t watermark, uint64_t *left)
{
	uint8_t *hint = &m->hint[tid % HINTS];
	unsigned int first = *hint;
	struct found best = {};

	if (!search(m, first, tid, watermark, left, &best))
		return NULL;
	for (unsigned int i = 0; i < m->queues; i++)
		if (i != first && !search(m, i, tid, watermark, left, &best))
			return NULL;
	if (best.rec)
		*hint = (uint8_t)best.queue;
	return best.rec;
}

void merge__take(struct gt_record *rec)
{
	rec->kind = 0;
}

bool merge__has(const struct merge *m, unsigned int kind, uint64_t object, uint64_t time)
{
	const struct gt_record *rec;

	for (unsigned int i = 0; i < m->queues; i++) {
		const struct queue *q = &m->queue[i];

		for (size_t e = q->head; e < q->n && q->entry[e].time < time; e++) {
			rec = queue__record(q, e);
			if (rec->kind == kind && rec->object == object)
				return true;
		}
	}
	return false;
}

const struct gt_record *merge__first_of(const struct merge *m, uint64_t object, uint64_t time)
{
	const struct gt_record *ret = NULL, *rec;

	for (unsigned int i = 0; i < m->queues; i++) {
		const struct queue *q = &m->queue[i];

		for (size_t e = q->head; e < q->n && q->entry[e].time < time; e++) {
			rec = queue__record(q, e);
			if (rec->kind && rec->object == object) {
				ret = rec;
				time = rec->time;
				break;
			}
		}
	}
	return ret;
}

bool merge__is_crowded(const struct merge *m)
{
	size_t sum = 0;

	for (unsigned int i = 0; i < m->queues; i++)
		sum += m->queue[i].len + m->queue[i].n * sizeof(struct entry);
	return sum > m->bytes_max / 2;
}

/* A few queued records with wrong times must not keep the memory of all later ones. */
static void queue__compact(struct queue *q)
{
	size_t used = 0, len = 0, size;
	unsigned char *bytes;

	for (size_t e = 0; e < q->n; e++)
		used += record_size(queue__record(q, e));
	if (q->len < 65536 || q->len / 4 < used)
		return;
	bytes = malloc(q->len);
	if (!bytes)
		return;
	for (size_t e = 0; e < q->n; e++) {
		size = record_size(queue__record(q, e));
		memcpy(bytes + len, queue__record(q, e), size);
		q->entry[e].at = (uint32_t)(len / WORD);
		len += size;
	}
	free(q->bytes);
	q->bytes = bytes;
	q->bytes_cap = q->len;
	q->len = len;
}

void merge__trim(struct merge *m)
{
	for (unsigned int i = 0; i < m->queues; i++) {
		struct queue *q = &m->queue[i];
		size_t low = q->len / WORD, left = q->n - q->head;

		/* Little is left (later than the watermark), unless no record was taken. */
		if (!q->head)
			continue;
		for (size_t e = q->head; e < q->n; e++)
			if (q->entry[e].at < low)
				low = q->entry[e].at;
		memmove(q->bytes, q->bytes + low * WORD, q->len - low * WORD);
		q->len -= low * WORD;
		memmove(q->entry, q->entry + q->head, left * sizeof(*q->entry));
		for (size_t e = 0; e < left; e++)
			q->entry[e].at -= (uint32_t)low;
		q->head = 0;
		q->n = left;
		queue__compact(q);
	}
}

bool merge__gap(struct merge *m, uint64_t watermark, struct merge_gap *ret)
{
	if (m->early.count) {
		*ret = m->early;
		m->early = (struct merge_gap){};
		return true;
	}
	for (unsigned int i = 0; i < m->queues; i++) {
		struct queue *q = &m->queue[i];

		if (!q->gaps || (watermark != UINT64_MAX && q->gap[0].to + GAP_NS > watermark))
			continue;
		*ret = (struct merge_gap){ q->gap[0].n, q->gap[0].from, q->gap[0].to };
		queue__drop_gap(q, 0);
		return true;
	}
	return false;
}

uint64_t merge__quiet_since(const struct merge *m, uint64_t time)
{
	for (unsigned int i = 0; i < m->queues && i < GT_RINGS_ALL - 3; i++)
		if (m->queue[i].received && m->queue[i].last_time < time)
			time = m->queue[i].last_time;
	return time;
}

uint64_t merge__holes(const struct merge *m)
{
	uint64_t holes = 0;

	for (unsigned int i = 0; i < m->queues; i++) {
		const struct queue *q = &m->queue[i];
		uint64_t span = q->received ? (uint64_t)(q->last_seq - q->first_seq) + 1 : 0;

		if (span > q->received)
			holes += span - q->received;
	}
	return holes;
}

size_t merge__memory(const struct merge *m)
{
	size_t sum = sizeof(*m);

	for (unsigned int i = 0; i < m->queues; i++)
		sum += m->queue[i].bytes_cap + m->queue[i].cap * sizeof(struct entry);
	return sum;
}
