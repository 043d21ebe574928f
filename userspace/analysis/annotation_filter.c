// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of tasks and regions: see annotation_filter.h. Between analysis/select.c, which has the
 * values of the options, and the analyses of annotations.
 */
#include "analysis/annotation_filter.h"

int annotation_filter__accepts(const struct annotation_filter *f, const struct name_table *names,
			       uint64_t g, uint32_t name, bool *ret)
{
	struct selection *select = f->select;

	*ret = !select || selection__goroutine(select, f->goroutines, g);
	if (!select || !*ret)
		return 0;
	return select_pattern__accepts(&select->name, name, name_table__at(names, name), ret);
}

bool annotation_filter__accepts_unknown(const struct annotation_filter *f)
{
	return !f->select || (!selection__by_goroutine(f->select) && !f->select->name.text);
}
