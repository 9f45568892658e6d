// C entry points that make, ask and end communicators.
#include <cstring>

#include "api.h"
#include "emucann/runtime.h"

namespace emucann::hccl {
namespace {

// The part of HcclCommConfig that HcclCommConfigInit (hccl.h) writes into `reserved`: how much of it the
// caller knows.
std::size_t config_bytes(const HcclCommConfig& config) {
  std::size_t size;
  std::memcpy(&size, &config, sizeof size);
  return size;
}

#define EMUCANN_CONFIG_HAS(config, field) \
  (config_bytes(config) >= offsetof(HcclCommConfig, field) + sizeof((config).field))

std::string default_name(const RootInfo& root) {
  char text[64];
  std::snprintf(text, sizeof text, "emucann_%d_%016llx", root.pid,
                static_cast<unsigned long long>(root.nonce));
  return text;
}

std::string name_of(const RootInfo& root, const HcclCommConfig* config) {
  if (config == nullptr || !EMUCANN_CONFIG_HAS(*config, hcclCommName)) return default_name(root);
  const std::string name(config->hcclCommName, strnlen(config->hcclCommName, COMM_NAME_MAX_LENGTH - 1));
  return name.empty() ? default_name(root) : name;
}

Timeouts timeouts_of(const HcclCommConfig* config) {
  Timeouts timeouts = timeouts_from_environment();
  if (config != nullptr && EMUCANN_CONFIG_HAS(*config, hcclExecTimeOut) &&
      config->hcclExecTimeOut != HCCL_COMM_EXECTIMEOUT_CONFIG_NOT_SET && config->hcclExecTimeOut >= 0) {
    timeouts.execute = std::chrono::seconds(config->hcclExecTimeOut);
  }
  return timeouts;
}

void require_place(std::uint32_t ranks, std::uint32_t rank) {
  constexpr std::uint32_t most = 1024;  // more processes than one host runs; keeps the segment's size sane
  if (ranks == 0 || ranks > most || rank >= ranks) {
    throw Error(HCCL_E_PARA, "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                                 ": expected 1 to " + std::to_string(most) + " ranks, counted from 0");
  }
}

HcclComm join(std::uint32_t ranks, const HcclRootInfo& info, std::uint32_t rank,
              const HcclCommConfig* config) {
  require_place(ranks, rank);
  RootInfo root;
  std::memcpy(&root, info.internal, sizeof root);
  // The root's own process need not keep the file open once all have mapped it, or have given up.
  struct Release {
    const RootInfo& root;
    ~Release() { Segment::release_root(root); }
  } release{root};
  auto communicator =
      std::make_shared<Communicator>(root, ranks, rank, name_of(root, config), timeouts_of(config));
  communicator->wait_for_all();
  return add_communicator(std::move(communicator));
}

}  // namespace
}  // namespace emucann::hccl

using namespace emucann::hccl;

extern "C" {

EMUCANN_API HcclResult HcclGetRootInfo(HcclRootInfo* info) {
  return guarded("HcclGetRootInfo", [&] {
    require_pointer(info, "rootInfo");
    const RootInfo root = Segment::create_root();
    std::memset(info, 0, sizeof *info);
    std::memcpy(info->internal, &root, sizeof root);
  });
}

EMUCANN_API HcclResult HcclCommInitRootInfo(uint32_t ranks, const HcclRootInfo* info, uint32_t rank,
                                            HcclComm* comm) {
  return guarded("HcclCommInitRootInfo", [&] {
    require_pointer(info, "rootInfo");
    require_pointer(static_cast<const void*>(comm), "comm");
    *comm = join(ranks, *info, rank, nullptr);
  });
}

EMUCANN_API HcclResult HcclCommInitRootInfoConfig(uint32_t ranks, const HcclRootInfo* info, uint32_t rank,
                                                  const HcclCommConfig* config, HcclComm* comm) {
  return guarded("HcclCommInitRootInfoConfig", [&] {
    require_pointer(info, "rootInfo");
    require_pointer(config, "config");
    require_pointer(static_cast<const void*>(comm), "comm");
    *comm = join(ranks, *info, rank, config);
  });
}

// All ranks in this process, one a device; each operation must then come on a stream of its own device.
EMUCANN_API HcclResult HcclCommInitAll(uint32_t count, int32_t* devices, HcclComm* comms) {
  return guarded("HcclCommInitAll", [&] {
    require_pointer(devices, "devices");
    require_pointer(static_cast<const void*>(comms), "comms");
    require_place(count, 0);
    const RootInfo root = Segment::create_root();
    std::vector<std::shared_ptr<Communicator>> ranks;
    ranks.reserve(count);
    for (uint32_t rank = 0; rank < count; ++rank) {
      ranks.push_back(
          std::make_shared<Communicator>(root, count, rank, default_name(root), timeouts_of(nullptr)));
    }
    Segment::release_root(root);
    for (uint32_t rank = 0; rank < count; ++rank) comms[rank] = add_communicator(std::move(ranks[rank]));
  });
}

EMUCANN_API HcclResult HcclCommDestroy(HcclComm comm) {
  return guarded("HcclCommDestroy", [&] {
    if (!remove_communicator(comm)) communicator_of(comm);  // throws
  });
}

EMUCANN_API HcclResult HcclGetCommName(HcclComm comm, char* name) {
  return guarded("HcclGetCommName", [&] {
    require_pointer(name, "commName");
    const std::string text = communicator_of(comm)->name();
    std::memcpy(name, text.c_str(), text.size() + 1);  // names are shorter than COMM_NAME_MAX_LENGTH
  });
}

EMUCANN_API HcclResult HcclGetRankSize(HcclComm comm, uint32_t* size) {
  return guarded("HcclGetRankSize", [&] {
    require_pointer(size, "rankSize");
    *size = communicator_of(comm)->ranks();
  });
}

EMUCANN_API HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return guarded("HcclGetRankId", [&] {
    require_pointer(rank, "rank");
    *rank = communicator_of(comm)->rank();
  });
}

// torch-npu's watchdog asks this while it waits.
EMUCANN_API HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* error) {
  return guarded("HcclGetCommAsyncError", [&] {
    require_pointer(error, "asyncError");
    *error = communicator_of(comm)->failed() ? HCCL_E_REMOTE : HCCL_SUCCESS;
  });
}

