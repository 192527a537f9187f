#include "host/measure/paired_run.h"

#include <algorithm>

#include "base/throw_status.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/measure/memory_layout.h"
#include "host/measure/paired_samples.h"
#include "host/measure/sampling.h"
#include "module/module_file.h"

namespace ferry::bench {

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
    const BenchOptions options = options_for(settings.sampling, device);
    MeasuredProcess process;
    process.timings = run_kernel(device, {sides.front().side.info.name, sides.back().side.info.name},
                                 [&] { return measure_in_turns(calls, options); });
    calls.clear();
    finish_kernels(device);
    process.on = ran_on(device);
    return process;
  });
}

PairedRun paired_run(const OpenSession& open, const RunSettings& settings, const std::array<MeasuredSide, 2>& sides,
                     const ProcessLayout& layout, const Observer& observer, std::optional<std::size_t>* crashed) {
  const std::size_t first = layout.b_first ? 1 : 0, second = 1 - first;
  const PlacedSide order[] = {{sides[first], layout.code[first]}, {sides[second], layout.code[second]}};
  MeasuredProcess process;
  try {
    process = measure_process(open, settings, order, layout, observer, crashed);
  } catch (const Error&) {
    if (crashed != nullptr && *crashed) *crashed = *crashed == 0 ? first : second;
    throw;
  }
  PairedRun run{{layout, {}, 0}, std::move(process.on)};
  run.process.timings[first] = std::move(process.timings[0]);
  run.process.timings[second] = std::move(process.timings[1]);
  run.process.log_ratio = paired_log_ratio(run.process.timings[0], run.process.timings[1]);
  return run;
}

}  // namespace ferry::bench
