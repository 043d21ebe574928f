// SPDX-License-Identifier: GPL-2.0
/*
 * Rows on their way to the SQL engine: which cells they get, and texts as valid UTF-8. sql/rows.h.
 */
#include "unit/test.h"
#include "sql/rows.h"
#include "sql/tables.h"

static struct rows rows;

enum { NUMBER, TEXT, UNWANTED, COLUMNS };

static void begin(void)
{
	rows__init(&rows);
	rows.ncolumns = COLUMNS;
	rows.wanted[NUMBER] = rows.wanted[TEXT] = true;
	rows.is_text[TEXT] = rows.is_text[UNWANTED] = true;
}

static struct trace_string string(const char *text)
{
	return (struct trace_string){ text, (uint32_t)strlen(text) };
}

static void text_is(struct duckdb_text text, const char *want)
{
	assert_int_equal(text.length, strlen(want));
	assert_memory_equal(text.length <= DUCKDB_INLINED ? text.inlined : text.data, want,
			    strlen(want));
	assert_memory_equal(text.prefix, want, strlen(want) < 4 ? strlen(want) : 4);
}

TEST(cells)
{
	begin();
	for (int64_t i = 0; i < 10000; i++) {
		assert_int_equal(rows__add(&rows), 0);
		row__number(&rows, NUMBER, i * 3);
		row__copy(&rows, TEXT, string(i % 2 ? "a text of more than twelve bytes" : ""));
		row__copy(&rows, UNWANTED, string("never stored"));
	}
	assert_int_equal(rows.n, 10000);
	assert_int_equal(rows.numbers[NUMBER][9999], 29997);
	assert_int_equal(rows.texts[TEXT][9998].length, TEXT_NULL);
	text_is(rows.texts[TEXT][9999], "a text of more than twelve bytes");
	assert_null(rows.texts[UNWANTED]);
	assert_null(rows.numbers[UNWANTED]);
	rows__clear(&rows);
	assert_int_equal(rows.n, 0);
	assert_false(rows.failed);
	rows__deinit(&rows);
}

TEST(ids)
{
	begin();
	assert_int_equal(rows__add(&rows), 0);
	row__id(&rows, NUMBER, TRACE_NO_G);
	assert_int_equal(rows.numbers[NUMBER][0], ROW_NULL);
	row__id(&rows, NUMBER, UINT64_MAX - 1);
	assert_int_equal(rows.numbers[NUMBER][0], -2);
	row__id(&rows, NUMBER, 0);
	assert_int_equal(rows.numbers[NUMBER][0], 0);
	rows__deinit(&rows);
}

TEST(texts)
{
	begin();
	text_is(rows__copy(&rows, string("twelve bytes")), "twelve bytes");
	text_is(rows__copy(&rows, string("thirteen byte")), "thirteen byte");
	text_is(rows__copy(&rows, string("\xff")), "\xef\xbf\xbd");
	text_is(rows__copy(&rows, string("é\xc3")), "é\xef\xbf\xbd");
	text_is(rows__copy(&rows, string("\xed\xa0\x80 a surrogate")),
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd a surrogate");
	text_is(text__static("GoSyscallEndBlocked"), "GoSyscallEndBlocked");
	rows__deinit(&rows);
}

TEST(cached_texts)
{
	struct text_cache cache = {};
	struct duckdb_text first, again;

	begin();
	assert_int_equal(text_cache__get(&cache, &rows, 7, string("")).length, TEXT_NULL);
	first = text_cache__get(&cache, &rows, 7, string("net/http.(*conn).serve"));
	rows__clear(&rows); /* does not free it */
	again = text_cache__get(&cache, &rows, 7, string("ignored"));
	assert_ptr_equal(first.data, again.data);
	text_is(again, "net/http.(*conn).serve");
	assert_false(text_cache__has(&cache, 6));
	assert_false(text_cache__has(&cache, 1000000));
	text_cache__deinit(&cache);
	rows__deinit(&rows);
}

static void add_stack(struct dictionary *d, uint64_t id, uint64_t line)
{
	const struct trace_frame frame = { .pc = 0x10 + line, .func = 1, .file = 2, .line = line };

	assert_int_equal(dictionary__add_stack(d, id, &frame, 1), 0);
}

/* The number depends on the frames only, not on the IDs of the generation. */
TEST(numbers_of_stacks)
{
	struct stack_numbers numbers = {};
	struct dictionary a, b;
	int64_t number;

	dictionary__init(&a);
	dictionary__init(&b);
	assert_int_equal(dictionary__add_string(&a, 1, "f", 1), 0);
	assert_int_equal(dictionary__add_string(&a, 2, "f.go", 4), 0);
	assert_int_equal(dictionary__add_string(&b, 1, "f", 1), 0);
	assert_int_equal(dictionary__add_string(&b, 2, "f.go", 4), 0);
	add_stack(&a, 5, 10);
	add_stack(&a, 6, 11);
	add_stack(&b, 9, 10);
	number = stack_numbers__get(&numbers, &a, 5);
	assert_true(number > 0);
	assert_int_equal(stack_numbers__get(&numbers, &a, 5), number);
	assert_int_not_equal(stack_numbers__get(&numbers, &a, 6), number);
	assert_int_equal(stack_numbers__get(&numbers, &a, 0), ROW_NULL);
	assert_int_equal(stack_numbers__get(&numbers, &a, 77), ROW_NULL);
	stack_numbers__clear(&numbers);
	assert_int_equal(stack_numbers__get(&numbers, &b, 9), number);
	stack_numbers__clear(&numbers);
	dictionary__deinit(&a);
	dictionary__deinit(&b);
}

struct taken {
	size_t rows, calls;
	int err;
};

static int take(void *context, struct rows *r)
{
	struct taken *taken = context;

	for (size_t i = 0; i < r->n; i++)
		assert_int_equal(r->numbers[NUMBER][i], taken->rows + i);
	taken->rows += r->n;
	taken->calls++;
	return taken->err;
}

/* full() takes the rows when they are many, or their texts long; and its error ends adding. */
TEST(full)
{
	static char text[ROWS_TEXTS / 4];
	struct taken taken = {};
	int64_t n = 0;

	memset(text, 'x', sizeof(text));
	begin();
	rows.full = take;
	rows.context = &taken;
	for (; n < 2 * ROWS_FULL + 1; n++) {
		assert_int_equal(rows__add(&rows), 0);
		row__number(&rows, NUMBER, n);
		row__text(&rows, TEXT, text__null());
	}
	assert_int_equal(taken.calls, 2);
	assert_int_equal(rows.n, 1);
	for (; n < 2 * ROWS_FULL + 10; n++) {
		assert_int_equal(rows__add(&rows), 0);
		row__number(&rows, NUMBER, n);
		row__copy(&rows, TEXT, (struct trace_string){ text, sizeof(text) });
	}
	assert_int_equal(taken.calls, 4);
	assert_int_equal(taken.rows + rows.n, n);
	taken.err = -EPIPE;
	for (; n < 3 * ROWS_FULL && !rows__add(&rows); n++) {
		row__number(&rows, NUMBER, n);
		row__copy(&rows, TEXT, (struct trace_string){ text, sizeof(text) });
	}
	assert_int_equal(taken.calls, 5);
	assert_int_equal(taken.rows, n);
	rows__deinit(&rows);
}
