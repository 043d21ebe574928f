// SPDX-License-Identifier: GPL-2.0
/*
 * SQL statements without their literals: see sql_text.h.
 *
 * One pass over the statement, without memory. The dialect is unknown, so a text counts as a literal
 * if it is one in any of PostgreSQL, MySQL, SQLite, SQL Server and Oracle.
 */
#include "names/sql_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "lib/buf.h"

struct shaper {
	const char *at, *end; /* of the statement, what is left */
	char *ret;
	size_t n, size;
	int parens;	  /* open ones */
	bool space;	  /* precedes the next token */
	bool literal;	  /* the last token was one */
	bool listed;	  /* a list of literals was shortened: the next one belongs to it */
	bool takes_table; /* the next token can only be the name of a table */
	bool distinct;	  /* the last token was DISTINCT */
	bool over;	  /* the name ends here: what follows may be part of a literal */
};

static char shaper__char(const struct shaper *s, size_t ahead)
{
	return ahead < (size_t)(s->end - s->at) ? s->at[ahead] : '\0';
}

static void put(struct shaper *s, const char *text, size_t len)
{
	if (len > s->size - s->n)
		len = s->size - s->n;
	memcpy(s->ret + s->n, text, len);
	PARSER_STEPS(len);
	s->n += len;
}

/* Writes a token. White space before it becomes one blank, none at the begin. */
static void put_token(struct shaper *s, const char *text, size_t len)
{
	if (s->space && s->n && s->ret[s->n - 1] != '(')
		put(s, " ", 1);
	put(s, text, len);
	s->space = s->literal = s->listed = s->takes_table = s->distinct = false;
}

static void put_over(struct shaper *s)
{
	put_token(s, "...", 3);
	s->over = true;
}

/* Whether what was written ends with a literal and a comma, or with a list that was shortened. */
static bool after_list(const struct shaper *s)
{
	return s->listed || (s->n >= 2 && !memcmp(s->ret + s->n - 2, "?,", 2));
}

static void put_literal(struct shaper *s)
{
	if (s->literal && !s->space)
		return; /* 'it''s' */
	if (!after_list(s)) {
		put_token(s, "?", 1);
	} else if (!s->listed) {
		put(s, " ...", 4);
		s->listed = true;
	}
	s->space = s->takes_table = false;
	s->literal = true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Bytes up to and with the next `quote`; 0: it is missing, or preceded by an odd number of `\`. */
static size_t quoted(const struct shaper *s, char quote)
{
	const char *close = memchr(s->at + 1, quote, (size_t)(s->end - s->at) - 1);
	size_t slashes = 0;

	PARSER_STEPS((size_t)((close ? close : s->end) - s->at));
	if (!close)
		return 0;
	while (close - slashes - 1 > s->at && close[-1 - (ptrdiff_t)slashes] == '\\')
		slashes++;
	PARSER_STEPS(slashes);
	return slashes % 2 ? 0 : (size_t)(close - s->at) + 1;
}

static void take_string(struct shaper *s)
{
	size_t len = quoted(s, '\'');

	put_literal(s);
	if (!len) {
		put_over(s);
		return;
	}
	s->at += len;
}

/*
 * MySQL's strings may be in double quotes, and SQLite takes unknown names for strings. Next to a dot,
 * and where a statement names its table, there are only identifiers.
 */
static void take_quoted(struct shaper *s)
{
	size_t len = quoted(s, '"');
	bool qualified = s->n && s->ret[s->n - 1] == '.' && !s->space && !s->listed;

	if (!len) {
		put_literal(s);
		put_over(s);
		return;
	}
	if (qualified || s->takes_table || shaper__char(s, len) == '.')
		put_token(s, s->at, len);
	else
		put_literal(s);
	s->at += len;
}

static void take_identifier(struct shaper *s, char quote)
{
	size_t len = quoted(s, quote);

	if (!len) {
		put_over(s);
		return;
	}
	put_token(s, s->at, len);
	s->at += len;
}

/* Also of hexadecimal digits, and with an exponent, which may be signed. */
static void take_number(struct shaper *s)
{
	const char *start = s->at;
	char before = '\0';

	while (s->at < s->end && (is_word(*s->at) || *s->at == '.' ||
				  ((*s->at == '+' || *s->at == '-') && tolower(before) == 'e')))
		before = *s->at++;
	PARSER_STEPS((size_t)(s->at - start));
	put_literal(s);
}

/* $1 is a parameter, $tag$...$tag$ a string. */
static void take_dollar(struct shaper *s)
{
	size_t tag = 1, left = (size_t)(s->end - s->at);
	const char *close;

	if (isdigit((unsigned char)shaper__char(s, 1))) {
		s->at++;
		take_number(s);
		return;
	}
	while (tag < left && is_word(s->at[tag]) && s->at[tag] != '$')
		tag++;
	PARSER_STEPS(tag);
	if (shaper__char(s, tag) != '$') {
		put_token(s, s->at, tag);
		s->at += tag;
		return;
	}
	tag++;
	put_literal(s);
	close = memmem(s->at + tag, left - tag, s->at, tag);
	PARSER_STEPS(close ? (size_t)(close - s->at) : left);
	if (close)
		s->at = close + tag;
	else
		put_over(s);
}

static bool is_any(const char *word, size_t len, const char *const *of, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strlen(of[i]) == len && !strncasecmp(of[i], word, len))
			return true;
	}
	return false;
}

/*
 * A table follows, unless FROM is in parentheses, where it may separate arguments: trim('a' from "b"),
 * or belongs to a comparison: a IS DISTINCT FROM "b".
 */
static bool names_table(const struct shaper *s, const char *word, size_t len, bool after_distinct)
{
	static const char *const before[] = { "INTO", "UPDATE", "JOIN", "TABLE", "FROM" };

	return is_any(word, len, before, s->parens || after_distinct ? 4 : 5);
}

static void take_word(struct shaper *s)
{
	static const char *const distinct[] = { "DISTINCT" };
	bool after_distinct = s->distinct;
	const char *word = s->at;
	size_t len = 0;

	while (is_word(shaper__char(s, len)))
		len++;
	PARSER_STEPS(len);
	put_token(s, word, len);
	s->at += len;
	s->takes_table = names_table(s, word, len, after_distinct);
	s->distinct = is_any(word, len, distinct, 1);
	/* Oracle's q'[it's]' ends with the bracket */
	if (shaper__char(s, 0) == '\'' && tolower(word[len - 1]) == 'q' && len <= 2)
		put_over(s);
}

/*
 * MySQL has comments that begin with '#', which is an operator of PostgreSQL, and none that begin with
 * two dashes and no blank: in such a line there must be no begin of a string or another comment.
 */
static void take_line(struct shaper *s, bool is_sure)
{
	const char *end = memchr(s->at, '\n', (size_t)(s->end - s->at));

	if (!end)
		end = s->end;
	PARSER_STEPS((size_t)(end - s->at));
	while (!is_sure && s->at < end) {
		if (strchr("'\"`$/", *s->at++)) {
			put_over(s);
			return;
		}
	}
	s->at = end;
}

