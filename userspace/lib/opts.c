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

/* ---- dates ---- */

/* A number of exactly `digits` digits in [min, max], followed by `end` unless that is 0. */
static bool take_field(const char **text, unsigned int digits, int min, int max, char end, int *ret)
{
	int value = 0;

	for (; digits; digits--, ++*text) {
		if (!isdigit((unsigned char)**text))
			return false;
		value = value * 10 + (**text - '0');
	}
	if (value < min || value > max || (end && *(*text)++ != end))
		return false;
	*ret = value;
	return true;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

/* "2026-11-26": the days since 1970. */
static bool take_date(const char **text, int64_t *ret_days)
{
	int year, month, day;
	int64_t days = 0;

	if (!take_field(text, 4, 1970, 2261, '-', &year) ||
	    !take_field(text, 2, 1, 12, '-', &month) ||
	    !take_field(text, 2, 1, days_in(year, month), '\0', &day))
		return false;
	for (int y = 1970; y < year; y++)
		days += is_leap(y) ? 366 : 365;
	for (int m = 1; m < month; m++)
		days += days_in(year, m);
	*ret_days = days + day - 1;
	return true;
}

/* "04:58:10" or "04:58:10.5": ns since midnight. */
static bool take_time_of_day(const char **text, int64_t *ret_ns)
{
	int64_t unit = 1000000000, ns;
	int hour, minute, second;

	if (!take_field(text, 2, 0, 23, ':', &hour) || !take_field(text, 2, 0, 59, ':', &minute) ||
	    !take_field(text, 2, 0, 59, '\0', &second))
		return false;
	ns = (hour * 3600 + minute * 60 + second) * unit;
	if (**text == '.') {
		if (!isdigit((unsigned char)*++*text))
			return false;
		for (; isdigit((unsigned char)**text); ++*text) {
			unit /= 10;
			ns += (**text - '0') * unit;
		}
	}
	*ret_ns = ns;
	return true;
}

/* "Z", " UTC", "+01:00" or "-05:30", to the end of the text: the seconds by which it is ahead of UTC. */
static bool take_offset(const char *text, int64_t *ret_seconds)
{
	int sign = *text == '-' ? -1 : 1, hours, minutes;

	*ret_seconds = 0;
	if (!strcmp(text, "Z") || !strcmp(text, "z") || !strcmp(text, " UTC"))
		return true;
	if (*text != '+' && *text != '-')
		return false;
	text++;
	if (!take_field(&text, 2, 0, 23, ':', &hours) ||
	    !take_field(&text, 2, 0, 59, '\0', &minutes) || *text)
		return false;
	*ret_seconds = sign * (hours * 3600 + minutes * 60);
	return true;
}

bool opts__timestamp(const char *text, int64_t *ret_ns)
{
	int64_t days, ns, offset;

	if (!take_date(&text, &days) || (*text != 'T' && *text != 't' && *text != ' '))
		return false;
	text++;
	if (!take_time_of_day(&text, &ns) || !take_offset(text, &offset))
		return false;
	*ret_ns = (days * 86400 - offset) * 1000000000 + ns;
	return true;
}

/* ---- numbers ---- */

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
