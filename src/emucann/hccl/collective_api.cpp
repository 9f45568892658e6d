// C entry points that move data: they check their arguments, then leave the work to the stream.
#include "api.h"
#include "element.h"
#include "emucann/runtime.h"
#include "group.h"

using namespace emucann::hccl;

namespace {

// Not const in Transfer: a receive writes there.
void* at_element(const void* base, std::uint64_t element, HcclDataType type) {
  return const_cast<char*>(static_cast<const char*>(base)) + element * element_bytes(type);
}

void require_peer(const Communicator& communicator, std::uint32_t peer) {
  require_rank(communicator, peer, "the peer");
  if (peer == communicator.rank()) {
    throw Error(HCCL_E_PARA, "rank " + std::to_string(peer) + " can't send to or receive from itself");
  }
}

HcclResult one_way(const char* function, HcclSendRecvType direction, void* buffer, std::uint64_t count,
                   HcclDataType type, std::uint32_t peer, HcclComm comm, aclrtStream stream) {
  return guarded(function, [&] {
    require_buffer(buffer, count, "the buffer");
    require_type(type);
    require_peer(*communicator_of(comm), peer);
    const Transfer transfer{direction, buffer, count * element_bytes(type), peer};
    if (add_to_group(comm, stream, transfer)) return;
    enqueue_operation(function, comm, stream, [transfer](Communicator& c) { c.exchange({transfer}); });
  });
}

}  // namespace

extern "C" {

EMUCANN_API HcclResult HcclAllReduce(void* send, void* receive, uint64_t count, HcclDataType type,
                                     HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return guarded("HcclAllReduce", [&] {
    require_buffer(send, count, "sendBuf");
    require_buffer(receive, count, "recvBuf");
    require_reduction(type, op);
    enqueue_operation("HcclAllReduce", comm, stream,
                      [=](Communicator& c) { c.all_reduce(send, receive, count, type, op); });
  });
}

EMUCANN_API HcclResult HcclReduce(void* send, void* receive, uint64_t count, HcclDataType type,
                                  HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
  return guarded("HcclReduce", [&] {
    const auto communicator = communicator_of(comm);
    require_rank(*communicator, root, "root");
    require_buffer(send, count, "sendBuf");
    if (communicator->rank() == root) require_buffer(receive, count, "recvBuf");
    require_reduction(type, op);
    enqueue_operation("HcclReduce", comm, stream,
                      [=](Communicator& c) { c.reduce_to(root, send, receive, count, type, op); });
  });
}

EMUCANN_API HcclResult HcclReduceScatter(void* send, void* receive, uint64_t count, HcclDataType type,
                                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  return guarded("HcclReduceScatter", [&] {
    require_buffer(send, count, "sendBuf");
    require_buffer(receive, count, "recvBuf");
    require_reduction(type, op);
    enqueue_operation("HcclReduceScatter", comm, stream,
                      [=](Communicator& c) { c.reduce_scatter(send, receive, count, type, op); });
  });
}

EMUCANN_API HcclResult HcclBroadcast(void* buffer, uint64_t count, HcclDataType type, uint32_t root,
                                     HcclComm comm, aclrtStream stream) {
  return guarded("HcclBroadcast", [&] {
    require_rank(*communicator_of(comm), root, "root");
    require_buffer(buffer, count, "buf");
    require_type(type);
    enqueue_operation("HcclBroadcast", comm, stream,
                      [=](Communicator& c) { c.broadcast(root, buffer, count, type); });
  });
}

EMUCANN_API HcclResult HcclScatter(void* send, void* receive, uint64_t count, HcclDataType type,
                                   uint32_t root, HcclComm comm, aclrtStream stream) {
  return guarded("HcclScatter", [&] {
    const auto communicator = communicator_of(comm);
    require_rank(*communicator, root, "root");
    if (communicator->rank() == root) require_buffer(send, count, "sendBuf");
    require_buffer(receive, count, "recvBuf");
    require_type(type);
    enqueue_operation("HcclScatter", comm, stream,
                      [=](Communicator& c) { c.scatter(root, send, receive, count, type); });
  });
}

EMUCANN_API HcclResult HcclAllGather(void* send, void* receive, uint64_t count, HcclDataType type,
                                     HcclComm comm, aclrtStream stream) {
  return guarded("HcclAllGather", [&] {
    require_buffer(send, count, "sendBuf");
    require_buffer(receive, count, "recvBuf");
    require_type(type);
    enqueue_operation("HcclAllGather", comm, stream,
                      [=](Communicator& c) { c.all_gather(send, receive, count, type); });
  });
}

EMUCANN_API HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return guarded("HcclBarrier", [&] {
    enqueue_operation("HcclBarrier", comm, stream, [](Communicator& c) { c.barrier(); });
  });
}