/* False: no comment begins here. */
static bool take_comment(struct shaper *s)
{
	const char *close;

	if (*s->at == '-' && shaper__char(s, 1) == '-') {
		take_line(s, isspace((unsigned char)shaper__char(s, 2)));
	} else if (*s->at == '#') {
		take_line(s, false);
	} else if (*s->at == '/' && shaper__char(s, 1) == '*') {
		close = memmem(s->at + 2, (size_t)(s->end - s->at) - 2, "*/", 2);
		PARSER_STEPS((size_t)((close ? close : s->end) - s->at));
		/* PostgreSQL's comments nest; MySQL executes those that begin with '!' */
		if (close && !memmem(s->at + 2, (size_t)(close - s->at) - 2, "/*", 2))
			s->at = close + 2;
		else
			put_over(s);
	} else {
		return false;
	}
	s->space = true;
	return true;
}

/* SQL Server's identifier may contain a quote, PostgreSQL's array strings. */
static bool is_unclear(const struct shaper *s)
{
	size_t quotes = 0;

	for (const char *p = s->at; *s->at == '[' && p < s->end && *p != ']'; p++) {
		PARSER_STEPS(1);
		quotes += *p == '\'' || *p == '"';
	}
	return quotes % 2;
}

static void take_other(struct shaper *s)
{
	bool listed = s->listed && *s->at == ',';

	if (is_unclear(s)) {
		put_over(s);
		return;
	}
	if (*s->at == ',' || *s->at == ')')
		s->space = false;
	s->parens += (*s->at == '(') - (*s->at == ')');
	if (!listed) /* the comma of a list that was shortened */
		put_token(s, s->at, 1);
	s->literal = false;
	s->at++;
}

static void take(struct shaper *s)
{
	char c = *s->at;

	PARSER_STEPS(1);
	if (isspace((unsigned char)c)) {
		s->space = true;
		s->at++;
	} else if (take_comment(s)) {
		return;
	} else if (c == '\'') {
		take_string(s);
	} else if (c == '"') {
		take_quoted(s);
	} else if (c == '`') {
		take_identifier(s, c);
	} else if (c == '$') {
		take_dollar(s);
	} else if (isdigit((unsigned char)c) ||
		   (c == '.' && isdigit((unsigned char)shaper__char(s, 1)))) {
		take_number(s);
	} else if (c == '?') {
		s->at++;
		put_literal(s);
	} else if (is_word(c)) {
		take_word(s);
	} else {
		take_other(s);
	}
}

size_t sql_text__shape(const char *text, size_t len, char *ret, size_t size)
{
	struct shaper s = { .at = text, .end = text + len, .ret = ret, .size = size };

	while (s.at < s.end && !s.over && s.n < s.size)
		take(&s);
	while (s.n && (s.ret[s.n - 1] == ';' || s.ret[s.n - 1] == ' '))
		s.n--;
	return s.n;
}
