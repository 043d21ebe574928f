// SPDX-License-Identifier: GPL-2.0
/*
 * Values of options: see opts.h.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/opts.h"

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },	     { "us", 1000 },	      { "\xc2\xb5s", 1000 },	 { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000ull }, { "h", 3600000000000ull },
};

/* The unit at *text, which advances past it; 0: none. */
static uint64_t take_unit(const char **text)
{
	size_t len = strcspn(*text, "0123456789."), i;

	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strlen(units[i].name) == len && !strncmp(*text, units[i].name, len)) {
			*text += len;
			return units[i].ns;
		}
	}
	return 0;
}

/* Digits with at most one decimal point: the integer part, and the fraction over *ret_scale. */
static bool take_digits(const char **text, uint64_t *ret_whole, uint64_t *ret_part,
			uint64_t *ret_scale)
{
	uint64_t *number = ret_whole;
	const char *p = *text;
	bool any = false;

	*ret_whole = *ret_part = 0;
	*ret_scale = 1;
	for (; isdigit((unsigned char)*p) || (*p == '.' && number == ret_whole); p++) {
		if (*p == '.') {
			number = ret_part;
			continue;
		}
		any = true;
		if (number == ret_part && *ret_scale >= 10000000000000000000ull)
			continue; /* less than a nanosecond, whatever the unit */
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, *p - '0', number))
			return false;
		if (number == ret_part)
			*ret_scale *= 10;
	}
	*text = p;
	return any;
}

bool opts__duration(const char *text, uint64_t *ret_ns)
{
	uint64_t sum = 0, whole, part, scale, unit;

	if (!strcmp(text, "0")) {
		*ret_ns = 0;
		return true;
	}
	if (!*text)
		return false;
	while (*text) {
		if (!take_digits(&text, &whole, &part, &scale))
			return false;
		unit = take_unit(&text);
		if (!unit || __builtin_mul_overflow(whole, unit, &whole) ||
		    __builtin_add_overflow(sum, whole, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)(part * ((double)unit / scale)), &sum))
			return false;
	}
	if (sum > INT64_MAX)
		return false;
	*ret_ns = sum;
	return true;
}

/* The digits that `text` begins with; *ret_end: what follows them. */
static bool take_number(const char *text, unsigned long long *ret, char **ret_end)
{
	errno = 0;
	*ret = strtoull(text, ret_end, 10);
	return isdigit((unsigned char)*text) && !errno;
}

bool opts__number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	unsigned long long value;
	char *end;

	if (!take_number(text, &value, &end) || *end || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

bool opts__size(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	static const char units[] = "KMG";
	unsigned long long value;
	const char *unit;
	char *end;

	if (!take_number(text, &value, &end))
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1] ||
		     __builtin_mul_overflow(value, 1ull << 10 * (unit - units + 1), &value)))
		return false;
	if (value < min || value > max)
		return false;
	*ret = value;
	return true;
}

bool opts__list(const char *text, const char *const *names, size_t n, uint64_t *ret, char *unknown,
		size_t size)
{
	uint64_t set = 0;
	size_t len, i;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < n; i++)
			if (strlen(names[i]) == len && !strncmp(text, names[i], len))
				break;
		if (i == n) {
			snprintf(unknown, size, "%.*s", (int)len, text);
			return false;
		}
		set |= 1ull << i;
		if (!text[len])
			break;
	}
	*ret = set;
	return true;
}
