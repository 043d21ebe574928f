// SPDX-License-Identifier: GPL-2.0
/*
 * Calls a function, for selftests/check/measure.sh, which probes its first instruction: one that the kernel emulates, or
 * one that it single-steps.
 *
 *	hit emulated|stepped N
 */
#include <stdlib.h>
#include <string.h>

void emulated(void);
void stepped(void);

__asm__(".globl emulated, stepped\n"
	".type emulated, @function\n"
	".type stepped, @function\n"
	"emulated: push %rbp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size emulated, . - emulated\n"
	"stepped: mov %rdi, %rax\n"
	"	ret\n"
	".size stepped, . - stepped\n");

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;
	void (*called)(void) = n && !strcmp(argv[1], "stepped") ? stepped : emulated;

	while (n-- > 0)
		called();
	return 0;
}
