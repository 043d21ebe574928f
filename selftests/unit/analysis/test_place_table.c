// SPDX-License-Identifier: GPL-2.0
/* The relevant frame of a stack, the numbers of places, and their limits. */
#include "unit/test.h"
#include "analysis/place_table.h"

static struct dictionary dictionary;
static struct place_table table;
static uint64_t next_string, next_stack;

static void begin(void)
{
	dictionary__init(&dictionary);
	assert_int_equal(place_table__init(&table), 0);
	next_string = next_stack = 1;
}

static void end(void)
{
	place_table__deinit(&table);
	dictionary__deinit(&dictionary);
}

static uint64_t string(const char *text)
{
	assert_int_equal(dictionary__add_string(&dictionary, next_string, text, strlen(text)), 0);
	return next_string++;
}

/* Functions separated by spaces, leaf first; the line of each is 10 times its position from 1. */
static uint64_t stack(const char *functions)
{
	struct trace_frame frames[8] = {};
	char text[200];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", functions);
	for (char *f = strtok(text, " "); f; f = strtok(NULL, " "), n++)
		frames[n] = (struct trace_frame){
			.pc = 1000 * next_stack + n,
			.func = strcmp(f, "?") ? string(f) : 0,
			.file = string("/src/file.go"),
			.line = 10 * (n + 1),
		};
	assert_int_equal(dictionary__add_stack(&dictionary, next_stack, frames, n), 0);
	return next_stack++;
}

static void expect(const char *functions, const char *function, uint64_t line)
{
	struct place_frame frame;
	uint32_t place, again;
	uint64_t id = stack(functions);

	assert_int_equal(place_table__of(&table, &dictionary, id, &place), 0);
	frame = place_table__frame(&table, place);
	assert_int_equal(frame.function.len, strlen(function));
	assert_memory_equal(frame.function.data, function, frame.function.len);
	assert_int_equal(frame.line, line);
	assert_int_equal(place_table__of(&table, &dictionary, id, &again), 0);
	assert_int_equal(again, place);
}

TEST(relevant)
{
	begin();
	expect("runtime.chanrecv1 main.wait main.main", "main.wait", 20);
	expect("internal/poll.runtime_pollWait net.(*netFD).Read net/http.(*conn).serve",
	       "net.(*netFD).Read", 20);
	expect("sync.runtime_Semacquire sync.(*Mutex).Lock log.Println example.com/log.Print",
	       "example.com/log.Print", 40);
	expect("runtime.gopark runtime.main", "runtime.gopark", 10);
	expect("syscall.Syscall os.(*File).Sync net.example/store.Save", "net.example/store.Save",
	       30);
	expect("os.Open main.f[os.example/x.T]", "main.f[os.example/x.T]", 20);
	expect("os.f[a/b.T] time.Sleep", "os.f[a/b.T]", 10);
	expect("? ?", "", 0);
	expect("? runtimes.f", "runtimes.f", 20);
	end();
}

TEST(standard)
{
	static const char *const yes[] = { "net/http.f",
					   "net.f",
					   "runtime",
					   "crypto/tls.(*Conn).x",
					   "vendor/golang.org/x/net/f.g",
					   "sort.Slice" };
	static const char *const no[] = {
		"",	"main.main", "golang.org/x/net/http2.f", "os.org/a.b", "networks.f",
		"ne.f", ".f",	     "example.com/net/http.f"
	};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(place__is_standard(
			(struct trace_string){ yes[i], (uint32_t)strlen(yes[i]) }));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(place__is_standard(
			(struct trace_string){ no[i], (uint32_t)strlen(no[i]) }));
}

/* Equal frames are one place in each generation; without a stack there is none. */
TEST(generations)
{
	uint32_t first, second;

	begin();
	assert_int_equal(place_table__of(&table, &dictionary, stack("main.f"), &first), 0);
	place_table__forget_stacks(&table);
	dictionary__clear(&dictionary);
	next_string = next_stack = 1;
	assert_int_equal(place_table__of(&table, &dictionary, stack("main.g"), &second), 0);
	assert_int_not_equal(first, second);
	assert_int_equal(place_table__of(&table, &dictionary, stack("main.f"), &second), 0);
	assert_int_equal(first, second);
	assert_int_equal(place_table__of(&table, &dictionary, 0, &second), 0);
	assert_int_equal(second, PLACE_UNKNOWN);
	end();
}

/* All places beyond the limit are one, and so are all numbers of a part. */
TEST(limits)
{
	const uint32_t reason = 6u << 16 | 3;
	uint32_t place, number;
	struct place at;
	char name[32];

	begin();
	for (uint32_t i = 1; i <= PLACES_MAX + 2; i++) {
		snprintf(name, sizeof(name), "main.f%u", i);
		assert_int_equal(place_table__of(&table, &dictionary, stack(name), &place), 0);
		assert_int_equal(place, i <= PLACES_MAX ? i : PLACE_OTHERS);
		assert_int_equal(place_table__number(&table, reason, place, &number), 0);
		at = place_table__at(&table, number);
		assert_int_equal(at.place, place);
		assert_int_equal(at.reason, i <= PLACES_MAX ? reason : 6u << 16);
	}
	assert_int_equal(place_table__frame(&table, PLACE_OTHERS).function.len, 0);
	assert_int_equal(place_table__number(&table, reason, 7, &number), 0);
	assert_int_equal(number, 6);
	assert_int_equal(place_table__number(&table, 5u << 16, 7, &number), 0);
	assert_int_equal(place_table__at(&table, number).reason, 5u << 16);
	end();
}
