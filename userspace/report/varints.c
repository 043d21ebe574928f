// SPDX-License-Identifier: GPL-2.0
/*
 * Numbers as text: see varints.h. Between lanes_print.c and lib/json.h.
 */
#include "report/varints.h"

#include <errno.h>
#include <stdlib.h>

#include "format/encode.h"
#include "lib/base64.h"

void varints__add(struct varints *v, uint64_t number)
{
	if (!v->err)
		v->err = outbuf__room(&v->bytes, LEB_MAX, NULL);
	if (!v->err)
		leb__append(&v->bytes, number);
}

int varints__print(struct varints *v, struct json *j, const char *name)
{
	char *text = v->err ? NULL : malloc(BASE64_SIZE(v->bytes.len));

	if (text) {
		base64__encode(text, v->bytes.data, v->bytes.len);
		json__string(j, name, text);
	}
	outbuf__deinit(&v->bytes);
	v->err = 0;
	free(text);
	return text ? 0 : -ENOMEM;
}
