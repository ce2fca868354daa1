"""cuda.py - the few calls of NVIDIA's driver that a script needs to time a library: memory, a stream, events.

All calls go to libcuda.so.1 through ctypes, so no Python package is needed. A call that fails raises OSError.
"""
import ctypes

from common import NotRun


class Cuda:
    """The first GPU and a stream; memory is freed with free_all()."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libcuda.so.1")
        except OSError as e:
            raise NotRun(f"there is no NVIDIA driver ({e})") from e
        if self.library.cuInit(0) != 0:
            raise NotRun("there is no CUDA GPU that the driver can use")
        device, context, self.stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), ctypes.c_uint(0))
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, ctypes.c_int(256), device)
        self.name = name.value.decode()
        self.memory = []

    def call(self, function, *arguments):
        code = getattr(self.library, function)(*arguments)
        if code != 0:
            raise OSError(f"{function} failed with CUDA error {code}")

    def allocate(self, size):
        """The address of new memory of the device."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        self.memory.append(address)
        return address.value

    def upload(self, data):
        """The address of new memory with a copy of the bytes."""
        address = self.allocate(len(data))
        source = (ctypes.c_char * len(data)).from_buffer(data)
        self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), source, ctypes.c_size_t(len(data)))
        return address

    def download(self, address, size):
        data = bytearray(size)
        to = (ctypes.c_char * size).from_buffer(data)
        self.call("cuMemcpyDtoH_v2", to, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return data

    def free_all(self):
        for address in self.memory:
            self.call("cuMemFree_v2", address)
        self.memory = []

    def seconds(self, work):
        """Calls work(), which queues calls in the stream; the seconds that they take on the device."""
        begin, end = self.events
        elapsed = ctypes.c_float()
        self.call("cuEventRecord", begin, self.stream)
        work()
        self.call("cuEventRecord", end, self.stream)
        self.call("cuEventSynchronize", end)
        self.call("cuEventElapsedTime", ctypes.byref(elapsed), begin, end)
        return elapsed.value / 1e3
