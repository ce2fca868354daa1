/* mcpl_direction.c - unit vectors as MCPL packs them, unpacked. */
#include <math.h>

#include "stages/formats/mcpl/mcpl.h"

/* The component that two others leave. */
static double third(double sign, double a, double b)
{
	return copysign(sqrt(fmax(0, 1 - (a * a + b * b))), sign);
}

void sl_mcpl_unpack(const double packed[3], double d[3])
{
	d[0] = packed[0];
	d[1] = packed[1];
	if (fabs(packed[0]) > 1) {
		d[2] = 1 / packed[0];
		d[0] = third(packed[2], d[1], d[2]);
	} else if (fabs(packed[1]) > 1) {
		d[2] = 1 / packed[1];
		d[1] = third(packed[2], d[0], d[2]);
	} else {
		d[2] = third(packed[2], d[0], d[1]);
	}
}

void sl_mcpl_unpack_octahedron(const double packed[3], double d[3])
{
	double length;

	d[0] = packed[0];
	d[1] = packed[1];
	d[2] = 1 - fabs(packed[0]) - fabs(packed[1]);
	if (d[2] < 0) {
		d[0] = copysign(1 - fabs(packed[1]), packed[0] >= 0 ? 1 : -1);
		d[1] = copysign(1 - fabs(packed[0]), packed[1] >= 0 ? 1 : -1);
	}
	length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
	for (int i = 0; i < 3; i++)
		d[i] /= length;
}
