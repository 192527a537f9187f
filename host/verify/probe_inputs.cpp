#include "host/verify/probe_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "host/lang/reference/lanes.h"
#include "host/stats/random.h"
#include "module/float_element.h"

namespace ferry::verify {

namespace {

// More bits than the type below has (float16, bfloat16 and TF32; float32), and so few that sums of thousands are exact.
constexpr int kMostBits = 12, kMostBitsOfDouble = 26;
// Number of elements of an input that are neither numbers nor finite, at most: more would make every sum such.
constexpr std::uint64_t kMostNotFinite = 3;

int precision_of(DType dtype) { return 1 + static_cast<int>(-std::log2(2 * lang::unit_roundoff(dtype))); }

template <class Value>
std::vector<std::uint8_t> fill_floats(DType dtype, std::uint64_t count, const Value& value) {
  const std::size_t size = dtype_bytes(dtype);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * size);
  for (std::uint64_t i = 0; i < count; ++i) store_float(dtype, value(i), bytes.data() + i * size);
  return bytes;
}

double with_sign(stats::Random& random, double magnitude) { return random.below(2) == 0 ? magnitude : -magnitude; }

double largest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f64: return std::numeric_limits<double>::max();
    default: return double{std::numeric_limits<float>::max()};
  }
}

// Returns a positive magnitude whose logarithm is uniform between those of the two.
double log_uniform(stats::Random& random, double low, double high) {
  return std::exp2(std::log2(low) + random.uniform() * (std::log2(high) - std::log2(low)));
}

double mixed_scales(DType dtype, stats::Random& random) {
  if (dtype == DType::f16) return with_sign(random, log_uniform(random, 0x1p-8, 0x1p4));
  const double most = dtype == DType::f64 ? 0x1p60 : 0x1p30;
  return with_sign(random, log_uniform(random, 1 / most, most));
}

double subnormal_or_not(DType dtype, stats::Random& random) {
  if (random.below(4) == 0) return 2 * random.uniform() - 1;
  return with_sign(random, random.uniform() * lang::smallest_normal(dtype));
}

std::vector<std::uint8_t> not_finite(DType dtype, std::uint64_t count, stats::Random& random) {
  std::vector<std::uint8_t> bytes = draw_signs(dtype, count, 0.5, random.next());
  const std::size_t size = dtype_bytes(dtype);
  const double values[] = {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL};
  for (std::uint64_t i = 0; i < std::min(count, kMostNotFinite); ++i)
    store_float(dtype, values[i], bytes.data() + random.below(count) * size);
  return bytes;
}

// The ends of the type's range, and what lies around 0.
std::vector<std::uint8_t> extreme_integers(DType dtype, std::uint64_t count, stats::Random& random) {
  const std::size_t size = dtype_bytes(dtype);
  const bool is_signed = dtype_name(dtype)[0] == 'i';
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size);
  const std::uint64_t most = is_signed ? all >> 1 : all, least = is_signed ? most + 1 : 0;
  const std::uint64_t values[] = {least, least + 1, 0, 1, all, most - 1, most};
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * size);
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(bytes.data() + i * size, &values[random.below(std::size(values))], size);  // little-endian
  return bytes;
}

}  // namespace

bool is_free_input(const FunctionInfo& info, const CallPlan& plan, std::size_t parameter) {
  const ParameterInfo& described = info.parameters[parameter];
  if (described.kind != ParameterKind::tensor || described.direction == Direction::out) return false;
  const InputContent& content = plan.contents[parameter];
  if (!content.is_random() || plan.places[parameter] == 0) return false;
  return !content.distribution || content.distribution->kind == DistributionKind::full;
}

void set_contents(CallPlan& plan, std::size_t parameter, std::vector<std::uint8_t> bytes) {
  plan.contents[parameter].distribution.reset();
  plan.contents[parameter].bytes = std::move(bytes);
}

int bits_of_integers(DType dtype) {
  return dtype == DType::f64 ? kMostBitsOfDouble : std::min(kMostBits, precision_of(dtype));
}

