// How an aclnn op is declared:
//
//   OP(aclnnAdd, (Tensor, self), (Tensor, other), (Scalar, alpha), (Tensor, out)) {
//     at::add_out(out, self, other, alpha);
//   }
//
// makes both C entry points. aclnnAddGetWorkspaceSize takes the arguments as descriptors, keeps them and
// plans the body; aclnnAdd puts the plan on a stream, whose worker runs the body on CPU tensors over the
// device's bytes. Argument order is that of EXEC_NPU_CMD(aclnnAdd, ...) in Ascend/op-plugin for the release
// that the wheel was built from.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emucann/runtime.h"
#include "tensor/descriptor.h"

struct aclOpExecutor {
  const char* name = nullptr;
  std::function<void()> body;
};

namespace emucann {

// What a kind of argument is in the C interface (Handle), while it waits (Kept), and in a body (Value).
template <typename T>
struct Plain {
  using Handle = T;
  using Kept = T;
  using Value = T;
  static Kept keep(Handle handle) { return handle; }
  static Value value(const Kept& kept) { return kept; }
};

template <typename Descriptor, typename ValueType>
struct Described {
  using Handle = const Descriptor*;
  using Kept = Ref<Descriptor>;
  using Value = ValueType;
  static Kept keep(Handle handle) { return Kept(handle); }
};

// The caller allots the most there can be, and asks for the real size after it has synchronised
// (aclGetViewShape).
class FoundTensor {
 public:
  explicit FoundTensor(const aclTensor& descriptor) : descriptor_(&descriptor) {}
  // Writes values at the begin of the allotted room.
  void set(const at::Tensor& values) const {
    auto room = descriptor_->view().view(-1);
    room.narrow(0, 0, values.numel()).copy_(values.reshape(-1));
    descriptor_->found = c10::DimVector(values.sizes().begin(), values.sizes().end());
  }

 private:
  const aclTensor* descriptor_;
};

namespace argument {

struct Tensor : Described<aclTensor, at::Tensor> {  // left out: an undefined tensor
  static at::Tensor value(const Kept& kept) { return kept ? kept->view() : at::Tensor(); }
};
struct Found : Described<aclTensor, FoundTensor> {  // an output whose size the op finds out
  static FoundTensor value(const Kept& kept) {
    if (!kept) throw std::runtime_error("an output is missing");
    return FoundTensor(*kept);
  }
};
struct Tensors : Described<aclTensorList, std::vector<at::Tensor>> {
  static std::vector<at::Tensor> value(const Kept& kept) {
    std::vector<at::Tensor> result;
    if (kept) {
      for (const auto* item : kept->items) result.push_back(item->view());
    }
    return result;
  }
};
struct Scalar : Described<aclScalar, at::Scalar> {
  static at::Scalar value(const Kept& kept) {
    if (!kept) throw std::runtime_error("a scalar is missing");
    return kept->value;
  }
};
struct OptionalScalar : Described<aclScalar, std::optional<at::Scalar>> {
  static std::optional<at::Scalar> value(const Kept& kept) {
    return kept ? std::optional<at::Scalar>(kept->value) : std::nullopt;
  }
};
struct Ints : Described<aclIntArray, std::vector<std::int64_t>> {  // left out: empty
  static std::vector<std::int64_t> value(const Kept& kept) {
    return kept ? kept->values : std::vector<std::int64_t>();
  }
};
struct Bools : Described<aclBoolArray, std::vector<bool>> {
  static std::vector<bool> value(const Kept& kept) { return kept ? kept->values : std::vector<bool>(); }
};
struct Int64 : Plain<std::int64_t> {};
struct Int8 : Plain<std::int8_t> {};
struct Float : Plain<float> {};
struct Double : Plain<double> {};
struct Bool : Plain<bool> {};
struct DataType : Plain<aclDataType> {};
struct Text {
  using Handle = const char*;
  using Kept = std::string;
  using Value = std::string;
  static Kept keep(Handle handle) { return handle == nullptr ? "" : handle; }
  static Value value(const Kept& kept) { return kept; }
};

}  // namespace argument

// Makes an executor that will call body with the arguments' values.
template <typename... Arguments, typename Body>
int plan(const char* name, std::uint64_t* workspace_bytes, aclOpExecutor** executor, Body body,
         typename Arguments::Handle... handles) {
  *workspace_bytes = 0;
  *executor =
      new aclOpExecutor{name, [body, kept = std::make_tuple(Arguments::keep(handles)...)] {
                          std::apply([&](const auto&... one) { body(Arguments::value(one)...); }, kept);
                        }};
  return ACL_SUCCESS;
}

// Puts a plan on a stream and takes the executor over.
EMUCANN_API int launch(aclOpExecutor* executor, aclrtStream stream);

// Runs a body that calls libtorch's kernels, on the calling thread: a stream's worker. An error of libtorch's
// comes as a std::runtime_error without libtorch's stack trace.
EMUCANN_API void run_kernels(const std::function<void()>& body);

}  // namespace emucann

// Applies macro to each further argument, with commas between (C++20's __VA_OPT__, which GCC and Clang have
// in C++17).
#define EMUCANN_PARENS ()
#define EMUCANN_EXPAND(...) EMUCANN_EXPAND3(EMUCANN_EXPAND3(EMUCANN_EXPAND3(EMUCANN_EXPAND3(__VA_ARGS__))))
#define EMUCANN_EXPAND3(...) EMUCANN_EXPAND2(EMUCANN_EXPAND2(EMUCANN_EXPAND2(EMUCANN_EXPAND2(__VA_ARGS__))))
#define EMUCANN_EXPAND2(...) EMUCANN_EXPAND1(EMUCANN_EXPAND1(EMUCANN_EXPAND1(EMUCANN_EXPAND1(__VA_ARGS__))))
#define EMUCANN_EXPAND1(...) __VA_ARGS__
#define EMUCANN_EACH(macro, ...) EMUCANN_EXPAND(EMUCANN_EACH_STEP(macro, __VA_ARGS__))
#define EMUCANN_EACH_STEP(macro, head, ...) \
  macro head __VA_OPT__(, EMUCANN_EACH_AGAIN EMUCANN_PARENS(macro, __VA_ARGS__))
#define EMUCANN_EACH_AGAIN() EMUCANN_EACH_STEP

#define EMUCANN_KIND(kind, name) ::emucann::argument::kind
#define EMUCANN_HANDLE(kind, name) ::emucann::argument::kind::Handle name
#define EMUCANN_VALUE(kind, name) [[maybe_unused]] ::emucann::argument::kind::Value name
#define EMUCANN_NAME(kind, name) name

#define OP(op, ...)                                                                                \
  static void op##_body(EMUCANN_EACH(EMUCANN_VALUE, __VA_ARGS__));                                 \
  extern "C" EMUCANN_API int op##GetWorkspaceSize(EMUCANN_EACH(EMUCANN_HANDLE, __VA_ARGS__),       \
                                                  uint64_t* workspace, aclOpExecutor** executor) { \
    return ::emucann::plan<EMUCANN_EACH(EMUCANN_KIND, __VA_ARGS__)>(                               \
        #op, workspace, executor, &op##_body, EMUCANN_EACH(EMUCANN_NAME, __VA_ARGS__));            \
  }                                                                                                \
  extern "C" EMUCANN_API int op(void*, uint64_t, aclOpExecutor* executor, aclrtStream stream) {    \
    return ::emucann::launch(executor, stream);                                                    \
  }                                                                                                \
  static void op##_body(EMUCANN_EACH(EMUCANN_VALUE, __VA_ARGS__))
