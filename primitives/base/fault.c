/* fault.c - sl_fault() of the library and the program: it injects nothing (see fault.h). */
#include "fault.h"

int sl_fault(const char *call)
{
	(void)call;
	return 0;
}
