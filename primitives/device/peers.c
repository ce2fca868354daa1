/* peers.c - see peers.h. */
#include "primitives/device/peers.h"

#include "device_driver.h"

enum sl_status sl_device_reach(const struct sl_device *other, bool *reached)
{
	int number = 0, error = sl_driver_error_before("dev_reach");

	*reached = false;
	if (error == 0)
		error = sl_driver_in_use()->current(&number);
	if (error == 0 && number == other->number)
		*reached = true;
	else if (error == 0)
		error = sl_driver_in_use()->reach(other->number, reached);
	return sl_driver_status(error, "enabling access to the memory of another device");
}
