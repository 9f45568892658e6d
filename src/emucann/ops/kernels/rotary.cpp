#include "ops/kernels/rotary.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>

#include "ops/kernels/vectorize.h"

namespace emucann::kernels {
namespace {

// One head: x[first] and x[second] are a pair for each angle.
EMUCANN_VECTORIZE void rotate_halves(float* head, const float* cosines, const float* sines,
                                     std::int64_t angles) {
  for (std::int64_t i = 0; i < angles; ++i) {
    const float a = head[i];
    const float b = head[angles + i];
    head[i] = a * cosines[i] - b * sines[i];
    head[angles + i] = b * cosines[i] + a * sines[i];
  }
}

void rotate_neighbours(float* head, const float* cosines, const float* sines, std::int64_t angles) {
  for (std::int64_t i = 0; i < angles; ++i) {
    const float a = head[2 * i];
    const float b = head[2 * i + 1];
    head[2 * i] = a * cosines[i] - b * sines[i];
    head[2 * i + 1] = b * cosines[i] + a * sines[i];
  }
}

}  // namespace

void rotate(at::Tensor heads, const at::Tensor& positions, const at::Tensor& cos_sin, std::int64_t head_size,
            bool neox) {
  const auto where = positions.reshape({-1}).to(at::kLong).contiguous();
  const auto tokens = where.numel();
  if (tokens == 0) return;
  const auto angles = cos_sin.size(-1) / 2;
  const auto table = cos_sin.to(at::kFloat).contiguous();
  // [tokens, n * head_size]: a view of the caller's rows, or a float copy that goes back at the end.
  const auto rows = heads.reshape({tokens, -1});
  const bool in_place = rows.scalar_type() == at::kFloat && rows.stride(1) == 1 &&
                        rows.const_data_ptr() == heads.const_data_ptr();
  auto work = in_place ? rows : rows.to(at::kFloat).contiguous();
  const auto count = rows.size(1) / head_size;
  for (std::int64_t token = 0; token < tokens; ++token) {
    const auto position = where.const_data_ptr<std::int64_t>()[token];
    if (position < 0 || position >= table.size(0)) {
      throw std::runtime_error("rotary embedding: position " + std::to_string(position) +
                               " is not in a table of " + std::to_string(table.size(0)));
    }
    const float* cosines = table.const_data_ptr<float>() + position * 2 * angles;
    float* head = work.mutable_data_ptr<float>() + token * work.stride(0);
    for (std::int64_t i = 0; i < count; ++i, head += head_size) {
      if (neox) {
        rotate_halves(head, cosines, cosines + angles, angles);
      } else {
        rotate_neighbours(head, cosines, cosines + angles, angles);
      }
    }
  }
  if (!in_place) heads.copy_(work.view(heads.sizes()));
}

}  // namespace emucann::kernels