EMUCANN_API HcclResult HcclSend(void* buffer, uint64_t count, HcclDataType type, uint32_t to, HcclComm comm,
                                aclrtStream stream) {
  return one_way("HcclSend", HCCL_SEND, buffer, count, type, to, comm, stream);
}

EMUCANN_API HcclResult HcclRecv(void* buffer, uint64_t count, HcclDataType type, uint32_t from, HcclComm comm,
                                aclrtStream stream) {
  return one_way("HcclRecv", HCCL_RECV, buffer, count, type, from, comm, stream);
}

EMUCANN_API HcclResult HcclBatchSendRecv(HcclSendRecvItem* items, uint32_t count, HcclComm comm,
                                         aclrtStream stream) {
  return guarded("HcclBatchSendRecv", [&] {
    require_buffer(items, count, "sendRecvInfo");
    const auto communicator = communicator_of(comm);
    std::vector<Transfer> transfers;
    for (const HcclSendRecvItem* item = items; item != items + count; ++item) {
      require_buffer(item->buf, item->count, "an item's buf");
      require_type(item->dataType);
      require_rank(*communicator, item->remoteRank, "an item's remoteRank");
      transfers.push_back(
          {item->sendRecvType, item->buf, item->count * element_bytes(item->dataType), item->remoteRank});
    }
    enqueue_operation("HcclBatchSendRecv", comm, stream,
                      [transfers = std::move(transfers)](Communicator& c) { c.exchange(transfers); });
  });
}

// Counts and displacements are uint64_t arrays of the host, one entry a rank, in elements. They are read
// here.
EMUCANN_API HcclResult HcclAlltoAllV(const void* send, const void* send_counts,
                                     const void* send_displacements, HcclDataType send_type,
                                     const void* receive, const void* receive_counts,
                                     const void* receive_displacements, HcclDataType receive_type,
                                     HcclComm comm, aclrtStream stream) {
  return guarded("HcclAlltoAllV", [&] {
    for (const void* array : {send_counts, send_displacements, receive_counts, receive_displacements}) {
      require_pointer(array, "an array of counts or displacements");
    }
    require_type(send_type);
    require_type(receive_type);
    const auto* send_count = static_cast<const uint64_t*>(send_counts);
    const auto* send_at = static_cast<const uint64_t*>(send_displacements);
    const auto* receive_count = static_cast<const uint64_t*>(receive_counts);
    const auto* receive_at = static_cast<const uint64_t*>(receive_displacements);
    std::vector<Transfer> transfers;
    for (uint32_t peer = 0; peer < communicator_of(comm)->ranks(); ++peer) {
      require_buffer(send, send_count[peer], "sendBuf");
      require_buffer(receive, receive_count[peer], "recvBuf");
      transfers.push_back({HCCL_SEND, at_element(send, send_at[peer], send_type),
                           send_count[peer] * element_bytes(send_type), peer});
      transfers.push_back({HCCL_RECV, at_element(receive, receive_at[peer], receive_type),
                           receive_count[peer] * element_bytes(receive_type), peer});
    }
    enqueue_operation("HcclAlltoAllV", comm, stream,
                      [transfers = std::move(transfers)](Communicator& c) { c.exchange(transfers); });
  });
}

// Counts are those for one rank.
EMUCANN_API HcclResult HcclAlltoAll(const void* send, uint64_t send_count, HcclDataType send_type,
                                    const void* receive, uint64_t receive_count, HcclDataType receive_type,
                                    HcclComm comm, aclrtStream stream) {
  return guarded("HcclAlltoAll", [&] {
    require_buffer(send, send_count, "sendBuf");
    require_buffer(receive, receive_count, "recvBuf");
    require_type(send_type);
    require_type(receive_type);
    std::vector<Transfer> transfers;
    for (uint32_t peer = 0; peer < communicator_of(comm)->ranks(); ++peer) {
      transfers.push_back({HCCL_SEND, at_element(send, peer * send_count, send_type),
                           send_count * element_bytes(send_type), peer});
      transfers.push_back({HCCL_RECV, at_element(receive, peer * receive_count, receive_type),
                           receive_count * element_bytes(receive_type), peer});
    }
    enqueue_operation("HcclAlltoAll", comm, stream,
                      [transfers = std::move(transfers)](Communicator& c) { c.exchange(transfers); });
  });
}
}
