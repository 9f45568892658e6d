// What the runtime exports and the torch-npu wheel's headers do not declare: torch-npu finds these by their
// names.
#pragma once

#include "acl/acl.h"

extern "C" {
aclError aclrtHostRegister(void* pointer, uint64_t bytes, aclrtHostRegisterType type, void** device_pointer);
aclError aclrtHostUnregister(void* pointer);
aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* property, aclrtMemGranularityOptions option,
                                          size_t* granularity);
aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);
aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* microseconds);
aclError aclrtStreamGetId(aclrtStream stream, int32_t* id);
aclError aclrtSynchronizeDeviceWithTimeout(int32_t milliseconds);

// The emulator's own.
aclError emucann_stall_stream(aclrtStream stream, uint64_t microseconds);
}
