#include "host/measure/instructions.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/format.h"
#include "ferry/bench/environment.h"
#include "ferry/error.h"
#include "host/kernel/emulated.h"
#include "host/kernel/kernel_failure.h"
#include "module/manifest.h"

namespace ferry::bench {

namespace {

// A count up to this limit is a whole number in a double.
constexpr double kMostExact = 9007199254740992.0;
constexpr std::uint32_t kMostNumber = UINT32_MAX / 2;
constexpr double kSampleMs = 5;

bool has_launches(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) { return std::holds_alternative<LaunchStep>(step); });
}

InstructionCount uncounted(std::string reason) { return {{}, false, std::move(reason)}; }

std::string why_uncounted(const Device& device, const Timing& timing) {
  if (is_emulated(device.facts())) return "its emulator runs without the plugin libferry_instructions.so";
  return read_environment(timing).counters_missing;
}

}  // namespace

InstructionCount judge_counts(const std::string& function, const std::array<double, 4>& instructions,
                              std::uint32_t number, bool is_exact) {
  std::array<double, 2> slopes{};
  for (std::size_t i = 0; i < 2; ++i) slopes[i] = (instructions[2 * i + 1] - instructions[2 * i]) / number;
  const double larger = std::max(slopes[0], slopes[1]);
  const double allowed = is_exact ? 0 : kCounterDisagreement * larger;
  // Written so that not-a-number disagrees.
  if (!(std::min(slopes[0], slopes[1]) > 0) || !(std::abs(slopes[0] - slopes[1]) <= allowed)) {
    std::string reason =
        format("%s: expected two counts of the instructions of a call to %s, got %.15g and %.15g", function.c_str(),
               is_exact ? "be equal" : "differ by at most 0.1%", slopes[0], slopes[1]);
    if (is_exact) reason += "; does it execute more or less depending on what earlier calls have left behind?";
    return uncounted(std::move(reason));
  }
  return {(slopes[0] + slopes[1]) / 2, is_exact, {}};
}

InstructionCount count_instructions(const Device& device, const Function& function,
                                    const std::vector<Argument>& arguments, const CountOptions& options) {
  const FunctionInfo& info = function.info();
  if (options.number > kMostNumber) {
    throw Error(ErrorCode::invalid_argument,
                format("expected at most %u calls to count the instructions of, got %u", kMostNumber, options.number));
  }
  if (has_launches(info.plan)) return uncounted(info.name + " runs on a GPU, whose instructions are not counted");
  const bool is_exact = device.facts().counts_instructions;

  BenchOptions bench{.number = 1, .repeat = 1, .min_repeat_ms = 0, .warmup_ms = 0};
  bench.cores = options.cores;
  bench.threads = 1;
  const auto sample = [&] {
    return run_kernel(device, {info.name}, [&] { return function.measure(arguments, bench); });
  };
  std::uint32_t number = options.number;
  if (number == 0) {
    number = 1;
    if (!is_exact) bench.min_repeat_ms = kSampleMs;
  }
  // Not counted: the first call of a process also resolves symbols and fills caches.
  const Timing first = sample();
  if (std::isnan(first.instructions)) {
    const std::string why = why_uncounted(device, first);
    return uncounted("the device does not count instructions" + (why.empty() ? "" : ": " + why));
  }
  if (bench.min_repeat_ms > 0) {
    number = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(first.number, 1, kMostNumber));
    bench.min_repeat_ms = 0;
  }

  std::array<double, 4> instructions{};
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    bench.number = i % 2 == 0 ? number : 2 * number;
    const Timing timing = sample();
    if (timing.number != bench.number) {
      throw Error(ErrorCode::protocol_error, format("evaluate: expected samples of %u calls, got %llu", bench.number,
                                                    static_cast<unsigned long long>(timing.number)));
    }
    // The device divides by the number of calls; rounding undoes it exactly.
    const double sum = std::round(timing.instructions * bench.number);
    if (!(sum >= 0 && sum <= kMostExact)) {
      throw Error(ErrorCode::protocol_error, format("evaluate: expected a number of instructions, got %g", sum));
    }
    instructions[i] = sum;
  }
  return judge_counts(info.name, instructions, number, is_exact);
}

}  // namespace ferry::bench
