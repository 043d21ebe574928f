// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of requests as tasks: their names, whatever texts the target has, and that each ends once,
 * whatever becomes of its handler. Under test: names/request_names.c, open_requests.c and
 * state_request.c.
 */
#include "unit/test.h"
#include "format/private_read.h"
#include "names/request_names.h"
#include "sequence/places.h"
#include "sequence/sequencer_impl.h"
#include "unit/machine.h"

/* ---- names ---- */

static void named(const char *want, const char *method, const char *path, const char *pattern)
{
	struct request_part part[REQUEST_PARTS] = {
		{ method, strlen(method) },
		{ path, strlen(path) },
		{ pattern, strlen(pattern) },
	};
	char name[REQUEST_NAME_SIZE];

	assert_int_equal(request_name__make(GT_PRESET_HTTP, part, name), strlen(want));
	assert_string_equal(name, want);
}

TEST(paths)
{
	named("GET /x", "GET", "/x", "");
	named("GET /users/{id}", "GET", "/users/7", "");
	named("GET /{id}/{id}/", "GET", "/0/00c0ffee/", "");
	named("GET /c0ffee/7a", "GET", "/c0ffee/7a", "");
	named("GET /{id}/x", "GET", "/7d444840-9dc0-11d1-b245-5ffdce74fad2/x", "");
	named("GET /{id}/x", "GET", "/abcdefab-cdef-abcd-efab-cdefabcdefab/x", "");
	named("GET /abcdefab-cdef-abcd-efab-cdefabcdefa/x", "GET",
	      "/abcdefab-cdef-abcd-efab-cdefabcdefa/x", "");
	named("GET /abcdefabc-def-abcd-efab-cdefabcdefab", "GET",
	      "/abcdefabc-def-abcd-efab-cdefabcdefab", "");
	named("GET /a", "GET", "/a?token=1", "");
	named("GET /", "GET", "", "");
	named("GET //", "GET", "//", "");
	named("OPTIONS *", "OPTIONS", "*", "");
}

/* What a path has of a user or a session is not shown. */
TEST(tokens_in_paths)
{
	named("GET /reset/{id}", "GET",
	      "/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP", "");
	named("GET /s/{id}", "GET", "/s/k7f2m9q4x1z8w3v6", "");
	named("GET /s/{id}", "GET", "/s/sk_live_4eC39HqLyjWDarjtT1zdp7dc", "");
	named("GET /s/{id}/x", "GET", "/s/Zm9vYmFyYmF6cXV4MTIz==/x", "");
	named("GET /u/{id}", "GET", "/u/jane.doe@example.com", "");
	named("GET /@jane/x@", "GET", "/@jane/x@", "");
	named("GET /app/x", "GET", "/app;jsessionid=0123ABC/x;v=1", "");
	named("GET /{id}/", "GET", "/42;a/;b", "");
	/* words and versions are not tokens */
	named("GET /acme.api.v1.UserService/GetUserAccountsV2", "GET",
	      "/acme.api.v1.UserService/GetUserAccountsV2", "");
	named("GET /static/bootstrap-4.5.2.min.js", "GET", "/static/bootstrap-4.5.2.min.js", "");
	named("GET /k7f2m9q4x1z8w3v", "GET", "/k7f2m9q4x1z8w3v", ""); /* 15 characters */
	named("GET /oauth2/authorization-callback", "GET", "/oauth2/authorization-callback", "");
}

TEST(patterns)
{
	named("GET /users/{id}", "GET", "/users/7", "/users/{id}");
	named("GET /users/{id}", "GET", "/users/7", "GET /users/{id}");
	named("HEAD /users/{id}", "HEAD", "/users/7", "GET \t /users/{id}");
	named("GET example.com/7", "GET", "/7", "example.com/7");
	named("PUT example.com/a b", "PUT", "/a b", "PUT example.com/a b");
	named("GET none", "GET", "/a", "none");
}

TEST(forged)
{
	named("? /a", "", "/a", "");
	named("? /a", "G\nET", "/a", "");
	named("? /a", "GETGETGETGETGETGETGETGETGETGETGET", "/a", "");
	named("GET /?[31m", "GET", "/\033[31m", "");
	named("GET /?", "GET", "/\xff", "");
}

TEST(long_name)
{
	char path[2000], name[REQUEST_NAME_SIZE];
	struct request_part part[REQUEST_PARTS] = { { "GET", 3 }, { path, sizeof(path) }, {} };

	memset(path, 'y', sizeof(path));
	assert_int_equal(request_name__make(GT_PRESET_HTTP, part, name), REQUEST_NAME_MAX);
	memset(path, 0, sizeof(path));
	assert_int_equal(request_name__make(GT_PRESET_HTTP, part, name), REQUEST_NAME_MAX);
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? "\xa4"[0] : "\xc3"[0]; /* the limit is within a character */
	part[0].len = 2;
	assert_int_equal(request_name__make(GT_PRESET_HTTP, part, name), REQUEST_NAME_MAX - 1);
	assert_null(strchr(name, '?'));
}

