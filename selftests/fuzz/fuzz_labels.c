// SPDX-License-Identifier: GPL-2.0
/*
 * The labels of goroutines, as the target's memory contains them when a recording begins, and as
 * records name them later. A text that is passed on has at most LABELS_SIZE bytes, and its reader
 * accepts it. A set takes at most READS_MAX_SET reads, and STEPS_MAX steps per byte that was read.
 *
 * Input: a byte that selects memory (and whether it has lists or maps) or records; the number of
 * goroutines, struct memory_input and the memory; or operations of 8 bytes, some with a text.
 */
#include "memory.h"
#include "text_record.h"

#include "capture/labels.h"
#include "lib/buf.h"
#include "sequence/state_impl.h"
#include "target/probe/labels_offset.h"
#include "text/labels.h"

#define GOROUTINES    16   /* with addresses of their own */
#define MANY	      1100 /* goroutines: more than are read at once */
#define OFFSET	      8	   /* of g.labels */
#define READS_MAX_SET (4 + 24 + 2 * GT_LABELS_MAX)
#define STEPS_MAX     4
#define STEPS_SET     (24 * 8 + 4 * GT_LABELS_MAX) /* of slots and labels, whatever was read */
#define THREADS	      4
#define STEPS_OP      (64 + 2 * GT_LABELS_MAX * (1 + 2 * GT_TEXT_MAX))

static struct {
	struct sequencer s;
	struct thread thread[THREADS];
	struct goroutine g[THREADS];
	uint64_t now;
	bool is_present; /* the message is one from before the file */
} m;

/* ---- what is passed on ---- */

static void check_text(const char *text, size_t len)
{
	struct labels_reader r = labels_reader__make((struct trace_string){ text, (uint32_t)len });
	size_t n = 0;
	int more;

	while ((more = labels_reader__next(&r)) > 0)
		n++;
	if (more < 0 || len > LABELS_SIZE || n > GT_LABELS_MAX || (n && !len))
		abort();
	labels_reader__deinit(&r);
}

int sink__labels(struct sink *sink, uint32_t seq, uint64_t time, uint64_t g, uint64_t goid,
		 const char *text, size_t len)
{
	if (seq % 2 || !goid || !g)
		abort();
	check_text(text, len);
	return 0;
}

void boundary__emit(struct sequencer *s, struct thread *t, uint64_t time, enum ev type,
		    unsigned int nargs, const uint64_t *args)
{
	struct trace_string text = intern__text_at(s->opts.intern, (uint32_t)args[0]);

	if (type != EV_GO_LABEL || nargs != 1 || text.len > GT_TEXT_MAX)
		abort();
	if (!m.is_present) /* the recorder's own text, which is checked in sink__labels() */
		check_text(text.data, text.len);
}

/* ---- memory ---- */

uint32_t labels_offset__find(const struct elf_image *elf, const struct pclntab *pt)
{
	return OFFSET;
}

static void read_memory(bool are_lists, unsigned int n, const uint8_t *data, size_t size)
{
	struct site site = { .probe = GT_PROBE_LABELS,
			     .cookie = are_lists ? GT_LABELS_LIST : GT_LABELS_MAP };
	const struct site_list sites = { .site = &site, .n = 1, .has[GT_PROBE_LABELS] = true };
	const struct recorder_opts opts = { .sets = SITE_SET(USER), .sites = &sites };
	static struct snapshot_g g[MANY];
	const struct snapshot snap = { .g = g, .ng = n };

	if (!memory__begin(&data, &size))
		return;
	memory.end = -EFAULT; /* after -ESRCH the memory of the read is left allocated */
	for (unsigned int i = 0; i < n; i++)
		g[i] = (struct snapshot_g){ .addr = MEMORY + i % GOROUTINES * 16, .goid = i + 1 };
	memory__count();
	parser_steps = 0;
	if (labels__read_present(&opts, &snap, NULL, NULL, NULL) ||
	    memory.reads > n * (READS_MAX_SET + 1) ||
	    parser_steps > STEPS_MAX * 8 * memory.words + STEPS_SET * n)
		abort();
	memory__end();
}

/* ---- records ---- */

enum { TEXT, LABEL, PRESENT, RUN, CHANGED, INHERIT, FILE_BEGINS, END, EXPIRE, OPERATIONS };

bool stacks__start_is_runtime(const struct stacks *st, uint32_t number)
{
	return number;
}

uint32_t step__stack(const struct step *st, uint32_t skip)
{
	return 0;
}

enum apply_result step__drop(const struct step *st)
{
	st->s->stats.dropped++;
	return DONE;
}

