#include "bench/kernels/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "ferry/types.h"

namespace ferry::bench {
namespace {

// The factor in the bound of the errors of tiles of 4 (include/ferry/ops/winograd.h), which peers may take for 2 too.
// It multiplies the largest input by the sum of the weights, which is less than the terms' magnitudes times 4 here.
constexpr double kWinogradErrors = 4 * 287;

// A result, the sum of the magnitudes of its terms, and the number of roundings.
struct Expected {
  double value = 0;
  double magnitude = 0;
  double roundings = 1;

  void add(double term) {
    value += term;
    magnitude += std::abs(term);
  }
};

class Reference {
 public:
  Reference(const Operation& operation, const std::vector<const void*>& inputs) : o_(operation), inputs_(inputs) {}

  Expected at(std::int64_t index) const {
    switch (o_.kind) {
      case OperationKind::gemm: return gemm(index / o_.n, index % o_.n);
      case OperationKind::convolution: return convolution(index, o_.channels);
      case OperationKind::depthwise: return convolution(index, 1);
      case OperationKind::softmax: return softmax(index / o_.n, index % o_.n);
      case OperationKind::layer_norm: return layer_norm(index / o_.n, index % o_.n);
      case OperationKind::exponential: return exact(std::exp(input(0, index)), 4);
      case OperationKind::tangent: return exact(std::tanh(input(0, index)), 8);
      case OperationKind::sigmoid: return exact(1 / (1 + std::exp(-input(0, index))), 8);
      case OperationKind::add: return exact(input(0, index) + input(1, index), 1);
      case OperationKind::broadcast_add: return exact(input(0, index / o_.n) + input(1, index), 1);
      case OperationKind::batch_norm_relu: return batch_norm_relu(index);
      case OperationKind::max_pool: return max_pool(index);
    }
    return {};
  }

 private:
  double input(std::size_t which, std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    switch (o_.numbers) {
      case Numbers::f32: return static_cast<const float*>(inputs_[which])[at];
      case Numbers::bf16: return bf16_to_f32(static_cast<const std::uint16_t*>(inputs_[which])[at]);
      case Numbers::i8: return static_cast<const std::int8_t*>(inputs_[which])[at];
    }
    return 0;
  }

  static Expected exact(double value, double roundings) { return {value, std::abs(value), roundings}; }

  Expected gemm(std::int64_t row, std::int64_t column) const {
    Expected sum{0, 0, static_cast<double>(o_.k)};
    for (std::int64_t k = 0; k < o_.k; ++k) sum.add(input(0, row * o_.k + k) * input(1, k * o_.n + column));
    return sum;
  }

  // Sums over all channels, or only over the filter's own channel.
  Expected convolution(std::int64_t index, std::int64_t depth) const {
    const std::int64_t size = o_.size, filter = index / (size * size), y = index / size % size, x = index % size;
    Expected sum{0, 0, static_cast<double>(9 * depth)};
    if (o_.winograd_tile != 0) sum.roundings = kWinogradErrors * static_cast<double>(depth + 33);
    for (std::int64_t c = 0; c < depth; ++c) {
      const std::int64_t channel = depth == 1 && o_.kind == OperationKind::depthwise ? filter : c;
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        const std::int64_t row = y + tap / 3 - 1, column = x + tap % 3 - 1;
        if (row < 0 || row >= size || column < 0 || column >= size) continue;
        sum.add(input(0, (channel * size + row) * size + column) * input(1, (filter * depth + c) * 9 + tap));
      }
    }
    return sum;
  }

  Expected softmax(std::int64_t row, std::int64_t column) const {
    double top = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::int64_t j = 0; j < o_.n; ++j) top = std::max(top, input(0, row * o_.n + j));
    for (std::int64_t j = 0; j < o_.n; ++j) total += std::exp(input(0, row * o_.n + j) - top);
    return exact(std::exp(input(0, row * o_.n + column) - top) / total, static_cast<double>(o_.n));
  }

  Expected layer_norm(std::int64_t row, std::int64_t column) const {
    const auto count = static_cast<double>(o_.n);
    double sum = 0, squares = 0;
    for (std::int64_t j = 0; j < o_.n; ++j) sum += input(0, row * o_.n + j);
    const double mean = sum / count;
    for (std::int64_t j = 0; j < o_.n; ++j) squares += std::pow(input(0, row * o_.n + j) - mean, 2);
    Expected result{0, 0, 64};
    result.add((input(0, row * o_.n + column) - mean) / std::sqrt(squares / count + 1e-5) * input(1, column));
    result.add(input(2, column));
    result.magnitude += 1;
    return result;
  }

  Expected batch_norm_relu(std::int64_t index) const {
    const std::int64_t channel = index / (o_.size * o_.size);
    const double deviation = std::sqrt(input(2, channel) + 1e-5);
    Expected result{0, 0, 8};
    result.add((input(0, index) - input(1, channel)) / deviation * input(3, channel));
    result.add(input(4, channel));
    result.magnitude += 2 / deviation;
    result.value = std::max(result.value, 0.0);
    return result;
  }

  Expected max_pool(std::int64_t index) const {
    const std::int64_t half = o_.size / 2, channel = index / (half * half), y = index / half % half, x = index % half;
    double top = -std::numeric_limits<double>::infinity();
    for (std::int64_t tap = 0; tap < 4; ++tap) {
      top = std::max(top, input(0, (channel * o_.size + 2 * y + tap / 2) * o_.size + 2 * x + tap % 2));
    }
    return exact(top, 0);
  }

  const Operation& o_;
  const std::vector<const void*>& inputs_;
};

}  // namespace

Deviation check_result(const Operation& operation, const std::vector<const void*>& inputs, const void* result,
                       std::int64_t elements, std::int64_t samples) {
  const Reference reference(operation, inputs);
  const double unit = operation.numbers == Numbers::i8 ? 0 : std::numeric_limits<float>::epsilon();
  std::mt19937_64 random(1);
  Deviation worst;
  for (std::int64_t i = 0; i < std::min(elements, samples); ++i) {
    // The last element is checked first: an error in a loop's tail affects it.
    const std::int64_t index = i == 0 ? elements - 1
                               : elements <= samples
                                   ? i - 1
                                   : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(elements));
    const Expected expected = reference.at(index);
    const double got = operation.numbers == Numbers::i8 ? static_cast<const std::int32_t*>(result)[index]
                                                        : static_cast<const float*>(result)[index];
    const double off = std::abs(got - expected.value), allowed = expected.roundings * unit * expected.magnitude;
    ++worst.checked;
    const bool is_good = off <= allowed;
    if (worst.is_good && (!is_good || off > worst.absolute)) {
      worst.absolute = off;
      worst.allowed = allowed;
    }
    worst.is_good = worst.is_good && is_good;
  }
  return worst;
}

}  // namespace ferry::bench
