/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fields of protocol buffers, appended to a buffer in memory.
 *
 * Used by profile/pprof.c and export/perfetto.c, which build each message in a buffer, because its
 * length precedes it in the message that contains it. Written by this project rather than by
 * libprotobuf-c: both formats consist of numbers and strings, the library would allocate each
 * message and each of its members, and it would be one more package to install.
 *
 * All functions return 0, or a negative errno with the reason (`error` may be NULL).
 */
#ifndef FORMAT_PROTOBUF_H
#define FORMAT_PROTOBUF_H

#include <stdint.h>

#include "lib/outbuf.h"

int protobuf__number(struct outbuf *to, unsigned int field, uint64_t v, struct error *error);
int protobuf__fixed64(struct outbuf *to, unsigned int field, uint64_t v, struct error *error);
/* Bytes, or an encoded message. */
int protobuf__bytes(struct outbuf *to, unsigned int field, const void *data, size_t len,
		    struct error *error);
/* Text of unknown origin: what is not UTF-8 is replaced by U+FFFD. */
int protobuf__text(struct outbuf *to, unsigned int field, const char *data, size_t len,
		   struct error *error);
/* The same text without a field in front of it. */
int protobuf__utf8(struct outbuf *to, const char *data, size_t len, struct error *error);

#endif
