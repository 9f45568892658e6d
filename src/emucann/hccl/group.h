// HcclGroupStart and HcclGroupEnd: sends and receives between them run as one exchange, so that none waits
// for another.
#pragma once

#include "acl/acl.h"
#include "communicator.h"

namespace emucann::hccl {

// Keeps the transfer for this thread's HcclGroupEnd. Returns false, and keeps nothing, if no group is open.
bool add_to_group(HcclComm handle, aclrtStream stream, const Transfer& transfer);

}  // namespace emucann::hccl
