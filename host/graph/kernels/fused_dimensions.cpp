#include "host/graph/kernels/fused_dimensions.h"

#include <cstdint>
#include <optional>

namespace ferry::graph {
namespace {

// The way an input broadcasts in a dimension of the result.
enum class Pattern : std::uint8_t { either, whole, repeated };

bool fits(Pattern a, Pattern b) { return a == b || a == Pattern::either || b == Pattern::either; }

}  // namespace

FusedDimensions::FusedDimensions(const Shape& result, std::span<const Shape> inputs, const std::vector<bool>& is_free)
    : result_(result) {
  std::vector<Pattern> patterns(inputs.size(), Pattern::either);  // in the dimensions since the last begin
  for (std::size_t d = 0; d < result.size(); ++d) {
    std::vector<Pattern> here;
    bool joins = d > 0 && is_free[d];
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Size size = size_at(inputs[i], d, result.size());
      if (result[d].constant() == 1)
        here.push_back(Pattern::either);
      else if (size.constant() == 1)
        here.push_back(Pattern::repeated);
      else if (size == result[d])
        here.push_back(Pattern::whole);
      else
        return;  // whether it is repeated depends on sizes
      joins &= fits(patterns[i], here[i]);
    }
    if (!joins) {
      begins_.push_back(d);
      patterns = here;
      continue;
    }
    for (std::size_t i = 0; i < here.size(); ++i)
      if (here[i] != Pattern::either) patterns[i] = here[i];
  }
  fuses_ = true;
}

Shape FusedDimensions::broadcast_input(const Shape& shape) const {
  if (!fuses_) return shape;
  Shape fused;
  for (std::size_t b = 0; b < begins_.size(); ++b) {
    Size size = 1;
    for (std::size_t d = begins_[b]; d < (b + 1 < begins_.size() ? begins_[b + 1] : result_.size()); ++d)
      size = size * size_at(shape, d, result_.size());
    // Leading dimensions of size 1 are left out.
    if (!fused.empty() || size.constant() != 1 || b + 1 == begins_.size()) fused.push_back(size);
  }
  return fused;
}

Shape FusedDimensions::leading(std::size_t count) const {
  if (!fuses_) return Shape(result_.begin(), result_.begin() + static_cast<std::ptrdiff_t>(count));
  Shape fused;
  for (std::size_t d = 0, b = 0; d < count; ++d) {
    if (b < begins_.size() && begins_[b] == d) {
      fused.push_back(result_[d]);
      ++b;
    } else {
      fused.back() = fused.back() * result_[d];
    }
  }
  return fused;
}

}  // namespace ferry::graph
