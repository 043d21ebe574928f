// SPDX-License-Identifier: GPL-2.0
/*
 * The memory and checkpoints of a flight recorder buffer as a raw file: which records come out,
 * which window, which snapshots and stacks; against a model, with rings that were overwritten at
 * random and records that were never finished; and broken in any way.
 */
#include "unit/test.h"
#include "blackbox/blackbox.h"
#include "blackbox/image.h"
#include "target/layout/layout.h"

#define CREATED 1000ull
#define SUBBUF	512u
#define SUBBUFS 4u

/* ---- making one ---- */

struct full_record {
	struct gt_record rec;
	uint64_t payload[3];
};

/* Of 32 to 56 bytes, identified by its time. */
static size_t make(struct full_record *full, uint64_t time)
{
	static const unsigned char kinds[] = { GT_SYSCALL_EXIT, GT_EXECUTE, GT_CREATE };
	unsigned int kind = kinds[time % 3];

	*full = (struct full_record){ .rec = { .time = time,
					       .tid = 7,
					       .kind = (uint16_t)kind,
					       .object = 0x1000 + time % 16 * 8 },
				      .payload = { time, time, time } };
	return sizeof(full->rec) + (size_t)gt_payload_size(kind);
}

static bool emit (struct image *im, unsigned int ring, uint64_t time, struct image_slot * held)
{
	struct full_record full;
	size_t size = make(&full, time);

	return image__emit(im, ring, &full.rec, size, held);
}

static int frames(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	frame[0] =
		(struct sym_frame){ .pc = pc, .func = ctx, .file = "f.go", .line = (uint32_t)pc };
	return pc == 0xdead ? 0 : 1;
}

static int start(void *ctx, uint64_t pc, struct sym_frame *frame)
{
	return frames(ctx, pc, frame);
}

static const struct symbolizer symbolizer = { "main.f", frames, start };
static const struct symbolizer program = { "main.later", frames, start };

static const struct raw_header facts = {
	.t0 = CREATED + 5,
	.flags = RAW_STACKS,
	.go_version = "go1.26.8",
	.command = "thing",
};

/* A pair of `n` goroutines that wait, and one that runs. */
static void *checkpoint(const struct image *im, uint64_t time, size_t n, size_t *ret_size)
{
	struct snapshot_g *g = calloc(n + 1, sizeof(*g));
	struct snapshot_m m = { .addr = 0x9000, .curg = 0x5000, .p = 0x8000, .tid = 7 };
	struct snapshot first = { .time = time,
				  .time_end = time + 1,
				  .g = g,
				  .ng = n + 1,
				  .m = &m,
				  .nm = 1,
				  .procs = 1 };
	struct snapshot second = { .time = time + 2, .time_end = time + 3, .m = &m, .nm = 1 };
	struct blackbox_writer *w;
	const void *data;
	void *copy;
	size_t i;

	for (i = 0; i <= n; i++)
		g[i] = (struct snapshot_g){ .addr = 0x5000 + i * 0x100,
					    .goid = i + 1,
					    .startpc = 0x400 + i,
					    .status = i ? GS_WAITING : GS_RUNNING,
					    .m = 0x9000 };
	assert_int_equal(blackbox_writer__create(&w, &facts, &symbolizer), 0);
	assert_int_equal(
		blackbox_writer__make(w, im->memory, im->bytes, &first, &second, &data, ret_size),
		0);
	/* again, as the daemon does it: nothing is doubled */
	assert_int_equal(blackbox_writer__make(w, im->memory, im->bytes, time ? &first : NULL,
					       &second, &data, ret_size),
			 0);
	copy = malloc(*ret_size);
	memcpy(copy, data, *ret_size);
	blackbox_writer__destroy(w);
	free(g);
	return copy;
}

/* ---- reading what came out ---- */

struct result {
	struct blackbox_facts facts;
	struct raw_header header;
	size_t n, stacks, frames, later_frames, snapshots, ng, cap;
	struct got {
		uint64_t ring, time;
		uint32_t seq;
	} *got;
	uint64_t lost;
};

static void take_records(struct result *r, struct buf b, uint64_t watermark, unsigned int rings)
{
	uint64_t ring = buf__u64(&b);
	struct gt_record rec;
	size_t size;

	while ((size = raw_record__size(&b))) {
		memcpy(&rec, buf__take(&b, size), sizeof(rec));
		if (rec.kind == GT_STACK) {
			assert_int_equal(ring, rings);
			r->stacks++;
			continue;
		}
		assert_in_range(ring, 0, rings - 1);
		assert_true(rec.time > watermark); /* as it said */
		if (r->n == r->cap) {
			r->cap = r->cap ? 2 * r->cap : 64;
			r->got = realloc(r->got, r->cap * sizeof(*r->got));
		}
		r->got[r->n++] = (struct got){ ring, rec.time, rec.seq };
	}
}

