// A function of CANN's runtime that vllm-ascend's binding calls and the headers of the torch-npu wheel do not
// declare.
#pragma once

#include <cstddef>

#include "acl/acl.h"

extern "C" aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* property,
                                                     aclrtMemGranularityOptions option,
                                                     std::size_t* granularity);
