// SPDX-License-Identifier: GPL-2.0
/*
 * Values of calibrate_flow.c, each stored once, so that equal values have equal ids.
 *
 * Upstream: calibrate_step.c creates them. Downstream: calibrate_shape.c and others compare them.
 */
#include <stdlib.h>

#include "lib/hash.h"
#include "target/infer/calibrate_code.h"

#define VALUES_MAX (1u << 16) /* values of one function; 2,000 are usual */
#define BUCKETS	   (1u << 12)

bool values__init(struct values *vs)
{
	*vs = (struct values){ .n = 2 };
	vs->v = malloc(VALUES_MAX * sizeof(*vs->v));
	vs->next = malloc(VALUES_MAX * sizeof(*vs->next));
	vs->bucket = calloc(BUCKETS, sizeof(*vs->bucket));
	if (!vs->v || !vs->next || !vs->bucket) {
		values__deinit(vs);
		return false;
	}
	vs->v[0] = (struct value){ VALUE_NONE };
	vs->v[1] = (struct value){ VALUE_OPAQUE }; /* used when full */
	return true;
}

void values__deinit(struct values *vs)
{
	free(vs->v);
	free(vs->next);
	free(vs->bucket);
	*vs = (struct values){ 0 };
}

static uint32_t hash(const struct value *v)
{
	uint64_t h = hash__word((uint64_t)v->base << 16 | v->kind << 8 | v->width);

	return (uint32_t)(hash__word(h ^ (uint64_t)v->k) % BUCKETS);
}

value_id values__get(struct values *vs, enum value_kind kind, value_id base, int64_t k,
		     unsigned int width)
{
	struct value v = { (uint8_t)kind, (uint8_t)width, base, k };
	uint32_t *head = &vs->bucket[hash(&v)];

	for (uint32_t i = *head; i; i = vs->next[i]) {
		if (vs->v[i].kind == v.kind && vs->v[i].width == v.width && vs->v[i].base == base &&
		    vs->v[i].k == k)
			return i;
	}
	if (vs->n == VALUES_MAX) {
		vs->full = true;
		return 1;
	}
	vs->v[vs->n] = v;
	vs->next[vs->n] = *head;
	*head = vs->n;
	return vs->n++;
}

value_id values__add(struct values *vs, value_id base, int64_t k)
{
	const struct value v = vs->v[base];
	int64_t sum = (int64_t)((uint64_t)v.k + (uint64_t)k);

	switch (v.kind) {
	case VALUE_CONST:
	case VALUE_GLOBAL:
	case VALUE_STACK:
		return values__get(vs, v.kind, 0, sum, 0);
	case VALUE_ADD:
		return sum ? values__get(vs, VALUE_ADD, v.base, sum, 0) : v.base;
	default:
		return k ? values__get(vs, VALUE_ADD, base, k, 0) : base;
	}
}

value_id values__load(struct values *vs, value_id base, int64_t disp, unsigned int width)
{
	const struct value v = vs->v[base];

	if (v.kind == VALUE_ADD || v.kind == VALUE_GLOBAL || v.kind == VALUE_STACK) {
		disp = (int64_t)((uint64_t)disp + (uint64_t)v.k);
		if (v.kind == VALUE_ADD)
			base = v.base;
		else
			return values__get(vs, VALUE_LOAD, values__get(vs, v.kind, 0, disp, 0), 0,
					   width);
	}
	return values__get(vs, VALUE_LOAD, base, disp, width);
}