static int recover(const struct blackbox_image *image, const struct symbolizer *more,
		   struct result *r)
{
	const struct gt_session_page *page = image->memory;
	uint64_t watermark = 0, next;
	struct raw_chunk chunk;
	struct rawfile *raw;
	struct error err = {};
	const void *data;
	bool ended = false;
	size_t size;
	struct buf b;
	int code;

	*r = (struct result){};
	code = blackbox__read(image, more, &raw, &r->facts, &err);
	if (code) {
		assert_string_not_equal(err.text, "");
		return code;
	}
	data = rawfile__bytes(raw, &size);
	b = buf__make(data, size);
	assert_int_equal(raw_header__read(&b, "it", &r->header, &err), 0);
	assert_int_equal(r->header.t0, r->facts.t0);
	while (buf__left(&b) && raw_chunk__next(&b, &chunk)) {
		assert_false(ended);
		switch (chunk.type) {
		case RAW_RECORDS:
			take_records(r, chunk.data, watermark, page->rings);
			break;
		case RAW_WATERMARK:
			next = buf__u64(&chunk.data);
			assert_true(next > watermark && next >= r->facts.t0 && next < r->facts.t1);
			watermark = next;
			break;
		case RAW_SNAPSHOT:
			r->snapshots += !!memcmp(chunk.data.pos + 4, "\0\0\0\0", 4);
			buf__skip(&chunk.data, 32);
			r->ng += buf__u64(&chunk.data);
			break;
		case RAW_FRAMES:
			r->frames++;
			r->later_frames +=
				!!memmem(chunk.data.pos, buf__left(&chunk.data), "main.later", 10);
			break;
		case RAW_LOST:
			buf__skip(&chunk.data, 8);
			r->lost = buf__u64(&chunk.data);
			break;
		case RAW_END:
			assert_int_equal(buf__u64(&chunk.data), r->facts.t1);
			ended = true;
			break;
		default:
			fail_msg("chunk %u", chunk.type);
		}
	}
	assert_true(ended && !b.bad);
	rawfile__destroy(raw);
	return 0;
}

static void freeze(struct image *im, uint64_t time)
{
	im->page->frozen = time;
}

static struct blackbox_image image_of(const struct image *im)
{
	return (struct blackbox_image){ .memory = im->memory, .bytes = im->bytes };
}

/* ---- tests ---- */

static struct image im;

static void destroy_image(void)
{
	image__destroy(&im);
}

FIXTURE(NULL, destroy_image)

TEST(nothing_was_overwritten)
{
	struct blackbox_image image;
	struct result r;
	uint64_t t;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 1024, CREATED));
	for (t = CREATED + 10; t < CREATED + 30; t++)
		assert_true(emit (&im, t & 1, t, NULL));
	freeze(&im, CREATED + 50);
	image = image_of(&im);
	image.checkpoint[0].data = checkpoint(&im, CREATED + 15, 3, &image.checkpoint[0].bytes);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.n, 20);
	assert_int_equal(r.facts.t0, facts.t0);
	assert_int_equal(r.facts.t1, CREATED + 50);
	assert_int_equal(r.header.wall_ns, facts.t0 + 1000000);
	assert_string_equal(r.header.command, "thing");
	assert_int_equal(r.snapshots, 2);
	assert_int_equal(r.ng, 4);
	assert_int_equal(r.frames, 4);
	assert_false(r.facts.overwritten || r.facts.stale || r.facts.headless || r.facts.broken);
	free((void *)image.checkpoint[0].data);
	free(r.got);
}

/* Only what is asked for, with rings that reach back further; a time before all of them is none. */
TEST(cut)
{
	struct blackbox_image image;
	struct result r;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 1024, CREATED));
	for (uint64_t t = CREATED + 10; t < CREATED + 40; t++)
		assert_true(emit (&im, t & 1, t, NULL));
	freeze(&im, CREATED + 50);
	image = image_of(&im);
	image.checkpoint[0].data = checkpoint(&im, CREATED + 35, 3, &image.checkpoint[0].bytes);
	image.from = CREATED + 21;
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.n, 19);
	for (size_t i = 0; i < r.n; i++)
		assert_in_range(r.got[i].time, CREATED + 21, CREATED + 39);
	assert_int_equal(r.facts.t0, CREATED + 21);
	assert_int_equal(r.header.wall_ns, CREATED + 21 + 1000000);
	assert_int_equal(r.facts.records, 19);
	assert_int_equal(r.facts.lost, 0);
	assert_int_equal(r.facts.snapshots, CREATED + 35);
	assert_false(r.facts.overwritten || r.facts.stale || r.facts.broken);
	free(r.got);
	image.from = CREATED - 1;
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.n, 30);
	assert_int_equal(r.facts.t0, facts.t0);
	free(r.got);
	image.from = CREATED + 60; /* nothing of it */
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.facts.t0, r.facts.t1);
	assert_int_equal(r.facts.records, 0);
	free(r.got);
	free((void *)image.checkpoint[0].data);
}

