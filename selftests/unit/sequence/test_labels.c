// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the labels of goroutines: a log for each set whose records are all there, and none for
 * others. Under test: sequence/state_labels.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

enum { KEY = 100, OTHER = 101, VALUE = 102, LOST = 103 };

static void say(struct machine *m, uint64_t number, const char *string)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		char bytes[16];
	} r = {
		.rec = { .time = m->now, .tid = 1, .kind = GT_TEXT, .object = number },
		.text = { .len = (uint32_t)strlen(string) },
	};

	r.rec.seq = m->ring_seq++;
	memcpy(r.bytes, string, r.text.len);
	assert_int_equal(
		sequencer__record(m->seq, 0, &r.rec,
				  sizeof(r.rec) + sizeof(r.text) + (r.text.len + 7) / 8 * 8),
		0);
}

RECORD(label, , uint64_t key, uint64_t value, unsigned int index, unsigned int n, bool cut)
{
	machine_give(m, tid, GT_LABEL, G(1), 0,
		     &(struct gt_label){ key, value, (uint16_t)index, (uint16_t)n, cut });
}

static void labelling(struct machine *m)
{
	running(m, 25, "go1.26.8", 3);
	say(m, KEY, "key");
	say(m, OTHER, "another");
	say(m, VALUE, "v");
}

static void sets(void **state)
{
	struct machine m;

	labelling(&m);
	label(&m, 1, KEY, VALUE, 0, 2, false);
	label(&m, 1, OTHER, GT_TEXT_EMPTY, 1, 2, false);
	label(&m, 1, KEY, OTHER, 0, 1, true);
	label(&m, 1, 0, 0, 0, 0, false);
	label(&m, 1, 0, 0, 0, 0, true);
	say(&m, GT_TEXT_ONCE | 5, "k1");
	say(&m, GT_TEXT_ONCE | 6, "v1");
	label(&m, 1, GT_TEXT_ONCE | 5, GT_TEXT_ONCE | 6, 0, 1, false);
	expect(&m, "m1 UserLog 0 \"goroutine labels\" \"another=\"\", key=\"v\"\" -\n"
		   "m1 UserLog 0 \"goroutine labels\" \"key=\"another\", ...\" -\n"
		   "m1 UserLog 0 \"goroutine labels\" \"\" -\n"
		   "m1 UserLog 0 \"goroutine labels\" \"...\" -\n"
		   "m1 UserLog 0 \"goroutine labels\" \"k1=\"v1\"\" -\n");
	assert_int_equal(stats(&m)->text_misses, 0);
	assert_int_equal(stats(&m)->dropped, 0);
	finish(&m);
}

/* A label whose text is missing is left out, and the log says that there is one. */
static void lost_texts(void **state)
{
	struct machine m;

	labelling(&m);
	label(&m, 1, KEY, LOST, 0, 2, false);
	label(&m, 1, OTHER, VALUE, 1, 2, false);
	label(&m, 1, GT_TEXT_UNREAD, VALUE, 0, 1, false);
	expect(&m, "m1 UserLog 0 \"goroutine labels\" \"another=\"v\", ...\" -\n"
		   "m1 UserLog 0 \"goroutine labels\" \"...\" -\n");
	assert_int_equal(stats(&m)->text_misses, 2);
	stop(&m);
}

/* A set that lacks a record, or is invalid, is dropped. The next one is not. */
static void lost_records(void **state)
{
	struct machine m;

	labelling(&m);
	label(&m, 1, KEY, VALUE, 0, 3, false);
	label(&m, 1, OTHER, VALUE, 2, 3, false);
	label(&m, 1, OTHER, VALUE, 1, 2, false);
	label(&m, 1, KEY, VALUE, 0, 2, false); /* and its end is lost */
	label(&m, 1, OTHER, VALUE, 0, 1, false);
	label(&m, 1, OTHER, VALUE, 1, 1, false);
	label(&m, 1, OTHER, VALUE, 1, 0, false);
	label(&m, 1, OTHER, VALUE, 0, GT_LABELS_MAX + 1, false);
	label(&m, 1, KEY, VALUE, 0, 2, false);
	expect(&m, "m1 UserLog 0 \"goroutine labels\" \"another=\"v\"\" -\n");
	assert_int_equal(stats(&m)->dropped, 5);
	stop(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets),
		cmocka_unit_test(lost_texts),
		cmocka_unit_test(lost_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
