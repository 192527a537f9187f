#include "host/kernel/distribution.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "ferry/error.h"
#include "module/float_element.h"

namespace ferry {

namespace {

template <class T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const char* const first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_name(const std::string& text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_');
}

bool are_fine(DistributionKind kind, const std::vector<std::string>& parameters) {
  std::vector<double> numbers;
  for (const std::string& text : parameters) {
    const auto number = parse_number<double>(text);
    if (number && std::isfinite(*number)) numbers.push_back(*number);
  }
  const bool all = numbers.size() == parameters.size();
  switch (kind) {
    case DistributionKind::below: {
      if (parameters.size() != 1) return false;
      const auto limit = parse_number<std::int64_t>(parameters[0]);
      return limit ? *limit >= 1 : is_name(parameters[0]);
    }
    case DistributionKind::uniform: return all && numbers.size() == 2 && numbers[0] < numbers[1];
    case DistributionKind::normal: return all && (numbers.empty() || (numbers.size() == 2 && numbers[1] >= 0));
    case DistributionKind::full: return parameters.empty();
  }
  return false;
}

// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014), by its counter.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class Bits {
 public:
  explicit Bits(std::uint64_t seed) : start_(mixed(seed + 0x9e3779b97f4a7c15u)) {}
  std::uint64_t operator()(std::uint64_t i) const { return mixed(start_ + 0x9e3779b97f4a7c15u * (i + 1)); }
  // Returns a number from 0, excluding 1.
  double unit(std::uint64_t i) const { return static_cast<double>((*this)(i) >> 11) * 0x1p-53; }

 private:
  std::uint64_t start_;
};

struct Limits {
  std::int64_t least;
  std::uint64_t most;
};

Limits limits_of(DType dtype) {
  const auto of = [](auto zero) {
    using T = decltype(zero);
    return Limits{static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                  static_cast<std::uint64_t>(std::numeric_limits<T>::max())};
  };
  switch (dtype) {
    case DType::i8: return of(std::int8_t{});
    case DType::i16: return of(std::int16_t{});
    case DType::i32: return of(std::int32_t{});
    case DType::i64: return of(std::int64_t{});
    case DType::u8: return of(std::uint8_t{});
    case DType::u16: return of(std::uint16_t{});
    case DType::u32: return of(std::uint32_t{});
    case DType::u64: return {0, std::numeric_limits<std::uint64_t>::max()};
    case DType::boolean: return {0, 1};
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  return {0, 0};
}

// Writes whole numbers from `low` on, `range` of them (0: 2^64), which fit the type. The multiplication distributes
// 2^64 values over the range; no value is more likely than another by more than range / 2^64.
std::vector<std::uint8_t> draw_integers(DType dtype, std::int64_t low, std::uint64_t range, const Bits& bits,
                                        std::uint64_t count) {
  const std::size_t size = dtype_bytes(dtype);
  std::vector<std::uint8_t> bytes(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto offset =
        range == 0 ? bits(i) : static_cast<std::uint64_t>(static_cast<unsigned __int128>(bits(i)) * range >> 64);
    const std::uint64_t value = static_cast<std::uint64_t>(low) + offset;
    std::memcpy(bytes.data() + i * size, &value, size);  // little-endian: the low bytes come first
  }
  return bytes;
}

// Returns the value of the type next to `value` on its other side, seen from the interval [low, high).
double inside(DType dtype, double value, double low, double high) {
  std::uint8_t bytes[8];
  // The distance to the next value of the type is about 2^-digits of the magnitude; doubling it always reaches one.
  const double end = value < low ? low : high, direction = value < low ? 1 : -1;
  for (double step = std::max(std::abs(end) * 0x1p-54, 0x1p-1074); step < std::numeric_limits<double>::max();
       step *= 2) {
    store_float(dtype, end + direction * step, bytes);
    const double next = load_float(dtype, bytes);
    if (direction > 0 ? next >= low : next < high) return next;
  }
  return value;
}

std::vector<std::uint8_t> draw_interval(DType dtype, double low, double high, const Bits& bits, std::uint64_t count) {
  const std::size_t size = dtype_bytes(dtype);
  std::vector<std::uint8_t> bytes(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint8_t* const into = bytes.data() + i * size;
    const double unit = bits.unit(i);
    store_float(dtype, low * (1 - unit) + high * unit, into);
    // Rounding to the type may leave the interval.
    double value = load_float(dtype, into);
    if (value >= low && value < high) continue;
    value = inside(dtype, value, low, high);
    if (!(value >= low && value < high)) {
      throw UsageError("no " + std::string(dtype_name(dtype)) + " lies between the two");
    }
    store_float(dtype, value, into);
  }
  return bytes;
}

// Box and Muller, A note on the generation of random normal deviates (1958).
std::vector<std::uint8_t> draw_normal(DType dtype, double mean, double deviation, const Bits& bits,
                                      std::uint64_t count) {
  const std::size_t size = dtype_bytes(dtype);
  std::vector<std::uint8_t> bytes(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2 * std::log(1 - bits.unit(2 * i)));
    const double angle = 2 * std::numbers::pi * bits.unit(2 * i + 1);
    store_float(dtype, mean + deviation * radius * std::cos(angle), bytes.data() + i * size);
  }
  return bytes;
}

// Powers of two between which magnitudes are drawn. Results of one kernel are compared relative to the largest of them
// (DifferenceLimits), which the smallest ones must not disappear beside; and sums of some thousand products are finite.
constexpr int kLeastExponent = -4;
int greatest_exponent(DType dtype) { return dtype == DType::f16 ? 2 : 4; }

std::vector<std::uint8_t> draw_magnitudes(DType dtype, const Bits& bits, std::uint64_t count) {
  const std::size_t size = dtype_bytes(dtype);
  const int exponents = greatest_exponent(dtype) - kLeastExponent;
  std::vector<std::uint8_t> bytes(count * size);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double magnitude = std::exp2(kLeastExponent + exponents * bits.unit(2 * i));
    store_float(dtype, (bits(2 * i + 1) & 1) != 0 ? -magnitude : magnitude, bytes.data() + i * size);
  }
  return bytes;
}

