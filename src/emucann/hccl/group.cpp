#include "group.h"

#include <map>
#include <utility>

#include "api.h"
#include "emucann/runtime.h"

namespace emucann::hccl {
namespace {

// Groups belong to the thread that opened them, and nest; the outermost end counts.
struct Group {
  int depth = 0;
  std::map<std::pair<HcclComm, aclrtStream>, std::vector<Transfer>> transfers;
};

thread_local Group group;

}  // namespace

bool add_to_group(HcclComm handle, aclrtStream stream, const Transfer& transfer) {
  if (group.depth == 0) return false;
  group.transfers[{handle, stream}].push_back(transfer);
  return true;
}

}  // namespace emucann::hccl

using namespace emucann::hccl;

extern "C" {

EMUCANN_API HcclResult HcclGroupStart() {
  ++group.depth;
  return HCCL_SUCCESS;
}

EMUCANN_API HcclResult HcclGroupEnd() {
  return guarded("HcclGroupEnd", [] {
    if (group.depth == 0)
      throw Error(HCCL_E_PARA, "no group is open on this thread; HcclGroupStart opens one");
    if (--group.depth > 0) return;
    for (auto& [place, transfers] : std::exchange(group.transfers, {})) {
      enqueue_operation("HcclGroupEnd", place.first, place.second,
                        [transfers = std::move(transfers)](Communicator& c) { c.exchange(transfers); });
    }
  });
}
}