/* The window begins where the ring that goes back the least does. */
TEST(the_oldest_are_gone)
{
	struct blackbox_image image;
	struct result r;
	uint64_t t, oldest = 0;
	size_t i;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 1024, CREATED));
	for (t = CREATED + 10; t < CREATED + 500; t++)
		assert_true(emit (&im, t % 7 == 0, t, NULL));
	freeze(&im, t);
	image = image_of(&im);
	image.checkpoint[0].data = checkpoint(&im, CREATED + 480, 3, &image.checkpoint[0].bytes);
	image.checkpoint[1].data = checkpoint(&im, CREATED + 475, 5, &image.checkpoint[1].bytes);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_true(r.facts.overwritten && !r.facts.stale);
	for (i = 0; i < r.n; i++)
		if (!r.got[i].ring && (!oldest || r.got[i].time < oldest))
			oldest = r.got[i].time;
	assert_int_equal(r.facts.t0, oldest);
	assert_in_range(r.n, 3 * SUBBUF / 56, 8 * SUBBUF / 32);
	for (t = oldest; t < CREATED + 500; t++) { /* all of them are there */
		for (i = 0; i < r.n && r.got[i].time != t; i++)
			;
		assert_true(i < r.n);
	}
	/* both pairs lie in the window: the one nearer to its start */
	assert_int_equal(r.facts.snapshots, CREATED + 475);
	assert_int_equal(r.ng, 6);
	free((void *)image.checkpoint[0].data);
	free((void *)image.checkpoint[1].data);
	free(r.got);
}

/* Killed before it froze the memory, and no part of a ring is whole: what is complete starts when the window ends. */
TEST(a_ring_has_no_whole_part)
{
	struct blackbox_image image;
	struct gt_ring_control *control;
	struct result r;
	uint64_t t;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 1024, CREATED));
	for (t = CREATED + 10; t < CREATED + 1000; t++)
		assert_true(emit (&im, t & 1, t, NULL));
	control = (void *)(im.memory + im.page->control_offset + im.page->control_stride);
	for (unsigned int i = 0; i < SUBBUFS; i++)
		control->committed[i] = 0;
	image = image_of(&im);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.facts.t0, CREATED + 998); /* the last one of ring 0 */
	assert_int_equal(r.facts.t1, CREATED + 998);
	free(r.got);
}

/* From before the window: who ran then is not known to run still, unless it has records. */
TEST(an_old_checkpoint)
{
	struct blackbox_image image;
	struct full_record full;
	struct result r;
	uint64_t t;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	image = image_of(&im);
	image.checkpoint[0].data = checkpoint(&im, CREATED + 9, 3, &image.checkpoint[0].bytes);
	for (t = CREATED + 10; t < CREATED + 500; t++)
		assert_true(emit (&im, 0, t, NULL));
	freeze(&im, t);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_true(r.facts.stale);
	assert_int_equal(r.ng, 3);
	free(r.got);
	make(&full, 3);
	full.rec.time = t;
	full.rec.object = 0x5000;
	assert_true(image__emit(&im, 0, &full.rec, sizeof(full.rec), NULL));
	freeze(&im, t + 1);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.ng, 4);
	free((void *)image.checkpoint[0].data);
	free(r.got);
}

