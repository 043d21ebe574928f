/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The HTML page of a report, without its data: the Makefile joins the files of userspace/report/page/
 * to one, which is part of the program.
 *
 * Downstream: gotrace/views/report.c, which writes the data into it.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

/* The data belong after this text, which the page contains once, and before REPORT_PAGE_DATA_END. */
#define REPORT_PAGE_DATA     "<script type=\"application/json\" id=\"gotrace-data\">"
#define REPORT_PAGE_DATA_END "</script>"

extern const char report_page[], report_page_end[];

#endif
