// Devices and the contexts that say, per thread, which one is current.
#pragma once

namespace emucann {

struct Context {
  int device = 0;
};

// The current thread's device; -1 if it has none.
int current_device();

// The current thread's device, device 0 if it has none: what CANN does for a null stream before
// aclrtSetDevice.
int current_device_or_first();

// Makes a thread of the runtime's own (a stream's worker) belong to a device.
void adopt_device(int device);

bool valid_device(int device);

}  // namespace emucann
