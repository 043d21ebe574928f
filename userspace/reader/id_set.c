// SPDX-License-Identifier: GPL-2.0
/* Sets of IDs that are mostly successive: see id_set.h. */
#include "reader/id_set.h"

#include <errno.h>

#define IDS 512

struct id_bitmap {
	uint64_t word[IDS / 64];
};

void id_set__deinit(struct id_set *set)
{
	map__free(&set->recent);
	map__free(&set->older);
}

static bool bitmap__has(const struct id_bitmap *b, uint64_t id)
{
	return b && b->word[id % IDS / 64] >> id % 64 & 1;
}

bool id_set__has(const struct id_set *set, uint64_t id)
{
	return bitmap__has(map__get(&set->recent, id / IDS), id) ||
	       bitmap__has(map__get(&set->older, id / IDS), id);
}

int id_set__add(struct id_set *set, uint64_t id)
{
	struct id_bitmap *b = map__get(&set->recent, id / IDS);

	if (!b && set->recent.n == ID_SET_BITMAPS) {
		map__free(&set->older);
		set->older = set->recent;
		set->recent = (struct map){};
	}
	if (!b)
		b = map__put_new(&set->recent, id / IDS, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->word[id % IDS / 64] |= 1ull << id % 64;
	return 0;
}
