#include "host/verify/native_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <random>

#include "host/lang/reference/bounded_expr.h"
#include "module/float_element.h"

namespace ferry::verify {

bool NativeComparison::accepts(std::uint64_t position) const {
  const std::size_t size = dtype_bytes(info_.dtype), at = position * size;
  const std::uint8_t *got = bytes_.data() + at, *want = native_.values.data() + at;
  if (!is_float(info_.dtype)) return std::memcmp(got, want, size) == 0;
  const double g = load_float(info_.dtype, got), w = load_float(info_.dtype, want);
  if (g == w || (std::isnan(g) && std::isnan(w))) return true;
  if (bound_ == lang::RoundingBound::exact || !std::isfinite(w)) return false;
  const double error = native_.errors.empty() ? 0 : native_.errors[position];
  const double allowed = tolerance_.atol + tolerance_.rtol * std::abs(w) + tolerance_.rounding * error;
  return error < lang::kUnbounded / 2 && std::abs(g - w) <= allowed;
}

std::uint64_t NativeComparison::add_rejected(std::vector<std::uint64_t>& positions, std::uint64_t most,
                                             const Accepted& accepted) const {
  const std::size_t size = dtype_bytes(info_.dtype);
  const std::uint64_t elements = bytes_.size() / size;
  std::vector<std::uint64_t> rejected;
  std::uint64_t count = 0;
  auto next = positions.begin();
  for (std::uint64_t position = 0; position < elements; ++position) {
    if (next != positions.end() && *next == position) {
      ++next;
    } else if (!accepts(position)) {
      rejected.push_back(position);
    } else {
      ++count;
      if (is_float(info_.dtype))
        accepted(position, load_float(info_.dtype, bytes_.data() + position * size),
                 load_float(info_.dtype, native_.values.data() + position * size));
    }
  }
  if (rejected.size() > most) {
    std::random_device device;
    std::mt19937_64 random(std::uint64_t{device()} << 32 | device());
    std::vector<std::uint64_t> kept;
    std::ranges::sample(rejected, std::back_inserter(kept), static_cast<std::ptrdiff_t>(most), random);
    rejected = std::move(kept);
  }
  const auto middle = static_cast<std::ptrdiff_t>(positions.size());
  positions.insert(positions.end(), rejected.begin(), rejected.end());
  std::inplace_merge(positions.begin(), positions.begin() + middle, positions.end());
  return count;
}

}  // namespace ferry::verify
