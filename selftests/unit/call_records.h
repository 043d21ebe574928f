/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records of calls and of the program's own annotations, for tests of calls that are tasks. Include
 * after what machine.h needs. The function 0 has the name "f", the function 1 "g"; what the program
 * itself annotates is named "own".
 */
#ifndef UNIT_CALL_RECORDS_H
#define UNIT_CALL_RECORDS_H

#include "unit/test.h"
#include "unit/machine.h"

enum { TASK_F, REGION_G };

#define OWN_NAME 100
/* of the first calls that are tasks: above 2^48 */
#define ID_1	 "281474976710657"
#define ID_2	 "281474976710658"
#define ID_3	 "281474976710659"

static void name_call(uint64_t number, const char *name)
{
	struct {
		struct gt_record rec;
		struct gt_text text;
		char bytes[8];
	} r = {
		.rec = { .time = m.now, .tid = 1, .kind = GT_TEXT, .object = number },
		.text = { .len = strlen(name) },
	};

	r.rec.seq = m.ring_seq++;
	memcpy(r.bytes, name, strlen(name));
	assert_int_equal(sequencer__record(m.seq, 0, &r.rec, sizeof(r)), 0);
}

static void name_calls(void)
{
	name_call(GT_TEXT_GIVEN(TASK_F), "f");
	name_call(GT_TEXT_GIVEN(REGION_G), "g");
	name_call(OWN_NAME, "own");
}

RECORD(task_call, , unsigned int g, uint64_t depth, unsigned int func)
{
	machine_give(tid, GT_FUNC_CALL, G(g), 0,
		     &(struct gt_func_call){ depth, GT_TEXT_GIVEN(func), 0, GT_AS_TASK });
}

RECORD(inherited_call, , unsigned int g, uint64_t depth, unsigned int func)
{
	machine_give(tid, GT_FUNC_CALL, G(g), 0,
		     &(struct gt_func_call){ depth, GT_TEXT_GIVEN(func), 0, GT_AS_TASK_INHERITED });
}

RECORD(region_call, , unsigned int g, uint64_t depth, unsigned int func)
{
	machine_give(tid, GT_FUNC_CALL, G(g), 0,
		     &(struct gt_func_call){ depth, GT_TEXT_GIVEN(func), 0, GT_AS_REGION });
}

RECORD(call_ends, , unsigned int g, uint64_t depth, unsigned int func)
{
	machine_give(tid, GT_FUNC_CALL, G(g), 0,
		     &(struct gt_func_call){ depth, GT_TEXT_GIVEN(func), 1, 0 });
}

RECORD(own_task, , unsigned int g, uint64_t id, uint64_t parent)
{
	machine_give(tid, GT_TASK_BEGIN, G(g), 0, &(struct gt_task){ id, parent, OWN_NAME });
}

RECORD(own_region, , unsigned int g, uint64_t task, bool ends)
{
	machine_give(tid, GT_REGION, G(g), 0, &(struct gt_region){ task, OWN_NAME, ends });
}

#endif