/* ---- tasks ---- */

enum { GET = 100, USERS = 101, ROUTE = 102 };

RECORD(step, , enum gt_request_step step, uint64_t depth, uint64_t text0, uint64_t text1,
       uint32_t number)
{
	machine_give(tid, GT_REQUEST, G(1), 0,
		     &(struct gt_request){
			     .depth = depth,
			     .text = { text0, text1 },
			     .number = number,
			     .preset = GT_PRESET_HTTP,
			     .step = (gt_u8)step,
		     });
}

#define BEGIN(depth)		     step(1, GT_REQUEST_BEGINS, depth, GET, USERS, GT_REQUEST_NO_NUMBER)
#define END(status)		     step(1, GT_REQUEST_ENDS, 100, 0, 0, status)

/* Ids of the tasks, and their events: a begin is written before its name is known. */
#define ONE			     "281474976710657 "
#define TWO			     "281474976710658 "
#define THREE			     "281474976710659 "
#define FOUR			     "281474976710660 "
#define BEGUN(task)		     "m1 UserTaskBegin " task "0 \"\" -\nm1 UserRegionBegin " task "\"\" -\n"
#define LOG(task, category, message) "m1 UserLog " task "\"" category "\" \"" message "\" -\n"
#define ENDED(task, name)	     "m1 UserRegionEnd " task "\"" name "\" -\nm1 UserTaskEnd " task "-\n"

static uint64_t expected_g; /* that serves the requests whose times are expected */

static void serving(void)
{
	expected_g = 1;
	running(25, "go1.26.8", 3);
	say(GET, "GET");
	say(USERS, "/users/7");
	say(ROUTE, "/users/{name}");
}

/* How many string ids have this text, in the open generation. */
static unsigned int ids(const char *text)
{
	unsigned int n = 0;

	for (uint32_t id = 1; id <= intern__strings(m.intern); id++) {
		struct trace_string s = intern__text_at(m.intern, id);

		n += s.len == strlen(text) && !memcmp(s.data, text, s.len);
	}
	return n;
}

/* The name that is known at the end is that of the begin: the id that was reserved gets it. */
TEST(named_later)
{
	serving();
	BEGIN(100);
	BEGIN(200); /* a call within the request */
	flush();
	assert_int_equal(ids("GET /users/{name}"), 0);
	step(1, GT_REQUEST_NAMED, 300, ROUTE, 0, GT_REQUEST_NO_NUMBER);
	END(0);
	BEGIN(100);
	step(1, GT_REQUEST_ENDS, 100, GT_TEXT_UNREAD, 0, 503);
	END(200); /* of none */
	expect(BEGUN(ONE) LOG(ONE, "status", "200") ENDED(ONE, "GET /users/{name}") BEGUN(TWO)
		       LOG(TWO, "status", "503") ENDED(TWO, "GET /users/{id}"));
	assert_int_equal(ids("GET /users/{name}"), 2);
	assert_int_equal(ids("GET /users/{id}"), 2);
	assert_int_equal(ids(""), 0);
	expect_no_repair();
}

/*
 * Two CPUs have sent names for one place at once, and arrive in the wrong order: the probes remember the
 * earlier one, and do not send it again.
 */
TEST(names_of_two_cpus)
{
	serving();
	say(ROUTE + GT_TEXT_PLACES, "/other");
	for (int i = 0; i < 3; i++) {
		END(200); /* of none; a generation may end */
		flush_and_forget();
		BEGIN(100);
		step(1, GT_REQUEST_NAMED, 300, ROUTE, 0, GT_REQUEST_NO_NUMBER);
		END(0);
		m.now += PLACES_PATIENCE_NS / 2 + STEP_NS;
	}
	expect(BEGUN(THREE) LOG(THREE, "status", "200") ENDED(THREE, "GET /users/{name}"));
	assert_int_equal(stats()->text_misses, 0);
}

TEST(missing_names_are_counted)
{
	serving();
	BEGIN(100);
	step(1, GT_REQUEST_NAMED, 300, GT_TEXT_UNREAD, 0, GT_REQUEST_NO_NUMBER);
	step(1, GT_REQUEST_NAMED, 300, ROUTE + 1, 0, GT_REQUEST_NO_NUMBER);
	step(1, GT_REQUEST_NAMED, 300, GT_TEXT_EMPTY, 0, GT_REQUEST_NO_NUMBER);
	END(0);
	flush();
	assert_int_equal(ids("GET /users/{id}"), 2);
	assert_int_equal(stats()->text_misses, 2);
}

