// What the C entry points share: handles, argument checks, and the step from the caller's thread to the
// stream's.
#pragma once

#include <functional>
#include <memory>

#include "acl/acl.h"
#include "communicator.h"
#include "error.h"

namespace emucann::hccl {

// Live communicators; a handle is their key, never dereferenced, so that a stale one is an error and not a
// crash.
HcclComm add_communicator(std::shared_ptr<Communicator> communicator);
bool remove_communicator(HcclComm handle);
std::shared_ptr<Communicator> communicator_of(HcclComm handle);  // throws Error(HCCL_E_PARA) if unknown

// Runs body; an Error becomes its code, with "emucann: <function>: <message>" as aclGetRecentErrMsg.
HcclResult guarded(const char* function, const std::function<void()>& body);

// Enqueues body(communicator) on the stream. A communicator that is destroyed lives until its queued work is
// done.
void enqueue_operation(const char* function, HcclComm handle, aclrtStream stream,
                       std::function<void(Communicator&)> body);

// Argument checks; each throws Error naming the argument.
void require_pointer(const void* pointer, const char* what);
void require_buffer(const void* pointer, std::uint64_t count,
                    const char* what);  // null is allowed if count is 0
void require_type(HcclDataType type);
void require_reduction(HcclDataType type, HcclReduceOp op);
void require_rank(const Communicator& communicator, std::uint32_t rank, const char* what);

}  // namespace emucann::hccl
