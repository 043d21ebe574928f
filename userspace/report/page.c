// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the page a constant of the program: see page.h. The file is found from the folder in which
 * the compiler runs, that of the Makefile.
 */
#include "report/page.h"

asm(".section .rodata\n"
    ".global report_page\n"
    ".global report_page_end\n"
    "report_page:\n"
    ".incbin \"build/made/report/page.html\"\n"
    "report_page_end:\n"
    ".byte 0\n"
    ".previous\n");