bool thread__has_user_context(const struct thread *t)
{
	return t->g->state;
}

static int between(void *ctx, uint64_t time)
{
	return 1;
}

static void machine_begin(void)
{
	memset(&m, 0, sizeof(m));
	m.s.opts.intern = intern__create();
	m.s.opts.between = between;
	m.s.texts = texts__create(m.s.opts.intern);
	m.now = 1000;
	for (unsigned int i = 0; i < THREADS; i++) {
		m.g[i] = (struct goroutine){
			.addr = MEMORY + i, .id = i + 1, .start = i == 3, .state = i < 3
		};
		m.thread[i].g = &m.g[i];
		if (map__put(&m.s.model.by_addr, m.g[i].addr, &m.g[i]))
			abort();
	}
}

static void machine_end(void)
{
	for (unsigned int i = 0; i < THREADS; i++)
		labels__free(&m.thread[i]);
	labels__deinit(&m.s);
	if (m.s.user.kept_bytes || m.s.error)
		abort();
	map__deinit(&m.s.model.by_addr);
	texts__destroy(m.s.texts);
	intern__destroy(m.s.opts.intern);
}

static void apply(struct thread *t, const uint8_t *op, uint16_t index, uint16_t n)
{
	const struct gt_label label = { .key = text_number(op[2]),
					.value = text_number(op[3]),
					.index = index % (GT_LABELS_MAX + 1),
					.n = n % (GT_LABELS_MAX + 2),
					.cut = n >> 15 };
	struct step st = { .s = &m.s, .t = t, .payload = &label, .time = m.now };

	if (apply_label(&st) != DONE || (t->labels && !label.n))
		abort();
}

static void note_present(const struct goroutine *g, uint64_t text)
{
	struct {
		struct gt_record rec;
		struct gt_labels_present present;
	} r = { .rec = { .time = m.now, .object = g->addr }, .present = { g->id, text } };

	if (labels__note_present(&m.s, &r.rec))
		abort();
}

/* Into a goroutine that is new. */
static void inherit(const struct goroutine *from, const struct goroutine *to)
{
	if (from == to)
		return;
	labels__forget_goroutine(&m.s, to->id);
	labels__inherit(&m.s, from, to);
}

static void change(const struct goroutine *g, uint64_t before)
{
	const struct gt_record rec = { .time = m.now - before,
				       .kind = GT_LABEL,
				       .object = g->addr };

	labels__forget_changed(&m.s, &(const struct gt_record *){ &rec }, 1);
}

static void operate(const uint8_t *op, const uint8_t **data, size_t *size)
{
	struct thread *t = &m.thread[op[1] % THREADS];
	const uint8_t *bytes;
	uint16_t arg[2];
	uint32_t len;

	memcpy(arg, op + 4, sizeof(arg));
	switch (op[0] % OPERATIONS) {
	case TEXT:
		bytes = take_bytes(data, size, arg[0] % (GT_TEXT_MAX + 1), &len);
		add_text(m.s.texts, text_number(op[2]), m.now, bytes, len, arg[1] & 1);
		break;
	case LABEL:
		apply(t, op, arg[0], arg[1]);
		break;
	case PRESENT:
		note_present(t->g, text_number(op[2]));
		break;
	case RUN:
		m.is_present = true;
		labels__write_present(&m.s, t, m.now);
		m.is_present = false;
		break;
	case CHANGED:
		change(t->g, arg[0] % 1000);
		break;
	case INHERIT:
		inherit(op[2] % 8 ? t->g : NULL, &m.g[op[3] % THREADS]);
		break;
	case FILE_BEGINS:
		labels__begin_file(&m.s);
		intern__end_generation(m.s.opts.intern);
		break;
	case END:
		labels__forget_goroutine(&m.s, t->g->id);
		break;
	case EXPIRE:
		m.now += arg[0] * 100000ull;
		texts__expire(m.s.texts, m.now);
		break;
	}
}

static void apply_records(const uint8_t *data, size_t size)
{
	uint64_t n = 0;

	machine_begin();
	parser_steps = 0;
	while (size >= 8) {
		const uint8_t *op = data;

		data += 8;
		size -= 8;
		operate(op, &data, &size);
		if (parser_steps > ++n * STEPS_OP)
			abort();
	}
	machine_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	if (data[0] & 2)
		apply_records(data + 1, size - 1);
	else
		read_memory(data[0] & 1, data[1] < 250 ? 1 + data[1] % GOROUTINES : MANY, data + 2,
			    size - 2);
	return 0;
}