/* The handler panics, takes over the connection, or its end was lost. */
TEST(unfinished)
{
	serving();
	BEGIN(100);
	step(1, GT_REQUEST_LEFT, 100, 0, 0, GT_REQUEST_NO_NUMBER);
	BEGIN(100);
	step(1, GT_REQUEST_TAKEN, 300, 0, 0, GT_REQUEST_NO_NUMBER);
	step(1, GT_REQUEST_LEFT, 100, 0, 0, GT_REQUEST_NO_NUMBER);
	BEGIN(100);
	BEGIN(100);
	END(404);
	expect(BEGUN(ONE) LOG(ONE, "error", "the handler did not return")
		       ENDED(ONE, "GET /users/{id}") BEGUN(TWO) ENDED(TWO, "GET /users/{id}")
			       BEGUN(THREE) ENDED(THREE, "") BEGUN(FOUR) LOG(FOUR, "status", "404")
				       ENDED(FOUR, "GET /users/{id}"));
	assert_int_equal(ids("GET /users/{id}"), 5);
	expect_no_repair();
}

/* Its goroutine ends: so has the handler, by a panic. */
TEST(goroutine_ends)
{
	serving();
	BEGIN(100);
	destroy(1, 1);
	expect(BEGUN(ONE) LOG(ONE, "error", "the handler did not return")
		       ENDED(ONE, "GET /users/{id}") "m1 GoDestroy\n");
}

/* Names beyond the limit, and texts that were not recorded. */
TEST(few_names)
{
	serving();
	sequencer__max_names(m.seq, 1);
	BEGIN(100);
	END(200);
	step(1, GT_REQUEST_BEGINS, 100, GT_TEXT_UNREAD, GT_TEXT_UNREAD, GT_REQUEST_NO_NUMBER);
	END(1000);
	BEGIN(100);
	END(200);
	expect(BEGUN(ONE) LOG(ONE, "status", "200") ENDED(ONE, "GET /users/{id}") BEGUN(TWO)
		       ENDED(TWO, "other") BEGUN(THREE) LOG(THREE, "status", "200")
			       ENDED(THREE, "GET /users/{id}"));
	expect_no_repair();
}

/* What no probe sends. */
TEST(invalid)
{
	serving();
	step(1, GT_REQUEST_STEPS, 100, GET, USERS, 0);
	BEGIN(0);
	BEGIN(UINT64_MAX);
	machine_give(1, GT_REQUEST, G(1), 0,
		     &(struct gt_request){ .depth = 100, .preset = GT_PRESETS });
	expect("");
	assert_int_equal(stats()->dropped, 4);
}

/* ---- arrival and answer ---- */

#define CONNECTION 77
#define OTHER	   78
#define NETWORK	   2		   /* block reason of Go 1.25 */
#define AT(ago)	   (m.now - (ago)) /* before the next record */

RECORD(socket, , unsigned int g, enum gt_socket_what what, uint64_t connection, uint64_t arrived,
       uint32_t bytes)
{
	machine_give(tid, GT_SOCKET, G(g), 0,
		     &(struct gt_socket){ connection, G(g), arrived, bytes, what });
}

#define READS(ago)	socket(1, 1, GT_SOCKET_READ, CONNECTION, AT(ago), 90)
#define READS_NOTHING() socket(1, 1, GT_SOCKET_READ, CONNECTION, 0, 0)
#define WRITES()	socket(1, 1, GT_SOCKET_WROTE, CONNECTION, 0, 100)

/* The times of requests in the last private data, each as the task, what, and since the start. */
static void expect_times(const char *want)
{
	struct private_request request = {};
	char got[1000] = "";
	struct buf data;

	flush();
	assert_int_equal(sequencer__end_generation(m.seq), 0);
	data = buf__make(m.writer.private, m.writer.private_len);
	buf__skip(&data, PRIVATE_PREFIX_LEN);
	if (!m.writer.private_len || buf__uleb(&data) != PRIVATE_REQUESTS)
		data = buf__make(NULL, 0);
	buf__skip(&data, buf__left(&data) ? 2 : 0);
	while (private_read__request(&data, &request)) {
		assert_int_equal(request.g, expected_g);
		sprintf(got + strlen(got), "%d %d %d\n", (int)(request.task - (1ull << 48)),
			request.what, (int)(request.time - machine_t0));
	}
	assert_int_equal(buf__left(&data), 0);
	assert_string_equal(got, want);
}

