// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the labels of goroutines: a log for each set whose records are all there, and none for
 * others. Under test: sequence/state_labels.c.
 */
#include "unit/test.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

enum { KEY = 100, OTHER = 101, VALUE = 102, LOST = 103 };

RECORD(label, , uint64_t key, uint64_t value, unsigned int index, unsigned int n, bool cut)
{
	machine_give(tid, GT_LABEL, G(1), 0,
		     &(struct gt_label){ key, value, (uint16_t)index, (uint16_t)n, cut });
}

static void labelling(void)
{
	running(25, "go1.26.8", 3);
	say(KEY, "key");
	say(OTHER, "another");
	say(VALUE, "v");
}

TEST(sets)
{
	labelling();
	label(1, KEY, VALUE, 0, 2, false);
	label(1, OTHER, GT_TEXT_EMPTY, 1, 2, false);
	label(1, KEY, OTHER, 0, 1, true);
	label(1, 0, 0, 0, 0, false);
	label(1, 0, 0, 0, 0, true);
	say(GT_TEXT_ONCE | 5, "k1");
	say(GT_TEXT_ONCE | 6, "v1");
	label(1, GT_TEXT_ONCE | 5, GT_TEXT_ONCE | 6, 0, 1, false);
	expect("m1 GoLabel \"another=\"\", key=\"v\"\"\n"
	       "m1 GoLabel \"key=\"another\", ...\"\n"
	       "m1 GoLabel \"\"\n"
	       "m1 GoLabel \"...\"\n"
	       "m1 GoLabel \"k1=\"v1\"\"\n");
	assert_int_equal(stats()->text_misses, 0);
	assert_int_equal(stats()->dropped, 0);
	expect_no_repair();
}

/* A label whose text is missing is left out, and the log says that there is one. */
TEST(lost_texts)
{
	labelling();
	label(1, KEY, LOST, 0, 2, false);
	label(1, OTHER, VALUE, 1, 2, false);
	label(1, GT_TEXT_UNREAD, VALUE, 0, 1, false);
	expect("m1 GoLabel \"another=\"v\", ...\"\n"
	       "m1 GoLabel \"...\"\n");
	assert_int_equal(stats()->text_misses, 2);
}

/* A set that lacks a record, or is invalid, is dropped. The next one is not. */
TEST(lost_records)
{
	labelling();
	label(1, KEY, VALUE, 0, 3, false);
	label(1, OTHER, VALUE, 2, 3, false);
	label(1, OTHER, VALUE, 1, 2, false);
	label(1, KEY, VALUE, 0, 2, false); /* and its end is lost */
	label(1, OTHER, VALUE, 0, 1, false);
	label(1, OTHER, VALUE, 1, 1, false);
	label(1, OTHER, VALUE, 1, 0, false);
	label(1, OTHER, VALUE, 0, GT_LABELS_MAX + 1, false);
	label(1, KEY, VALUE, 0, 2, false);
	expect("m1 GoLabel \"another=\"v\"\"\n");
	assert_int_equal(stats()->dropped, 5);
}

/* As capture/labels.c makes them; `text` is consumed. */
static void present(unsigned int g, uint64_t text)
{
	machine_give(1, GT_LABELS_PRESENT, G(g), 0, &(struct gt_labels_present){ g, text });
}

/*
 * Labels from before the window are written once, as soon as the goroutine runs; but not if it has
 * set others before they were read.
 */
