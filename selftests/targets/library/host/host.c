// SPDX-License-Identifier: GPL-2.0
/*
 * A program of C whose Go code is in a library (../library.go), linked with it or loaded by it.
 *
 *	host [-trace FILE]
 */
#include <string.h>

void Begin(const char *file);
int Work(void);
void End(void);

int main(int argc, char **argv)
{
	int sum = 0;

	Begin(argc == 3 && !strcmp(argv[1], "-trace") ? argv[2] : "");
	for (int i = 0; i < 400; i++)
		sum += Work();
	End();
	return sum != 1200;
}
