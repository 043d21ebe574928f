// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of requests that are calls: they end with the return at the depth of their begin, with the
 * outcome that its results show; and of their names. Under test: sequence/state_request.c and
 * request_names.c.
 */
#include "unit/test.h"
#include "names/request_names.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

/* ---- names ---- */

static void named(enum gt_preset preset, const char *want, const char *first, const char *second)
{
	struct request_part part[REQUEST_PARTS] = {
		{ first, strlen(first) },
		{ second, strlen(second) },
	};
	char name[REQUEST_NAME_SIZE];

	assert_int_equal(request_name__make(preset, part, name), strlen(want));
	assert_string_equal(name, want);
}

TEST(names)
{
	named(GT_PRESET_SQL, "SELECT ? FROM t", "SELECT 'x'\nFROM t;", "");
	named(GT_PRESET_SQL, "?", "", "");
	named(GT_PRESET_HTTP_CLIENT, "GET a.example", "", "a.example");
	named(GT_PRESET_HTTP_CLIENT, "POST a.example:80", "POST", "a.example:80");
	named(GT_PRESET_HTTP_CLIENT, "? a?b", "P\nST", "a\033b");
	named(GT_PRESET_DNS, "a.example", "a.example", "");
	named(GT_PRESET_DNS, "10.example.", "10.example.", "");
	named(GT_PRESET_DNS, "{addr}", "192.0.2.1", "");
	named(GT_PRESET_DNS, "{addr}", "2001:db8::1%eth0", "");
	named(GT_PRESET_DNS, "?", "", "");
	named(GT_PRESET_GRPC_CLIENT, "/a.B/C", "/a.B/C", "");
	named(GT_PRESET_GRPC, "/a.B/C", "/a.B/C", "");
}

/* ---- tasks ---- */

RECORD(step, , enum gt_preset preset, enum gt_request_step step, uint64_t depth, uint32_t number)
{
	machine_give(tid, GT_REQUEST, G(1), 0,
		     &(struct gt_request){ .depth = depth,
					   .text = { GT_TEXT_EMPTY, GT_TEXT_EMPTY },
					   .number = number,
					   .preset = (gt_u8)preset,
					   .step = (gt_u8)step });
}

static void begin(enum gt_preset preset, uint64_t depth)
{
	step(1, preset, GT_REQUEST_BEGINS, depth, GT_REQUEST_NO_NUMBER);
}

static void end(enum gt_preset preset, uint64_t depth, uint32_t number)
{
	step(1, preset, GT_REQUEST_RETURNS, depth, number);
}

#define ONE   "281474976710657"
#define TWO   "281474976710658"
#define THREE "281474976710659"

/* A begin is written before its name is known. */
#define BEGUN(id, parent)                                                                          \
	"m1 UserTaskBegin " id " " parent " \"\" -\n"                                              \
	"m1 UserRegionBegin " id " \"\" -\n"
#define ENDED(id, name)                                                                            \
	"m1 UserRegionEnd " id " \"" name "\" -\n"                                                 \
	"m1 UserTaskEnd " id " -\n"
#define LOG(id, category, message) "m1 UserLog " id " \"" category "\" \"" message "\" -\n"
#define FAILED(id)		   LOG(id, "error", "the call returned an error")

/* A call within another one is the same request; only the return of the outer one ends it. */
TEST(depths)
{
	running(25, "go1.26.8", 3);
	end(GT_PRESET_SQL, 100, 0);
	begin(GT_PRESET_SQL, 100);
	begin(GT_PRESET_SQL, 200);
	end(GT_PRESET_SQL, 200, 1);
	end(GT_PRESET_SQL, 100, 0);
	end(GT_PRESET_SQL, 100, 1);
	expect(BEGUN(ONE, "0") ENDED(ONE, "?"));
	expect_no_repair();
}

TEST(outcomes)
{
	running(25, "go1.26.8", 3);
	begin(GT_PRESET_SQL, 100);
	end(GT_PRESET_SQL, 100, 4096);
	begin(GT_PRESET_HTTP_CLIENT, 100);
	end(GT_PRESET_HTTP_CLIENT, 100, 204);
	begin(GT_PRESET_HTTP_CLIENT, 100);
	end(GT_PRESET_HTTP_CLIENT, 100, GT_REQUEST_NO_NUMBER);
	expect(BEGUN(ONE, "0") FAILED(ONE) ENDED(ONE, "?") BEGUN(TWO, "0") LOG(TWO, "status", "204")
		       ENDED(TWO, "GET ") BEGUN(THREE, "0") FAILED(THREE) ENDED(THREE, "GET "));
	expect_no_repair();
}

/* The first status counts; without one the call has failed. */
TEST(statuses)
{
	running(25, "go1.26.8", 3);
	step(1, GT_PRESET_GRPC, GT_REQUEST_RESULT, 200, 5);
	begin(GT_PRESET_GRPC, 100);
	step(1, GT_PRESET_GRPC, GT_REQUEST_RESULT, 200, GT_REQUEST_NO_NUMBER);
	step(1, GT_PRESET_GRPC, GT_REQUEST_RESULT, 200, 0);
	step(1, GT_PRESET_GRPC, GT_REQUEST_RESULT, 200, 5);
	end(GT_PRESET_GRPC, 100, GT_REQUEST_NO_NUMBER);
	begin(GT_PRESET_GRPC, 100);
	step(1, GT_PRESET_GRPC, GT_REQUEST_RESULT, 300, 100);
	end(GT_PRESET_GRPC, 100, GT_REQUEST_NO_NUMBER);
	begin(GT_PRESET_GRPC, 100);
	end(GT_PRESET_GRPC, 100, GT_REQUEST_NO_NUMBER);
	expect(BEGUN(ONE, "0") LOG(ONE, "grpc-status", "0") ENDED(ONE, "?") BEGUN(TWO, "0")
		       LOG(TWO, "grpc-status", "other") FAILED(TWO) ENDED(TWO, "?")
			       BEGUN(THREE, "0") FAILED(THREE) ENDED(THREE, "?"));
	expect_no_repair();
}

/* One kind within another is a subtask; a panic that leaves both ends them with the next request. */
TEST(nested)
{
	running(25, "go1.26.8", 3);
	begin(GT_PRESET_GRPC_CLIENT, 100);
	begin(GT_PRESET_DNS, 200);
	begin(GT_PRESET_SQL, 100);
	end(GT_PRESET_SQL, 100, 0);
	expect(BEGUN(ONE, "0") BEGUN(TWO, ONE) ENDED(TWO, "") ENDED(ONE, "") BEGUN(THREE, "0")
		       ENDED(THREE, "?"));
	expect_no_repair();
}
