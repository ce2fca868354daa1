/* peers.h - direct access of a device to the memory of another one. */
#ifndef SL_PRIMITIVES_DEVICE_PEERS_H
#define SL_PRIMITIVES_DEVICE_PEERS_H

#include "primitives/device/device.h"

SL_C_BEGIN

/*
 * Lets kernels of the current device access the memory of another one (CUDA: peer access), from now on. *reached is
 * false if the hardware or the driver cannot do it; sl_copy() can copy between any two devices. It applies to memory
 * of sl_memory_get() and cudaMalloc(). For memory of cudaMallocAsync() or cuMemMap() the caller sets the access
 * rights separately (cudaMemPoolSetAccess(), cuMemSetAccess()).
 */
enum sl_status sl_device_reach(const struct sl_device *other, bool *reached);

SL_C_END

#endif
