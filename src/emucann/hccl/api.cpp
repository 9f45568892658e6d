#include "api.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "element.h"
#include "emucann/runtime.h"

namespace emucann::hccl {
namespace {

struct Handles {
  std::mutex mutex;
  std::map<HcclComm, std::shared_ptr<Communicator>> live;
  std::uintptr_t next = 1;
};

Handles& handles() {
  static auto* instance =
      new Handles;  // never destroyed: torch-npu destroys communicators at exit, in any order
  return *instance;
}

}  // namespace

HcclComm add_communicator(std::shared_ptr<Communicator> communicator) {
  std::lock_guard lock(handles().mutex);
  const auto handle = reinterpret_cast<HcclComm>(handles().next++);
  handles().live.emplace(handle, std::move(communicator));
  return handle;
}

bool remove_communicator(HcclComm handle) {
  std::lock_guard lock(handles().mutex);
  return handles().live.erase(handle) == 1;
}

std::shared_ptr<Communicator> communicator_of(HcclComm handle) {
  std::lock_guard lock(handles().mutex);
  const auto found = handles().live.find(handle);
  if (found == handles().live.end()) {
    throw Error(HCCL_E_PARA, "no such communicator; it was destroyed or never made by HcclCommInit*");
  }
  return found->second;
}

HcclResult guarded(const char* function, const std::function<void()>& body) {
  std::string message;
  HcclResult code = HCCL_E_INTERNAL;
  try {
    body();
    return HCCL_SUCCESS;
  } catch (const Error& error) {
    code = error.code();
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  }
  set_error_message(std::string("emucann: ") + function + ": " + message);
  return code;
}

void enqueue_operation(const char* function, HcclComm handle, aclrtStream stream,
                       std::function<void(Communicator&)> body) {
  auto communicator = communicator_of(handle);
  const aclError status =
      enqueue(stream, function,
              [communicator = std::move(communicator), body = std::move(body)] { body(*communicator); });
  if (status != ACL_SUCCESS)
    throw Error(HCCL_E_RUNTIME, "the stream refused it, aclError " + std::to_string(status));
}

void require_pointer(const void* pointer, const char* what) {
  if (pointer == nullptr) throw Error(HCCL_E_PTR, std::string(what) + " is null");
}

void require_buffer(const void* pointer, std::uint64_t count, const char* what) {
  if (count > 0) require_pointer(pointer, what);
}

void require_type(HcclDataType type) {
  if (element_bytes(type) == 0) {
    throw Error(HCCL_E_PARA, "data type " + std::to_string(type) + " is none of HcclDataType");
  }
}

void require_reduction(HcclDataType type, HcclReduceOp op) {
  require_type(type);
  if (!reducible(type, op)) {
    throw Error(HCCL_E_NOT_SUPPORT, "reduction " + std::to_string(op) + " of data type " +
                                        std::to_string(type) + " is not supported");
  }
}

void require_rank(const Communicator& communicator, std::uint32_t rank, const char* what) {
  if (rank >= communicator.ranks()) {
    throw Error(HCCL_E_PARA, std::string(what) + " is rank " + std::to_string(rank) + ", communicator " +
                                 communicator.name() + " has " + std::to_string(communicator.ranks()));
  }
}

}  // namespace emucann::hccl
