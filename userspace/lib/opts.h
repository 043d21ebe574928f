/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of options: durations, dates, numbers, sizes, lists.
 */
#ifndef LIB_OPTS_H
#define LIB_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Go-style: "1m30s", "500ms", "1.5h", "0"; units ns us µs ms s m h. False: not a duration. */
bool opts__duration(const char *text, uint64_t *ret_ns);

/*
 * A date and time of day by RFC 3339, of the years 1970 to 2261, with its offset from UTC:
 * "2026-11-26T04:58:10.5Z", "2026-11-26T05:58:10+01:00"; also "2026-11-26 04:58:10 UTC". Digits below a nanosecond are ignored, and
 * there are no leap seconds. *ret_ns: since 1970 in UTC. False: not such a time, or no such date.
 */
bool opts__timestamp(const char *text, int64_t *ret_ns);

/* A decimal integer in [min, max]. */
bool opts__number(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

/* Binary units: "65536", "64K", "16M", "1G"; in [min, max] bytes. */
bool opts__size(const char *text, uint64_t min, uint64_t max, uint64_t *ret);

/*
 * A comma-separated list of the `n` names; bit i of *ret stands for names[i]. False if it is empty
 * or contains an unknown word; the first of these is copied to `unknown` (`size` bytes).
 */
bool opts__list(const char *text, const char *const *names, size_t n, uint64_t *ret, char *unknown,
		size_t size);

#endif