/* Records are 1000 ns apart; the first one after serving() is at 4000 ns. */
TEST(arrives_and_is_answered)
{
	uint64_t from;

	serving();
	from = m.now;
	READS(300); /* of the header, of which a part comes later */
	READS(50);
	BEGIN(100);
	READS(10); /* the body */
	WRITES();
	END(200);
	WRITES();
	WRITES();
	READS_NOTHING();
	WRITES(); /* of nothing that was asked for: TLS ends */
	assert_int_equal(from - machine_t0, 4000);
	expect_times("1 0 3700\n1 3 10000\n1 3 11000\n");
}

/* Idle time before a request does not count, and neither does what another connection does. */
TEST(kept_alive)
{
	serving();
	READS(300);
	BEGIN(100);
	END(200);
	READS_NOTHING();
	m.now += 100000;
	socket(1, 1, GT_SOCKET_AHEAD, OTHER, AT(5), 10);
	READS(20);
	BEGIN(100);
	socket(1, 1, GT_SOCKET_READ, OTHER, AT(5), 10);	     /* a database */
	socket(1, 1, GT_SOCKET_AHEAD, CONNECTION, AT(7), 1); /* of the next request */
	END(200);
	socket(1, 1, GT_SOCKET_WROTE, OTHER, 0, 10);
	WRITES();
	READS(1); /* the rest of it */
	BEGIN(100);
	END(200);
	READS(3500); /* the rest of a body, which came before the handler ended */
	BEGIN(100);
	expect_times("1 0 3700\n2 0 108980\n2 3 115000\n3 0 111993\n4 2 118000\n");
}

/* Without its arrival: when the goroutine was made runnable, or else could read it. */
TEST(without_arrival)
{
	serving();
	p_start(2, 1);
	execute(2, 2);
	park(1, 1, NETWORK);
	ready(2, 1);
	execute(1, 1);
	socket(1, 1, GT_SOCKET_READ, CONNECTION, 0, 90);
	BEGIN(100);
	END(200);
	socket(1, 1, GT_SOCKET_READ, CONNECTION, 0, 90);
	BEGIN(100);
	park(1, 1, NETWORK); /* the handler waits */
	ready(2, 1);
	execute(1, 1);
	END(200);
	BEGIN(100);
	expect_times("1 1 7000\n2 2 11000\n3 2 17000\n");
}

/* With TLS the handshake comes first. */
TEST(after_a_handshake)
{
	serving();
	READS(300);
	READS(20);
	step(1, GT_REQUEST_BEGINS, 100, GET, USERS, 0x1234);
	END(200);
	READS_NOTHING();
	READS(40);
	READS(20);
	step(1, GT_REQUEST_BEGINS, 100, GET, USERS, 0x1234);
	expect_times("1 0 4980\n2 0 8960\n");
}

TEST(corrupt_socket_records)
{
	serving();
	socket(1, 1, GT_SOCKET_WHATS, CONNECTION, 0, 1);
	READS(-1);
	socket(1, 3, GT_SOCKET_READ, CONNECTION, 1, 1);
	socket(1, 9, GT_SOCKET_READ, CONNECTION, 1, 1); /* no goroutine */
	socket(1, 1, GT_SOCKET_WROTE, CONNECTION, 0, 1);
	flush();
	assert_int_equal(stats()->dropped, 2);
	expect_times("");
}

/*
 * Goroutine 2 reads frames of the connection for 1, and one of the two creates a goroutine for a request,
 * on which it begins later.
 */
static void stream(unsigned int creator, enum gt_preset preset)
{
	serving();
	READS(300); /* the preface */
	p_start(2, 1);
	execute(2, 2);
	machine_give(2, GT_SOCKET, G(1), 0,
		     &(struct gt_socket){ CONNECTION, G(2), AT(40), 9, GT_SOCKET_AHEAD });
	create(creator, 30);
	machine_give(2, GT_SOCKET, G(1), 0,
		     &(struct gt_socket){ CONNECTION, G(2), AT(40), 9, GT_SOCKET_AHEAD });
	p_start(3, 2);
	execute(3, 30);
	expected_g = 30;
	machine_give(3, GT_REQUEST, G(30), 0,
		     &(struct gt_request){ .depth = 100,
					   .text = { GET, USERS },
					   .number = GT_REQUEST_NO_NUMBER,
					   .preset = (gt_u8)preset,
					   .step = GT_REQUEST_BEGINS });
}

TEST(streams)
{
	stream(1, GT_PRESET_HTTP);
	expect_times("1 0 6960\n");
	stream(2, GT_PRESET_HTTP);
	expect_times("1 0 6960\n");
	stream(2, GT_PRESET_GRPC_CLIENT); /* it does not arrive */
	expect_times("");
}