TEST(the_better_checkpoint)
{
	struct blackbox_image image;
	struct result r;
	size_t whole;
	void *newest;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	emit (&im, 0, CREATED + 10, NULL)
		;
	freeze(&im, CREATED + 100);
	image = image_of(&im);
	newest = checkpoint(&im, CREATED + 30, 2, &whole);
	image.checkpoint[0].data = newest;
	image.checkpoint[1].data = checkpoint(&im, CREATED + 20, 9, &image.checkpoint[1].bytes);
	for (image.checkpoint[0].bytes = 0; image.checkpoint[0].bytes < whole;
	     image.checkpoint[0].bytes++) {
		assert_int_equal(recover(&image, NULL, &r), 0);
		assert_false(r.facts.headless);
		assert_int_equal(r.ng, 10);
		free(r.got);
	}
	free((void *)image.checkpoint[1].data);
	image.checkpoint[1].data = NULL;
	for (image.checkpoint[0].bytes = 0; image.checkpoint[0].bytes <= whole;
	     image.checkpoint[0].bytes++) {
		assert_int_equal(recover(&image, NULL, &r), 0);
		assert_int_equal(r.facts.headless,
				 image.checkpoint[0].bytes < sizeof(struct raw_header));
		assert_int_equal(r.n, 1);
		free(r.got);
	}
	assert_int_equal(r.ng, 3);
	/* of the program that it executed then */
	freeze(&im, CREATED + 25);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.snapshots, 1); /* an empty one */
	assert_int_equal(r.ng, 0);
	assert_int_equal(r.facts.snapshots, 0);
	free(newest);
	free(r.got);
}

/* Killed while it attached its probes: some of them have written something. */
TEST(it_had_not_begun)
{
	struct raw_header header = facts;
	struct blackbox_image image;
	struct blackbox_writer *w;
	struct result r;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	emit (&im, 0, CREATED + 10, NULL)
		;
	freeze(&im, CREATED + 100);
	image = image_of(&im);
	header.t0 = BLACKBOX_NOT_BEGUN;
	assert_int_equal(blackbox_writer__create(&w, &header, &symbolizer), 0);
	assert_int_equal(blackbox_writer__make(w, im.memory, im.bytes, NULL, NULL,
					       &image.checkpoint[0].data,
					       &image.checkpoint[0].bytes),
			 0);
	assert_int_equal(recover(&image, NULL, &r), -ENODATA);
	blackbox_writer__destroy(w);
}

TEST(an_exec_ends_it)
{
	struct gt_record exec = { .time = CREATED + 20, .tid = 7, .kind = GT_EXEC };
	struct blackbox_image image;
	struct result r;

	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 1024, CREATED));
	emit (&im, 0, CREATED + 10, NULL)
		;
	image__emit(&im, 0, &exec, sizeof(exec), NULL);
	freeze(&im, CREATED + 100);
	image = image_of(&im);
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.facts.t1, CREATED + 20);
	free(r.got);
}

TEST(stacks)
{
	uint64_t pcs[3] = { 0x10, 0x20, 0x30 };
	struct full_record full;
	struct blackbox_image image;
	uint32_t i, ids[100];
	struct result r;
	size_t size;

	assert_true(image__create(&im, 1, 16384, SUBBUFS, 128, CREATED));
	image = image_of(&im);
	for (i = 0; i < 100; i++) {
		pcs[0] = 0x1000 + i;
		ids[i] = image__stack(&im, pcs, 3, false);
		size = make(&full, 3 * (CREATED + i));
		full.rec.stack = ids[i];
		image__emit(&im, 0, &full.rec, size, NULL);
		image__emit(&im, 0, &full.rec, size, NULL);
		if (i == 50)
			image.checkpoint[0].data =
				checkpoint(&im, 3 * CREATED, 0, &image.checkpoint[0].bytes);
	}
	freeze(&im, 4 * CREATED);
	assert_int_equal(recover(&image, NULL, &r), 0);
	/* 5 words each: 25 in a half; what the half before the last had is gone */
	assert_int_equal(r.stacks, 50);
	assert_int_equal(r.facts.stacks, 50);
	assert_int_equal(r.facts.stacks_gone, 50);
	/* PCs that were in the index then, and the start of one goroutine */
	assert_int_equal(r.later_frames, 0);
	free(r.got);
	/* the others are the program's to name: those of the last 50 that are newer */
	assert_int_equal(recover(&image, &program, &r), 0);
	assert_int_equal(r.later_frames, 49);
	free((void *)image.checkpoint[0].data);
	image.checkpoint[0].data = NULL;
	free(r.got);
	/* one whose PCs are another's */
	im.memory[im.page->half_offset + (ids[99] >> 24 & 1) * im.page->half_stride +
		  8 * GT_STACK_ID_WORD(ids[99]) + sizeof(struct gt_stack_entry)] ^= 1;
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.facts.stacks, 49);
	free(r.got);
}

/* ---- against a model ---- */

struct model_record {
	uint64_t time, subbuf;
	bool emitted, committed, given;
};

