// SPDX-License-Identifier: GPL-2.0
/* The counter of lib/buf.h. */
#include "lib/buf.h"

uint64_t parser_steps;
