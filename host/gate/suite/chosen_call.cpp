#include "host/gate/suite/chosen_call.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/kernel/call_plan.h"

namespace ferry::gate {
namespace {

constexpr std::uint64_t kMostBytes = 4 << 20;
constexpr double kMostOperations = 1 << 26;
constexpr std::int64_t kLargestSize = 1 << 20;
// Smaller calls take microseconds, and each one that is timed is compiled for its sizes.
constexpr std::int64_t kFirstTimed = 16;
// Long enough to be measured well, and short enough for a hundred cases.
constexpr double kGoodSeconds = 1e-3;

bool is_size(const FunctionInfo& function, const std::string& name) {
  return std::ranges::find(function.symbols, name) != function.symbols.end();
}

bool is_number(const FunctionInfo& function, const std::string& name) {
  return std::ranges::any_of(function.parameters, [&](const ParameterInfo& parameter) {
    return parameter.kind == ParameterKind::scalar && parameter.name == name;
  });
}

// Whether a dimension of a tensor is exactly this symbol, as n is in "i32 n, in f32[n] x".
bool is_extent(const FunctionInfo& function, std::size_t symbol) {
  const ManifestExpr extent{{{ManifestOp::symbol, static_cast<std::int64_t>(symbol)}}};
  return std::ranges::any_of(function.parameters, [&](const ParameterInfo& parameter) {
    return std::ranges::find(parameter.shape, extent) != parameter.shape.end();
  });
}

// Whether a number determines sizes otherwise, as a stride does.
bool is_free_number(const FunctionInfo& function, std::size_t symbol) {
  return is_number(function, function.symbols[symbol]) && !is_extent(function, symbol);
}

bool has_free_numbers(const FunctionInfo& function) {
  for (std::size_t s = 0; s < function.symbols.size(); ++s)
    if (is_free_number(function, s)) return true;
  return false;
}

// The values that are tried: of sizes, and of other numbers that determine them.
struct Values {
  std::int64_t size = 1, number = 1;
};

// Returns the options without contents of tensors, which would have to be computed to try out a size.
CallOptions call_with(const FunctionInfo& function, const Values& values) {
  CallOptions call;
  for (const ParameterInfo& parameter : function.parameters)
    if (parameter.kind == ParameterKind::scalar && !is_size(function, parameter.name))
      call.arguments.push_back(parameter.name + "=1");
  std::vector<std::string> sizes;
  for (std::size_t s = 0; s < function.symbols.size(); ++s)
    sizes.push_back(function.symbols[s] + "=" +
                    std::to_string(is_free_number(function, s) ? values.number : values.size));
  if (!sizes.empty()) call.sizes = {join(",", sizes)};
  return call;
}

double operations(const FunctionInfo& function, const CallPlan& plan) {
  if (!function.flops.code.empty()) {
    const Result<std::int64_t> known = evaluate(function.flops, plan.symbols);
    if (known.is_ok() && known.value() > 0) return static_cast<double>(known.value());
  }
  double most = 0;
  for (const Shape& shape : plan.shapes) {
    double elements = 1;
    std::int64_t longest = 1;
    for (const std::int64_t extent : shape) {
      elements *= static_cast<double>(extent);
      longest = std::max(longest, extent);
    }
    most = std::max(most, shape.size() < 2 ? elements : 2 * elements * static_cast<double>(longest));
  }
  return most;
}

bool is_within_limits(const FunctionInfo& function, const CallPlan& plan) {
  return traffic_bytes(function, plan.shapes) <= kMostBytes && operations(function, plan) <= kMostOperations;
}

std::int64_t shortest_extent(const CallPlan& plan) {
  std::int64_t shortest = kLargestSize;
  for (const Shape& shape : plan.shapes)
    for (const std::int64_t extent : shape) shortest = std::min(shortest, std::max<std::int64_t>(extent, 1));
  return shortest;
}

bool may_be_index(const ParameterInfo& parameter) {
  const DType type = parameter.dtype;
  return parameter.kind == ParameterKind::tensor && parameter.direction != Direction::out &&
         (type == DType::i32 || type == DType::i64 || type == DType::u32 || type == DType::u64);
}

// Describes the contents of each input whose random numbers are not small anyway: integers that may be indices are
// below the shortest extent, others are any that the type has.
void add_contents(const FunctionInfo& function, std::int64_t below, InputRange range, CallOptions& call) {
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    if (may_be_index(parameter)) {
      call.arguments.push_back(parameter.name + "=:below(" + std::to_string(below) + ")");
    } else if (range == InputRange::full) {
      call.arguments.push_back(parameter.name + "=:full");
    }
  }
}

struct Choice {
  Values values = {0, 0};
  std::int64_t below = 1;  // for indices
  std::string mistake;     // why a size did not fit
};

Choice choose(const FunctionInfo& function, bool is_network, bool has_large_numbers) {
  Choice choice;
  const std::int64_t largest = function.symbols.empty() ? 1 : kLargestSize;
  for (std::int64_t size = 1; size <= largest; size *= 2) {
    const Values values{size, has_large_numbers ? size : 1};
    try {
      const CallPlan plan = plan_call(function, call_with(function, values));
      if (choice.values.size > 0 && (is_network || !is_within_limits(function, plan))) break;
      choice.values = values;
      choice.below = is_network ? 2 : shortest_extent(plan);
    } catch (const Error& error) {
      choice.mistake = error.what();
    }
  }
  return choice;
}

CallOptions whole_call(const FunctionInfo& function, const Choice& choice, InputRange range) {
  CallOptions call = call_with(function, choice.values);
  add_contents(function, choice.below, range, call);
  return call;
}

// Returns the choice whose call comes nearest to kGoodSeconds, among the sizes up to the first one that takes longer or
// has too much memory. Returns nothing if none can be timed.
std::optional<ChosenCall> choose_by_time(const FunctionInfo& function, bool has_large_numbers, InputRange range,
                                         const TimeOfCall& time) {
  std::optional<ChosenCall> best;
  const auto distance = [](double seconds) { return std::abs(std::log(seconds / kGoodSeconds)); };
  const std::int64_t largest = function.symbols.empty() ? kFirstTimed : kLargestSize;
  std::int64_t factor = 2;
  for (std::int64_t size = kFirstTimed; size <= largest; size *= factor) {
    Choice choice{{size, has_large_numbers ? size : 1}, 1, {}};
    try {
      const CallPlan plan = plan_call(function, call_with(function, choice.values));
      if (best && traffic_bytes(function, plan.shapes) > kMostBytes) break;
      choice.below = shortest_extent(plan);
    } catch (const Error&) {
      continue;  // too small for the function
    }
    CallOptions call = whole_call(function, choice, range);
    const std::optional<double> seconds = time(call);
    if (!seconds || !(*seconds > 0)) break;
    if (!best || distance(*seconds) < distance(*best->seconds)) best = {std::move(call), seconds};
    if (*seconds >= kGoodSeconds) break;
    factor = *seconds < kGoodSeconds / 256 ? 4 : 2;
  }
  return best;
}

}  // namespace

ChosenCall chosen_call(const FunctionInfo& function, bool is_network, InputRange range, const TimeOfCall& time) {
  Choice choice = choose(function, is_network, false);
  // The distance between rows cannot be less than their length.
  const bool has_large_numbers = choice.values.size <= 1 && has_free_numbers(function);
  if (has_large_numbers) choice = choose(function, is_network, true);
  if (choice.values.size == 0) throw UsageError("no size fits: " + choice.mistake);
  if (time && !is_network) {
    if (auto timed = choose_by_time(function, has_large_numbers, range, time)) return *std::move(timed);
  }
  return {whole_call(function, choice, range), std::nullopt};
}

}  // namespace ferry::gate