static bool model_subbuf_is_whole(const struct model_record *m, size_t n, uint64_t subbuf)
{
	for (size_t i = 0; i < n; i++)
		if (m[i].emitted && m[i].subbuf == subbuf && !m[i].committed)
			return false;
	return true;
}

/*
 * One ring: writers are stopped in the midst of a record now and then, and go on later, or never.
 */
static void against_a_model_once(unsigned int seed)
{
	struct image_slot held[16];
	struct model_record *m = calloc(1000, sizeof(*m));
	size_t of_held[16], nheld = 0, n = 100 + seed % 900, i, k;
	struct blackbox_image image;
	uint64_t last, first, lost = 0, tail = 0;
	struct result r;
	struct image im;

	srand(seed);
	assert_true(image__create(&im, 1, SUBBUF, SUBBUFS, 128, CREATED));
	for (i = 0; i < n; i++) {
		bool hold = nheld < 16 && rand() % 20 == 0;

		m[i].time = CREATED + 10 + i;
		m[i].emitted = emit (&im, 0, m[i].time, hold ? &held[nheld] : NULL);
		m[i].subbuf = (image__control(&im, 0)->head - 1) / SUBBUF;
		m[i].committed = !hold;
		if (hold && m[i].emitted)
			of_held[nheld++] = i;
		if (nheld && rand() % 8 == 0) {
			k = (size_t)rand() % nheld;
			image__commit(&im, &held[k]);
			m[of_held[k]].committed = true;
			held[k] = held[--nheld];
			of_held[k] = of_held[nheld];
		}
	}
	freeze(&im, CREATED + 10 + n);
	image = image_of(&im);
	assert_int_equal(recover(&image, NULL, &r), 0);
	last = (image__control(&im, 0)->head - 1) / SUBBUF;
	first = last >= SUBBUFS ? last + 1 - SUBBUFS : 0;
	for (i = 0; i < n; i++)
		m[i].given = m[i].emitted && m[i].subbuf >= first &&
			     model_subbuf_is_whole(m, n, m[i].subbuf);
	for (i = k = 0; i < n; i++) {
		tail++;
		if (!m[i].given)
			continue;
		assert_true(k < r.n);
		assert_int_equal(r.got[k].time, m[i].time);
		lost += k ? tail - 1 : 0;
		assert_int_equal(r.got[k++].seq, i); /* so that holes show */
		tail = 0;
	}
	assert_int_equal(k, r.n);
	assert_int_equal(r.lost, r.n ? lost + tail : 0); /* holes, and after the last one */
	free(r.got);
	free(m);
	image__destroy(&im);
}

TEST(against_a_model)
{
	for (unsigned int seed = 0; seed < 400; seed++)
		against_a_model_once(seed);
}

/* ---- nonsense ---- */

TEST(broken_anywhere)
{
	struct gt_session_page whole;
	struct blackbox_image image;
	struct result r;
	uint64_t t;
	size_t i;

	assert_true(image__create(&im, 2, SUBBUF, SUBBUFS, 128, CREATED));
	for (t = CREATED + 10; t < CREATED + 200; t++)
		assert_true(emit (&im, t % 2, t, NULL));
	freeze(&im, t);
	whole = *im.page;
	image = image_of(&im);
	for (i = 0; i < sizeof(struct gt_session_page); i++) {
		unsigned char was = im.memory[i];

		for (int flip = 0; flip < 8; flip++) {
			im.memory[i] = was ^ (unsigned char)(1 << flip);
			if (!recover(&image, NULL, &r))
				free(r.got);
		}
		im.memory[i] = was;
	}
	for (image.bytes = 0; image.bytes < im.bytes; image.bytes += 97)
		if (!recover(&image, NULL, &r))
			free(r.got);
	image.bytes = im.bytes;
	im.page->ring_stride = im.page->control_stride = -64ull; /* each before the last one */
	assert_int_equal(recover(&image, NULL, &r), -EBADMSG);
	*im.page = whole;
	im.page->frozen = GT_TIME_MAX + 1; /* as if it was not frozen */
	assert_int_equal(recover(&image, NULL, &r), 0);
	assert_int_equal(r.facts.t1, CREATED + 199);
	free(r.got);
	*im.page = whole;
	im.page->created = GT_TIME_MAX + 1;
	assert_int_equal(recover(&image, NULL, &r), -EBADMSG);
	*im.page = whole;
	srand(1);
	for (i = 0; i < 2000; i++) { /* controls and rings */
		im.memory[im.page->control_offset +
			  (size_t)rand() % (im.page->index_offset - im.page->control_offset)] =
			(unsigned char)rand();
		if (!recover(&image, NULL, &r))
			free(r.got);
	}
}