TEST(from_before)
{
	machine_init(25, "go1.26.8");
	for (unsigned int g = 1; g <= 4; g++)
		snap_g(g, GS_RUNNABLE, 0);
	say(KEY, "key");
	say(VALUE, "v");
	p_start(1, 0);
	execute(1, 1);
	label(1, KEY, VALUE, 0, 1, false);
	for (unsigned int g = 1; g <= 3; g++) {
		say(GT_TEXT_ONCE | g, "of=\"g\"");
		present(g, GT_TEXT_ONCE | g);
	}
	say(GT_TEXT_ONCE | 5, "of=\"again\"");
	present(3, GT_TEXT_ONCE | 5); /* it has some already */
	present(4, GT_TEXT_ONCE | 6); /* the text was lost */
	snap_give();
	p_start(2, 1);
	execute(2, 2);
	yield(2, 2, GT_YIELD_GOSCHED);
	execute(2, 4);
	yield(2, 4, GT_YIELD_GOSCHED);
	execute(2, 2);
	yield(1, 1, GT_YIELD_GOSCHED);
	execute(1, 3);
	expect("open 0\n"
	       "status - p0 2\n"
	       "status - p1 2\n"
	       "status - p2 2\n"
	       "status - p3 2\n"
	       "status - g1 1 f1\n"
	       "status - g2 1 f2\n"
	       "status - g3 1 f3\n"
	       "status - g4 1 f4\n"
	       "m1 ProcStart p0 #1\n"
	       "m1 GoStart g1 #1\n"
	       "m1 GoLabel \"key=\"v\"\"\n"
	       "m2 ProcStart p1 #1\n"
	       "m2 GoStart g2 #1\n"
	       "m2 GoLabel \"of=\"g\"\"\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m2 GoStart g4 #1\n"
	       "m2 GoStop \"runtime.Gosched\" -\n"
	       "m2 GoStart g2 #2\n"
	       "m1 GoStop \"runtime.Gosched\" -\n"
	       "m1 GoStart g3 #1\n"
	       "m1 GoLabel \"of=\"g\"\"\n");
	expect_no_repair();
	expect_no_repair();
}

/* Later ones, as in a corrupt raw file, change nothing. */
TEST(from_before_but_late)
{
	labelling();
	say(GT_TEXT_ONCE | 1, "x=\"y\"");
	present(1, GT_TEXT_ONCE | 1);
	yield(1, 1, GT_YIELD_GOSCHED);
	execute(1, 1);
	assert_int_equal(map__get(&m.seq->user.present, 1), NULL);
}

/* ---- several files ---- */

static int begin_file(void *ctx, uint64_t time)
{
	return 1;
}

/* Goroutine 1 runs; 2 and 3 have labels from before. Each generation begins a file. */
static void labelling_files(void)
{
	machine_init(25, "go1.26.8");
	m.seq->opts.between = begin_file;
	for (unsigned int g = 1; g <= 3; g++)
		snap_g(g, GS_RUNNABLE, 0);
	for (unsigned int g = 2; g <= 3; g++) {
		say(GT_TEXT_ONCE | g, "of=\"g\"");
		present(g, GT_TEXT_ONCE | g);
	}
	snap_give();
	say(KEY, "key");
	say(VALUE, "v");
	p_start(1, 0);
	execute(1, 1);
}

/* The records so far belong to a file that ends. */
static void next_file(void)
{
	flush();
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	forget();
}

static void run_instead(unsigned int from, unsigned int g)
{
	yield(1, from, GT_YIELD_GOSCHED);
	execute(1, g);
}

#define KEY_IS_V "m1 GoLabel \"key=\"v\"\"\n"
#define OF_IS_G	 "m1 GoLabel \"of=\"g\"\"\n"
#define YIELDED	 "m1 GoStop \"runtime.Gosched\" -\n"

/*
 * A file begins without labels, so those that goroutines have are written again: set, inherited, or
 * from before the window, in whatever file they were written first.
 */
TEST(in_each_file)
{
	labelling_files();
	label(1, KEY, VALUE, 0, 1, false);
	create(1, 5);
	run_instead(1, 2);
	for (unsigned int file = 0; file < 2; file++) {
		next_file();
		run_instead(2, 1);
		run_instead(1, 5);
		run_instead(5, 3);
		run_instead(3, 2);
		expect(OF_IS_G YIELDED "m1 GoStart g1 #1\n" KEY_IS_V YIELDED
				       "m1 GoStart g5 #1\n" KEY_IS_V YIELDED
				       "m1 GoStart g3 #1\n" OF_IS_G YIELDED "m1 GoStart g2 #1\n");
	}
	expect_no_repair();
}

/* Labels that were removed, or whose goroutine has ended, are not written any more. */
TEST(in_no_later_file)
{
	labelling_files();
	label(1, KEY, VALUE, 0, 1, false);
	create(1, 5);
	label(1, 0, 0, 0, 0, false);
	run_instead(1, 5);
	destroy(1, 5);
	flush();
	assert_int_equal(m.seq->user.kept.n, 0);
	assert_int_equal(m.seq->user.kept_bytes, 0);
	next_file();
	assert_null(map__get(&m.seq->user.present, 5));
	execute(1, 1);
	expect("m1 GoStart g1 #1\n");
	expect_no_repair();
}

/* One file: nothing is kept. */
TEST(in_one_file)
{
	labelling();
	label(1, KEY, VALUE, 0, 1, false);
	flush();
	assert_int_equal(m.seq->user.kept.n, 0);
}
