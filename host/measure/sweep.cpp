#include "host/measure/sweep.h"

#include <algorithm>
#include <charconv>

#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/argument_spec.h"

namespace ferry::bench {

namespace {

constexpr std::size_t kMostPoints = 1000;
constexpr int kMostExponent = 62;

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  [[noreturn]] void refuse(
      const std::string& expected = "NAME=2^8..2^24, NAME=100..500+100, NAME=1,7,64, or a knob") const {
    throw OptionError(Option::sweep, text_ + ": expected " + expected);
  }
  bool done() const { return at_ == text_.size(); }
  bool take(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  std::string name() {
    const std::size_t equals = text_.find('=');
    if (equals == 0 || text_.empty()) refuse();
    at_ = std::min(equals, text_.size());
    return text_.substr(text_[0] == '$' ? 1 : 0, at_ - (text_[0] == '$' ? 1 : 0));
  }
  // Whether the rest has a size first, and a range behind it.
  bool is_range() const { return text_.find("..", at_) != std::string::npos; }
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
  // Parses one entry of a list: a size, or any other word.
  std::string word() {
    const std::size_t end = std::min(text_.find(',', at_), text_.size());
    if (end == at_) refuse();
    const std::string text = text_.substr(at_, end - at_);
    if (text.find('^') != std::string::npos) return std::to_string(size());
    at_ = end;
    return text;
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

std::vector<std::string> range(Reader& reader) {
  std::vector<std::string> values;
  std::int64_t next = reader.size();
  if (!reader.take("..")) reader.refuse();
  const std::int64_t last = reader.size();
  const std::int64_t step = reader.take("+") ? reader.size() : 0;
  if (last < next) reader.refuse("a range whose end is not below its start");
  while (next <= last && values.size() <= kMostPoints) {
    values.push_back(std::to_string(next));
    if (__builtin_add_overflow(next, step > 0 ? step : next, &next)) break;
  }
  return values;
}

// Returns the names of the schedule's knobs, and the values that it lists for each.
std::map<std::string, std::vector<std::string>> knobs_of(const KernelSource& kernel) {
  const TextKernel* text = kernel.as_text();
  if (text == nullptr || !text->schedule) return {};
  return expect_compiler(kernel.compiler, kernel.name).knobs_of(*text->schedule);
}

bool is_knob(const std::string& name, const KernelSource& kernel) { return knobs_of(kernel).contains(name); }

std::vector<std::string> values_of(const Sweep& sweep, const KernelSource& kernel) {
  if (!sweep.values.empty()) return sweep.values;
  const auto knobs = knobs_of(kernel);
  if (const auto knob = knobs.find(sweep.name); knob != knobs.end()) return knob->second;
  throw OptionError(Option::sweep, sweep.name + ": expected values, as in " + sweep.name +
                                       "=1,7,64, or the name of a knob that the schedule lists choices for");
}

// Sizes are whole numbers; what a knob may be is up to the schedule.
void expect_sizes(const Sweep& sweep, const KernelSource& kernel) {
  if (is_knob(sweep.name, kernel)) return;
  for (const std::string& value : sweep.values) {
    const std::string text = sweep.name + "=" + value;
    (void)parse_sizes({text}, Option::sweep);
  }
}

}  // namespace

Sweep parse_sweep(const std::string& text) {
  Reader reader(text);
  Sweep sweep;
  sweep.name = reader.name();
  if (reader.done() && !sweep.name.empty()) return sweep;
  if (!reader.take("=")) reader.refuse();
  if (reader.is_range()) {
    sweep.values = range(reader);
  } else {
    do sweep.values.push_back(reader.word());
    while (reader.take(","));
  }
  if (!reader.done()) reader.refuse();
  if (sweep.values.size() > kMostPoints) reader.refuse("at most " + count_text(kMostPoints) + " values, got more");
  return sweep;
}

std::vector<SweepPoint> points_of(std::span<const Sweep> sweeps, const KernelSource& kernel) {
  std::vector<SweepPoint> points = {{}};
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    const std::string& name = sweeps[s].name;
    const auto is_same = [&](const Sweep& earlier) { return earlier.name == name; };
    if (std::any_of(sweeps.begin(), sweeps.begin() + static_cast<std::ptrdiff_t>(s), is_same))
      throw OptionError(Option::sweep, name + ": expected one range for it, got another");
    expect_sizes(sweeps[s], kernel);
    const std::vector<std::string> values = values_of(sweeps[s], kernel);
    if (points.size() * values.size() > kMostPoints)
      throw OptionError(Option::sweep,
                        name + ": expected at most " + count_text(kMostPoints) + " measurements, got more");
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (const std::string& value : values) {
        longer.push_back(point);
        longer.back().emplace_back(name, value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

void expect_sweepable(std::span<const Sweep> sweeps, const KernelSource& kernel, const std::string& function,
                      const std::vector<std::string>& sizes) {
  if (sweeps.empty()) return;
  const FunctionInfo info = function_of(kernel, function);
  const std::map<std::string, std::int64_t> given = parse_sizes(sizes);
  for (const Sweep& sweep : sweeps) {
    if (is_knob(sweep.name, kernel)) continue;
    if (std::ranges::find(info.symbols, sweep.name) == info.symbols.end())
      throw OptionError(Option::sweep, sweep.name + ": " + info.name + " has no size or knob '" + sweep.name +
                                           "'; expected one of: " + join(", ", info.symbols));
    if (given.contains(sweep.name))
      throw OptionError(Option::sweep, sweep.name + ": expected it as a range or as one size, got both");
  }
}

void apply(const SweepPoint& point, KernelSource& kernel, std::vector<std::string>& sizes) {
  const auto knobs = knobs_of(kernel);
  for (const auto& [name, value] : point) {
    if (knobs.contains(name)) {
      kernel.as_text()->schedule->knobs[name] = value;
    } else {
      sizes.push_back(name + "=" + value);
    }
  }
}

}  // namespace ferry::bench
