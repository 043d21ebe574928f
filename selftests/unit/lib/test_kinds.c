// SPDX-License-Identifier: GPL-2.0
/* Names of the kinds of records: each kind has one, and no two have the same. */
#include "unit/test.h"
#include "gotrace/record.h"
#include "lib/kinds.h"

TEST(names)
{
	for (unsigned int kind = 1; kind < GT_KIND_END; kind++) {
		if (gt_payload_size(kind) < 0) {
			assert_string_equal(kind__name(kind), "unknown");
			continue;
		}
		assert_string_not_equal(kind__name(kind), "unknown");
		for (unsigned int other = 1; other < kind; other++)
			assert_string_not_equal(kind__name(kind), kind__name(other));
	}
	assert_string_equal(kind__name(GT_EXECUTE), "execute");
	assert_string_equal(kind__name(GT_FAULT_END), "fault_end");
}

TEST(no_kinds)
{
	assert_string_equal(kind__name(0), "unknown");
	assert_string_equal(kind__name(GT_KIND_END), "unknown");
	assert_string_equal(kind__name(UINT32_MAX), "unknown");
}