// A caller may use capability C if C is below this. The communicator's name is honoured; the two before it
// (buffer size, determinism) change nothing here. The execution time-out is also honoured but stands after
// ones that are not.
EMUCANN_API uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_COMM_NAME + 1; }

// Reductions run in rank order, so every setting of HCCL_DETERMINISTIC is already fulfilled.
EMUCANN_API HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue) {
  return guarded("HcclSetConfig", [&] {
    if (config != HCCL_DETERMINISTIC) {
      throw Error(HCCL_E_NOT_SUPPORT,
                  "config " + std::to_string(config) + ": only HCCL_DETERMINISTIC is known");
    }
  });
}

EMUCANN_API const char* HcclGetErrorString(HcclResult code) {
  switch (code) {
    case HCCL_SUCCESS:
      return "no error";
    case HCCL_E_PARA:
      return "parameter error";
    case HCCL_E_PTR:
      return "empty pointer";
    case HCCL_E_MEMORY:
      return "memory error";
    case HCCL_E_INTERNAL:
      return "internal error";
    case HCCL_E_NOT_SUPPORT:
      return "feature not supported";
    case HCCL_E_SYSCALL:
      return "system call error";
    case HCCL_E_TIMEOUT:
      return "timeout";
    case HCCL_E_OPEN_FILE_FAILURE:
      return "open file failure";
    case HCCL_E_RUNTIME:
      return "runtime error";
    case HCCL_E_REMOTE:
      return "another rank failed";
    default:
      return "unknown error code";
  }
}
}
