#include "element.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "half.h"

namespace emucann::hccl {
namespace {

// The type in which T is computed: overflow of a signed integer would be undefined, of an unsigned one it
// wraps.
template <typename T>
struct Arithmetic {
  using type = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                           std::enable_if<true, T>>::type;
};
template <>
struct Arithmetic<Float16> {
  using type = float;
};
template <>
struct Arithmetic<BFloat16> {
  using type = float;
};

// std::min and std::max on floats would lose a NaN that stands in the second place.
template <typename T>
T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}
template <typename T>
T larger(T a, T b) {
  return a < b || b != b ? b : a;
}

template <typename T, typename Wide, typename Combine>
void fold(void* target, const void* source, std::size_t count, Combine combine) {
  auto* to = static_cast<T*>(target);
  const auto* from = static_cast<const T*>(source);
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(combine(static_cast<Wide>(to[i]), static_cast<Wide>(from[i])));
  }
}

template <typename T>
void reduce_as(void* target, const void* source, std::size_t count, HcclReduceOp op) {
  using Sum = typename Arithmetic<T>::type;
  using Order = std::conditional_t<std::is_integral_v<T>, T, Sum>;  // comparing needs the sign
  switch (op) {
    case HCCL_REDUCE_SUM:
      return fold<T, Sum>(target, source, count, [](Sum a, Sum b) { return static_cast<Sum>(a + b); });
    case HCCL_REDUCE_PROD:
      return fold<T, Sum>(target, source, count, [](Sum a, Sum b) {
        if constexpr (std::is_integral_v<Sum>) {  // narrow types are promoted to int, whose product may
                                                  // overflow
          return static_cast<Sum>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        } else {
          return a * b;
        }
      });
    case HCCL_REDUCE_MAX:
      return fold<T, Order>(target, source, count, larger<Order>);
    case HCCL_REDUCE_MIN:
      return fold<T, Order>(target, source, count, smaller<Order>);
    default:
      return;  // reducible() said no
  }
}

}  // namespace

std::size_t element_bytes(HcclDataType type) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
      return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    case HCCL_DATA_TYPE_INT128:
      return 16;
    default:
      return 0;
  }
}

bool reducible(HcclDataType type, HcclReduceOp op) {
  const bool known_op =
      op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_PROD || op == HCCL_REDUCE_MAX || op == HCCL_REDUCE_MIN;
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
    case HCCL_DATA_TYPE_FP32:
    case HCCL_DATA_TYPE_FP64:
      return known_op;
    default:
      return false;
  }
}

void reduce(void* target, const void* source, std::size_t count, HcclDataType type, HcclReduceOp op) {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return reduce_as<std::int8_t>(target, source, count, op);
    case HCCL_DATA_TYPE_INT16:
      return reduce_as<std::int16_t>(target, source, count, op);
    case HCCL_DATA_TYPE_INT32:
      return reduce_as<std::int32_t>(target, source, count, op);
    case HCCL_DATA_TYPE_INT64:
      return reduce_as<std::int64_t>(target, source, count, op);
    case HCCL_DATA_TYPE_UINT8:
      return reduce_as<std::uint8_t>(target, source, count, op);
    case HCCL_DATA_TYPE_UINT16:
      return reduce_as<std::uint16_t>(target, source, count, op);
    case HCCL_DATA_TYPE_UINT32:
      return reduce_as<std::uint32_t>(target, source, count, op);
    case HCCL_DATA_TYPE_UINT64:
      return reduce_as<std::uint64_t>(target, source, count, op);
    case HCCL_DATA_TYPE_FP16:
      return reduce_as<Float16>(target, source, count, op);
    case HCCL_DATA_TYPE_BFP16:
      return reduce_as<BFloat16>(target, source, count, op);
    case HCCL_DATA_TYPE_FP32:
      return reduce_as<float>(target, source, count, op);
    case HCCL_DATA_TYPE_FP64:
      return reduce_as<double>(target, source, count, op);
    default:
      return;  // reducible() said no
  }
}

}  // namespace emucann::hccl