std::vector<std::uint8_t> draw_integers(DType dtype, std::uint64_t count, double share, std::uint64_t seed) {
  stats::Random random(seed);
  const auto half = std::uint64_t{1} << (bits_of_integers(dtype) - 1);
  return fill_floats(dtype, count, [&](std::uint64_t) {
    if (share < 1 && random.uniform() >= share) return 0.0;
    return with_sign(random, static_cast<double>(half + (random.below(half) | 1)));
  });
}

std::vector<std::uint8_t> draw_signs(DType dtype, std::uint64_t count, double share, std::uint64_t seed) {
  stats::Random random(seed);
  return fill_floats(dtype, count,
                     [&](std::uint64_t) { return random.uniform() < share ? with_sign(random, 1) : 0.0; });
}

std::string to_text(AdversarialSet set) {
  switch (set) {
    case AdversarialSet::large: return "large numbers";
    case AdversarialSet::huge: return "numbers at the ends of their type's range";
    case AdversarialSet::offset: return "numbers that differ little";
    case AdversarialSet::mixed: return "numbers of many magnitudes";
    case AdversarialSet::subnormal: return "subnormal numbers";
    case AdversarialSet::equal: return "equal elements";
    case AdversarialSet::equal_rows: return "equal rows";
    case AdversarialSet::one_hot: return "a single 1 in each row";
    case AdversarialSet::not_finite: return "NaN and infinities";
  }
  return "";
}

std::vector<std::uint8_t> draw_adversarial(AdversarialSet set, const CallPlan& plan, std::size_t parameter,
                                           std::uint64_t seed) {
  const DType dtype = plan.dtypes[parameter];
  const auto count = static_cast<std::uint64_t>(plan.places[parameter]);
  stats::Random random(seed);
  if (!is_float(dtype)) {
    // Other integers than those that are drawn anyway may be meant as indices.
    const bool is_full = plan.contents[parameter].distribution && dtype != DType::boolean;
    return is_full && set == AdversarialSet::huge ? extreme_integers(dtype, count, random)
                                                  : std::vector<std::uint8_t>();
  }
  const Shape& shape = plan.shapes[parameter];
  const std::uint64_t row = shape.empty() ? 1 : static_cast<std::uint64_t>(std::max<std::int64_t>(shape.back(), 1));
  const auto fill = [&](const auto& value) {
    return fill_floats(dtype, count, [&](std::uint64_t) { return value(); });
  };
  switch (set) {
    case AdversarialSet::large: return fill([&] { return with_sign(random, 64 + 64 * random.uniform()); });
    case AdversarialSet::huge:
      return fill([&] { return with_sign(random, largest(dtype) * (0.5 + random.uniform() / 2)); });
    case AdversarialSet::offset: {
      const double far = std::exp2(precision_of(dtype) / 2);
      return fill([&] { return far + random.uniform(); });
    }
    case AdversarialSet::mixed: return fill([&] { return mixed_scales(dtype, random); });
    case AdversarialSet::subnormal: return fill([&] { return subnormal_or_not(dtype, random); });
    case AdversarialSet::equal: {
      const double same = 0.5 + random.uniform();
      return fill([&] { return same; });
    }
    case AdversarialSet::equal_rows: {
      std::vector<double> values(static_cast<std::size_t>(std::min(row, count)));
      for (double& value : values) value = 2 * random.uniform() - 1;
      return fill_floats(dtype, count, [&](std::uint64_t i) { return values[i % row]; });
    }
    case AdversarialSet::one_hot: {
      std::uint64_t hot = 0;
      return fill_floats(dtype, count, [&](std::uint64_t i) {
        if (i % row == 0) hot = random.below(row);
        return i % row == hot ? 1.0 : 0.0;
      });
    }
    case AdversarialSet::not_finite: return not_finite(dtype, count, random);
  }
  return {};
}

std::optional<CallPlan> adversarial_call(const FunctionInfo& info, const CallPlan& plan, AdversarialSet set,
                                         stats::Random& random) {
  std::optional<CallPlan> changed;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (!is_free_input(info, plan, p)) continue;
    std::vector<std::uint8_t> bytes = draw_adversarial(set, plan, p, random.next());
    if (bytes.empty()) continue;
    if (!changed) changed = plan;
    set_contents(*changed, p, std::move(bytes));
  }
  return changed;
}

}  // namespace ferry::verify
