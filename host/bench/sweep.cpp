#include "host/bench/sweep.h"

#include <charconv>

#include "base/error.h"

namespace ferry::bench {

namespace {

constexpr std::size_t kMostSizes = 1000;
constexpr int kMostExponent = 62;

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  [[noreturn]] void refuse() const {
    throw UsageError(text_ + ": expected NAME=2^8..2^24, NAME=100..500+100 or NAME=1,7,64");
  }
  bool done() const { return at_ == text_.size(); }
  bool take(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::string name() {
    const std::size_t equals = text_.find('=');
    if (equals == 0 || equals == std::string::npos) refuse();
    at_ = equals + 1;
    return text_.substr(0, equals);
  }
  // Parses a size of at least 1.
  std::int64_t size() {
    const std::int64_t value = digits();
    if (!take("^")) return value;
    std::int64_t power = 1;
    const std::int64_t most = digits();
    if (most > kMostExponent) refuse();
    for (std::int64_t exponent = most; exponent > 0; --exponent) {
      if (power > (std::int64_t{1} << kMostExponent) / value) refuse();
      power *= value;
    }
    return power;
  }

 private:
  std::int64_t digits() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 1) refuse();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

Sweep parse_sweep(const std::string& text) {
  Reader reader(text);
  Sweep sweep;
  sweep.name = reader.name();
  sweep.sizes.push_back(reader.size());
  if (reader.take("..")) {
    const std::int64_t last = reader.size();
    const std::int64_t step = reader.take("+") ? reader.size() : 0;
    if (last < sweep.sizes.front()) reader.refuse();
    while (sweep.sizes.size() < kMostSizes) {
      const std::int64_t next = step > 0 ? sweep.sizes.back() + step : sweep.sizes.back() * 2;
      if (next > last) break;
      sweep.sizes.push_back(next);
    }
  } else {
    while (reader.take(",")) sweep.sizes.push_back(reader.size());
  }
  if (!reader.done() || sweep.sizes.size() >= kMostSizes) reader.refuse();
  return sweep;
}

}  // namespace ferry::bench