std::int64_t whole(const std::string& text, DType dtype) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number) throw UsageError("expected whole numbers for " + std::string(dtype_name(dtype)) + ", got " + text);
  return *number;
}

}  // namespace

std::optional<Distribution> parse_distribution(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open != std::string::npos && !text.ends_with(')')) return std::nullopt;
  const std::string name = text.substr(0, open);
  Distribution distribution;
  if (name == "below") {
    distribution.kind = DistributionKind::below;
  } else if (name == "uniform") {
    distribution.kind = DistributionKind::uniform;
  } else if (name == "normal") {
    distribution.kind = DistributionKind::normal;
  } else if (name == "full") {
    distribution.kind = DistributionKind::full;
  } else {
    return std::nullopt;
  }
  if (open != std::string::npos) {
    std::string list = text.substr(open + 1, text.size() - open - 2);
    for (std::size_t at; (at = list.find(',')) != std::string::npos; list.erase(0, at + 1))
      distribution.parameters.push_back(list.substr(0, at));
    distribution.parameters.push_back(list);
  }
  if (!are_fine(distribution.kind, distribution.parameters)) return std::nullopt;
  return distribution;
}

std::string range_text(const Distribution& distribution, DType dtype) {
  const std::vector<std::string>& given = distribution.parameters;
  switch (distribution.kind) {
    case DistributionKind::below: return "below " + given[0];
    case DistributionKind::uniform: return "from " + given[0] + " to below " + given[1];
    case DistributionKind::normal:
      return "normal with mean " + (given.empty() ? "0" : given[0]) + " and deviation " +
             (given.empty() ? "1" : given[1]);
    case DistributionKind::full: break;
  }
  if (is_float(dtype))
    return "of magnitudes 2^" + std::to_string(kLeastExponent) + " to 2^" + std::to_string(greatest_exponent(dtype));
  const Limits limits = limits_of(dtype);
  return "from " + std::to_string(limits.least) + " to " + std::to_string(limits.most);
}

std::vector<std::uint8_t> draw(const Distribution& distribution, DType dtype, std::uint64_t seed, std::uint64_t count,
                               const std::function<std::optional<std::int64_t>(const std::string&)>& size_of) {
  const std::vector<std::string>& given = distribution.parameters;
  const Bits bits(seed);
  const auto number = [&](std::size_t i) { return parse_number<double>(given[i]).value(); };
  const std::string type = dtype_name(dtype);
  std::int64_t low = 0, high = 0;
  const Limits limits = limits_of(dtype);
  switch (distribution.kind) {
    case DistributionKind::full:
      if (is_float(dtype)) return draw_magnitudes(dtype, bits, count);
      return draw_integers(dtype, limits.least, limits.most - static_cast<std::uint64_t>(limits.least) + 1, bits,
                           count);
    case DistributionKind::normal:
      if (!is_float(dtype)) throw UsageError("normal is for floats, got " + type);
      return given.empty() ? draw_normal(dtype, 0, 1, bits, count)
                           : draw_normal(dtype, number(0), number(1), bits, count);
    case DistributionKind::uniform:
      if (is_float(dtype)) return draw_interval(dtype, number(0), number(1), bits, count);
      low = whole(given[0], dtype);
      high = whole(given[1], dtype);
      break;
    case DistributionKind::below:
      if (is_float(dtype)) throw UsageError("below() is for whole numbers, got " + type + "; see uniform(0,B)");
      if (const auto typed = parse_number<std::int64_t>(given[0])) {
        high = *typed;
      } else if (const auto size = size_of(given[0])) {
        high = *size;
      } else {
        throw UsageError("'" + given[0] + "' is neither a number nor a size of the kernel");
      }
      if (high < 1 && count > 0) throw UsageError("no number is below " + std::to_string(high));
      break;
  }
  if (low < limits.least || (high > 0 && static_cast<std::uint64_t>(high) - 1 > limits.most)) {
    throw UsageError(type + " has no " + std::to_string(low < limits.least ? low : high - 1));
  }
  return draw_integers(dtype, low, static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low), bits, count);
}

}  // namespace ferry
