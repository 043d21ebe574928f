/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of the kinds of records, for statistics and messages.
 */
#ifndef LIB_KINDS_H
#define LIB_KINDS_H

const char *kind__name(unsigned int kind); /* "execute"; "unknown": no such kind */

#endif
