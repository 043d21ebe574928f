// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of statements without their literals, in the dialects that disagree about what a literal is,
 * and cut anywhere. Under test: names/sql_text.c.
 */
#include "unit/test.h"
#include "names/sql_text.h"

#define SIZE 256

struct shape {
	const char *statement, *name;
};

static void check(const struct shape *shape)
{
	char ret[SIZE + 1] = "";
	size_t n = sql_text__shape(shape->statement, strlen(shape->statement), ret, SIZE);

	assert_in_range(n, 0, SIZE);
	ret[n] = '\0';
	assert_string_equal(ret, shape->name);
}

#define CHECK(...)                                                                                 \
	do {                                                                                       \
		static const struct shape shapes[] = { __VA_ARGS__ };                              \
                                                                                                   \
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)                    \
			check(&shapes[i]);                                                         \
	} while (0)

TEST(literals)
{
	CHECK({ "", "" }, { " ; ", "" }, { "SELECT 1", "SELECT ?" },
	      { "select 1.5e-3+.5, x'00', 0xFFe-1, t1.c2", "select ?+?, x?, ... t1.c2" },
	      { "SELECT 'it''s', a FROM t WHERE b=-1;", "SELECT ?, a FROM t WHERE b=-?" },
	      { "a = 'x\\\\' AND b = 'y'", "a = ? AND b = ?" }, { "a='x'\n'y'", "a=? ?" },
	      { "SELECT $1, ?2, :name, @p1, $x, :1", "SELECT ?, ... :name, @p1, $x, :?" },
	      { "SELECT $$it's$$, $tag$ $$ $tag$, v$session", "SELECT ?, ... v$session" });
}

TEST(lists)
{
	CHECK({ "a IN (1,2 , 3)", "a IN (?, ...)" },
	      { "a IN ( 1, 'b' ) AND c", "a IN (?, ...) AND c" },
	      { "VALUES (?, ?, ?), (1, 2)", "VALUES (?, ...), (?, ...)" },
	      { "f(1, 2, a, 3, 4)", "f(?, ... a, ?, ...)" }, { "f(1, a)", "f(?, a)" });
}

TEST(comments)
{
	CHECK({ "-- it's\nSELECT/* it's */a  --\n\tFROM\r\nt -- x", "SELECT a FROM t" },
	      { "SELECT 1 /* a /* b */ 'secret' */", "SELECT ? ..." }, { "a /* b", "a ..." },
	      { "SELECT 5--3\n, b", "SELECT ?, b" }, { "SELECT a--'b\nsecret'", "SELECT a..." },
	      { "a # b\nc", "a c" }, { "a # it's\n'secret'", "a ..." });
}

TEST(identifiers)
{
	CHECK({ "SELECT \"u\".\"id\", \"secret\" FROM \"u\"", "SELECT \"u\".\"id\", ? FROM \"u\"" },
	      { "INSERT INTO \"t\" (\"a\") VALUES (1)", "INSERT INTO \"t\" (?) VALUES (?)" },
	      { "update \"t\" set a = \"secret\"", "update \"t\" set a = ?" },
	      { "SELECT trim('a' FROM \"secret\")", "SELECT trim(? FROM ?)" },
	      { "VALUES (1,2,\"secret\")", "VALUES (?, ...)" },
	      { "a IS DISTINCT FROM \"secret\"", "a IS DISTINCT FROM ?" },
	      { "a is not distinct /* */ from \"secret\"", "a is not distinct from ?" },
	      { "SELECT DISTINCT a FROM \"u\"", "SELECT DISTINCT a FROM \"u\"" },
	      { "a = \"x\"\"y\"", "a = ?" }, { "SELECT `it's`, [a b]", "SELECT `it's`, [a b]" },
	      { "SELECT ARRAY['a', 'b']", "SELECT ARRAY[?, ...]" },
	      { "SELECT [it's], 'secret'", "SELECT ..." },
	      { "SELECT \xc3\xa9t\xc3\xa9 = 'secret'", "SELECT \xc3\xa9t\xc3\xa9 = ?" });
}

/* The end of a string is unknown. */
TEST(unclear)
{
	CHECK({ "a = 'x\\' , 'secret'", "a = ?..." }, { "a = 'secret", "a = ?..." },
	      { "a = \"secret", "a = ?..." }, { "a = \"x\\\" \"secret", "a = ?..." },
	      { "q'[it's secret]'", "q..." }, { "Nq'x'", "Nq..." }, { "$$ secret", "?..." },
	      { "$a$ secret $b$", "?..." }, { "`a", "..." });
}

/* No byte of a literal, wherever the statement or the name is cut; nothing is read or written behind. */
TEST(cut)
{
	static const char text[] = "SELECT a, 'XX\\\\X''X', $t$XX$t$, \"X\", X'X', 9X9, N'X' -- X\n"
				   "FROM t /* X */ WHERE b IN ('X', 'X') AND `c`[1] = q'{X'}'";
	char copy[sizeof(text)], ret[SIZE];

	for (size_t len = 0; len < sizeof(text); len++) {
		for (size_t size = 0; size <= 100; size++) {
			char *at = copy + sizeof(copy) - len; /* its end is that of the array */
			size_t n;

			memcpy(at, text, len);
			n = sql_text__shape(at, len, ret, size);
			assert_in_range(n, 0, size);
			for (size_t i = 0; i < n; i++)
				assert_true(ret[i] != 'X' || (i + 1 == n || ret[i + 1] == '?'));
			assert_null(memchr(ret, '9', n));
		}
	}
}

TEST(hostile)
{
	char text[1024], ret[SIZE];

	for (unsigned int c = 0; c < 256; c++) {
		memset(text, (int)c, sizeof(text));
		assert_in_range(sql_text__shape(text, sizeof(text), ret, SIZE), 0, SIZE);
		for (size_t i = 0; i < sizeof(text); i += 2)
			text[i] = "'\"$[]#/*-,? 1a\\"[i / 2 % 15];
		assert_in_range(sql_text__shape(text, sizeof(text), ret, SIZE), 0, SIZE);
	}
}
