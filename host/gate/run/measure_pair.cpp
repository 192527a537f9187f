#include "host/gate/run/measure_pair.h"

#include <algorithm>

#include "base/throw_status.h"
#include "host/gate/run/find_failed_side.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/measure/memory_layout.h"
#include "host/measure/paired_samples.h"
#include "host/measure/sampling.h"
#include "host/measure/warnings.h"
#include "module/module_file.h"

namespace ferry::gate {

namespace {

// Returns the number of the only module that has this code.
std::optional<std::size_t> module_of(std::span<const CompiledModule> modules, std::span<const std::uint8_t> code) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::vector<CodeImage> images = take(read_module(modules[i].bytes())).images;
    const auto is_it = [&](const CodeImage& image) { return std::ranges::equal(image.bytes, code); };
    if (std::ranges::none_of(images, is_it)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

void expect_same_environment(const Environment& before, const Environment& after) {
  if (before == after) return;
  throw Error(ErrorCode::unavailable, "the environment has changed between two sessions, from " + to_text(before) +
                                          " to " + to_text(after) + ": their times are not comparable");
}

Environment environment_of(const Device& device, const std::string& governor) {
  const DeviceFacts& facts = device.facts();
  return {device.board(), device.processor(), facts.operating_system + " " + facts.arch, governor};
}

Process measure_process(const OpenSession& open, const MeasuredCase& measured, std::span<const SideModule* const> sides,
                        std::uint32_t layout, const bench::MemoryLayout& memory, const Observer& observer,
                        std::optional<std::size_t>* crashed) {
  std::vector<CompiledModule> modules;
  for (const SideModule* side : sides)
    modules.push_back(bench::module_in_layout(measured.compiler, side->module, layout));
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = measured.devices;
    connection.source_line = [&](std::span<const std::uint8_t> image, std::uint64_t address) {
      if (crashed != nullptr) *crashed = module_of(modules, image);
      return measured.compiler.source_line(image, address);
    };
    const Device device = open(connection);
    const DeviceTensor before = bench::allocate_before(device, memory);
    std::vector<TimedCall> calls;
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const SideModule &side = *sides[i], &first = *sides[0];
      const bool shares_tensors = i > 0 && bench::same_arguments(first.info, first.plan, side.info, side.plan);
      std::vector<Argument> arguments = shares_tensors
                                            ? calls.front().arguments
                                            : bench::arguments_at(side.info, side.plan, device, memory, observer);
      calls.push_back({device.load(modules[i])[side.info.name], std::move(arguments)});
    }
    const BenchOptions options = bench::options_for(measured.sampling, device);
    Process process;
    process.timings = run_kernel(device, {sides.front()->info.name, sides.back()->info.name},
                                 [&] { return measure_in_turns(calls, options); });
    calls.clear();
    finish_kernels(device);
    const bench::Environment board = bench::read_environment(process.timings.front());
    process.environment = environment_of(device, board.governor_after);
    process.warnings = bench::board_warnings(process.timings.front(), board, device.facts().logical_cores);
    return process;
  });
}

MeasuredPair measure_pair(const OpenSession& open, const MeasuredCase& measured, const std::array<SideModule, 2>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer) {
  const bench::MemoryLayout memory = bench::draw_memory_layout(random, !measured.devices.empty());
  const std::size_t first = current_first ? 1 : 0;
  const SideModule* const order[] = {&sides[first], &sides[1 - first]};
  Process process;
  std::optional<std::size_t> crashed;
  try {
    process = measure_process(open, measured, order, layout, memory, observer, &crashed);
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    FailedPair failed{layout, memory, error, {}};
    if (crashed) failed.crashed_in = order[*crashed] == &sides[1] ? WhichSide::current : WhichSide::baseline;
    throw find_failed_side(open, measured, sides, failed, observer);
  }
  const Timing &baseline = process.timings[first], &current = process.timings[1 - first];
  MeasuredPair found{{layout, current_first, {baseline.median(), current.median()}, 0},
                     std::move(process.environment),
                     std::move(process.warnings)};
  if (!(baseline.minimum() > 0) || !(current.minimum() > 0)) {
    throw UsageError("expected times above 0, got calls too short for the clock of " + found.environment.board);
  }
  found.pair.log_ratio = bench::paired_log_ratio(current, baseline);
  return found;
}

}  // namespace ferry::gate
