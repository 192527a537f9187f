#include "host/measure/paired_run.h"

#include <algorithm>
#include <deque>

#include "base/throw_status.h"
#include "host/kernel/emulated.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/checks_between.h"
#include "host/measure/code_layout.h"
#include "host/measure/memory_floor.h"
#include "host/measure/memory_layout.h"
#include "host/measure/paired_samples.h"
#include "host/measure/peak.h"
#include "host/measure/sampling.h"
#include "host/measure/witness.h"
#include "module/module_file.h"

namespace ferry::bench {

namespace {

// Returns the number of the only module that has this code.
std::optional<std::size_t> module_of(std::span<const CompiledModule> modules, std::span<const std::uint8_t> code) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::vector<CodeImage> images = value_or_throw(read_module(modules[i].bytes())).images;
    const auto is_it = [&](const CodeImage& image) { return std::ranges::equal(image.bytes, code); };
    if (std::ranges::none_of(images, is_it)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

std::vector<TimedCall> calls_of(const Device& device, std::span<const PlacedSide> sides,
                                std::span<const CompiledModule> modules, const MemoryLayout& memory,
                                const Observer& observer) {
  std::vector<TimedCall> calls;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const MeasuredSide& side = sides[i].side;
    calls.push_back(
        {device.load(modules[i])[side.info.name], arguments_at(side.info, side.plan, device, memory, observer)});
  }
  return calls;
}

std::uint64_t moved_by(const MeasuredSide& side, const Device& device) {
  return is_emulated(device.facts()) ? 0 : moved_bytes(side.info, side.plan.shapes, device.facts(), side.whole_reads);
}

// Returns what measures the rate of a copy as large as the tensors; null where no time depends on it.
std::function<double()> copy_meter_for(const Device& device, const RunSettings& settings,
                                       std::span<const PlacedSide> sides, BenchOptions options) {
  if (settings.compiler == nullptr || !settings.devices.empty()) return nullptr;
  std::uint64_t moved = 0, traffic = 0;
  for (const PlacedSide& placed : sides) {
    moved = std::max(moved, moved_by(placed.side, device));
    traffic = std::max(traffic, traffic_bytes(placed.side.info, placed.side.plan.shapes));
  }
  if (moved == 0) return nullptr;
  options.poison = {};
  const auto meter =
      copy_meter(device, *settings.compiler, settings.compiler->target_of(device.facts()), traffic, options);
  return [meter] {
    try {
      return meter();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::resource_exhausted) throw;
      return 0.0;  // no memory for it
    }
  };
}

// All sides have as many witnesses.
void ask_for(std::deque<Witnesses>& witnesses, std::vector<TimedCall>& calls) {
  std::size_t count = kProcessWitnesses;
  for (const Witnesses& side : witnesses) count = std::min(count, side.arguments().size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    witnesses[i].keep(count);
    calls[i].witnesses = witnesses[i].arguments();
  }
}

// A process makes so many of the calls that a side has for checks between timed ones, of the same and of other sizes.
constexpr std::size_t kProcessChecks = 2, kProcessSizes = 1;
// The witnesses of a process, and its checks, take such a share of the work of a check by themselves.
constexpr double kProcessShare = 64;
constexpr std::uint64_t kProcessSample = 20;

std::deque<ChecksBetween> ask_for_checks(const Device& device, std::span<const PlacedSide> sides,
                                         const SecretSeed& secret, std::vector<TimedCall>& calls) {
  using Calls = std::vector<verify::ProbeCall>;
  const auto count_of = [&](Calls SideDefinition::* list, std::size_t count) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto& definition = sides[i].side.definition;
      count = definition == nullptr ? 0 : std::min(count, ((*definition).*list).size());
      const std::uint64_t bytes = std::max<std::uint64_t>(dense_bytes(calls[i].arguments), 1);
      count = std::min<std::size_t>(count, device.facts().memory_limit_bytes / kMemoryShare / bytes);
    }
    return count;
  };
  const std::size_t same_sizes = count_of(&SideDefinition::between, kProcessChecks),
                    other_sizes = count_of(&SideDefinition::other_sizes, kProcessSizes);
  const auto chosen = [&](const Calls& from, std::size_t count) {
    Calls some;
    for (std::size_t c = 0; c < count; ++c)
      some.push_back(from[(derived_seed(secret, 1).low % from.size() + c) % from.size()]);
    return some;
  };
  std::deque<ChecksBetween> all;
  for (std::size_t i = 0; i < sides.size() && same_sizes + other_sizes > 0; ++i) {
    const SideDefinition& definition = *sides[i].side.definition;
    const ChecksBetween& checks =
        all.emplace_back(device, calls[i].function, calls[i].arguments, chosen(definition.between, same_sizes),
                         chosen(definition.other_sizes, other_sizes));
    calls[i].checks = checks.arguments();
    calls[i].other_sizes = checks.other_sizes();
  }
  return all;
}

}  // namespace

RanOn ran_on(const Device& device) { return {device.name(), device.board(), device.processor(), device.facts()}; }

