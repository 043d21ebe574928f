// SPDX-License-Identifier: GPL-2.0
/*
 * Maps of the probes' object in another one: see shared_maps.h.
 */
#include <bpf/libbpf.h>

#include "capture/shared_maps.h"

int shared_maps__use(const struct shared_maps *maps, struct bpf_object *object)
{
	const struct {
		const char *name;
		int fd;
	} map[] = {
		{ "rings", maps->rings },
		{ "counters", maps->counters },
		{ ".bss.rings", maps->ring_seq },
	};
	int code = 0;

	for (unsigned int i = 0; i < sizeof(map) / sizeof(*map) && !code; i++)
		code = bpf_map__reuse_fd(bpf_object__find_map_by_name(object, map[i].name),
					 map[i].fd);
	return code;
}