MeasuredProcess measure_process(const OpenSession& open, const RunSettings& settings, std::span<const PlacedSide> sides,
                                const MemoryLayout& memory, const Observer& observer,
                                std::optional<std::size_t>* crashed) {
  std::vector<CompiledModule> modules;
  for (const PlacedSide& placed : sides)
    modules.push_back(module_in_layout(settings.compiler, placed.side.module, placed.layout));
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = settings.devices;
    connection.source_line = [&](std::span<const std::uint8_t> image, std::uint64_t address) {
      if (crashed != nullptr) *crashed = module_of(modules, image);
      return settings.compiler == nullptr ? std::string() : settings.compiler->source_line(image, address);
    };
    const Device device = open(connection);
    const DeviceTensor before = allocate_before(device, memory);
    std::vector<TimedCall> calls = calls_of(device, sides, modules, memory, observer);
    BenchOptions options = options_for(settings.sampling, device);
    MeasuredProcess process;
    std::vector<TimedResultsCheck> checks;
    std::deque<Witnesses> witnesses;
    std::deque<ChecksBetween> between;
    if (settings.checks_results) {
      const SecretSeed secret = secret_for(settings.sampling);
      for (std::size_t i = 0; i < sides.size(); ++i) {
        look_at_outputs(sides[i].side.info, secret, options);
        checks.emplace_back(sides[i].side.info, calls[i].arguments);
        witnesses.emplace_back(device, sides[i].side.info, sides[i].side.plan, calls[i].arguments, kProcessWitnesses);
      }
      ask_for(witnesses, calls);
      if (options.isolated && options.fresh_inputs) between = ask_for_checks(device, sides, secret, calls);
    }
    const auto copy_rate = copy_meter_for(device, settings, sides, options);
    const double before_samples = copy_rate ? copy_rate() : 0;
    process.timings = run_kernel(device, {sides.front().side.info.name, sides.back().side.info.name},
                                 [&] { return measure_in_turns(calls, options); });
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const verify::Outputs* const results = sides[i].side.results.get();
      process.results.push_back(checks[i].finish(process.timings[i], results));
      if (sides[i].pairs != nullptr && i > 0)
        process.difference = checks[i].difference_from(checks[i - 1], *sides[i].pairs, settings.limits, results);
      if (sides[i].pairs != nullptr && i > 0 && process.difference.empty())
        process.difference =
            witnesses[i].difference_from(process.timings[i], witnesses[i - 1], process.timings[i - 1], *sides[i].pairs,
                                         settings.limits, results, process.compared_calls);
    }
    process.results.resize(sides.size());
    process.checks.resize(sides.size());
    for (std::size_t i = 0; i < checks.size(); ++i) {
      const auto& definition = sides[i].side.definition;
      if (definition == nullptr || !process.results[i].mistake.empty()) continue;
      const verify::CheckEffort effort = verify::CheckEffort::share(kProcessShare, kProcessSample);
      std::string& mistake = process.results[i].mistake;
      mistake = witnesses[i].mistake(process.timings[i], definition->definitions, definition->limits, effort,
                                     process.checks[i]);
      if (mistake.empty() && !between.empty())
        mistake = between[i].mistake(sides[i].side.info, process.timings[i], definition->definitions,
                                     definition->limits, effort, process.checks[i]);
    }
    const double rate = copy_rate ? std::max(before_samples, copy_rate()) : 0;
    for (std::size_t i = 0; i < sides.size(); ++i)
      process.too_fast.push_back(too_fast(process.timings[i], moved_by(sides[i].side, device), rate));
    checks.clear();
    witnesses.clear();
    between.clear();
    calls.clear();
    finish_kernels(device);
    process.on = ran_on(device);
    return process;
  });
}

PairedRun paired_run(const OpenSession& open, const RunSettings& settings, const std::array<MeasuredSide, 2>& sides,
                     const ProcessLayout& layout, const Observer& observer, std::optional<std::size_t>* crashed) {
  const std::size_t first = layout.b_first ? 1 : 0, second = 1 - first;
  verify::ParameterPairs pairs = settings.pairs;
  if (second == 1)
    for (auto& [a, b] : pairs) std::swap(a, b);
  const PlacedSide order[] = {{sides[first], layout.code[first]}, {sides[second], layout.code[second], &pairs}};
  MeasuredProcess process;
  try {
    process = measure_process(open, settings, order, layout, observer, crashed);
  } catch (const Error&) {
    if (crashed != nullptr && *crashed) *crashed = *crashed == 0 ? first : second;
    throw;
  }
  PairedRun run;
  run.on = std::move(process.on);
  run.process.layout = layout;
  run.process.timings[first] = std::move(process.timings[0]);
  run.process.timings[second] = std::move(process.timings[1]);
  run.process.mistakes[first] = process.results[0].mistake;
  run.process.mistakes[second] = process.results[1].mistake;
  run.process.too_fast[first] = process.too_fast[0];
  run.process.too_fast[second] = process.too_fast[1];
  run.process.unchecked = process.results[0].unchecked;
  run.process.difference = std::move(process.difference);
  run.process.compared_calls = process.compared_calls;
  run.process.checks[first] = std::move(process.checks[0]);
  run.process.checks[second] = std::move(process.checks[1]);
  run.process.log_ratio = paired_log_ratio(run.process.timings[0], run.process.timings[1]);
  return run;
}

}  // namespace ferry::bench
