#include "host/gate/run/measure_pair.h"

#include <cmath>

#include "host/bench/memory_layout.h"
#include "host/bench/sampling.h"
#include "host/bench/warnings.h"
#include "host/gate/layout/layout.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"

namespace ferry::gate {

bool is_failure_of_kernel(const Error& error) {
  return error.code() == ErrorCode::kernel_crashed || error.code() == ErrorCode::deadline_exceeded;
}

Process measure_process(const OpenSession& open, const MeasuredCase& measured, const SideModule& side,
                        std::uint32_t layout, const bench::MemoryLayout& memory, const Observer& observer) {
  const CompiledModule module = module_in_layout(measured.compiler, side.module, layout);
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = measured.devices;
    connection.source_line = [&](std::span<const std::uint8_t> image, std::uint64_t address) {
      return measured.compiler.source_line(image, address);
    };
    const Device device = open(connection);
    const DeviceTensor before = bench::allocate_before(device, memory);
    const BenchOptions options = bench::options_for(measured.sampling, device);
    Process process;
    {
      const std::vector<Argument> arguments = bench::arguments_at(side.info, side.plan, device, memory, observer);
      const Function function = device.load(module)[side.info.name];
      process.timing = run_kernel(device, {side.info.name}, [&] { return function.measure(arguments, options); });
    }
    finish_kernels(device);
    const bench::Environment board = bench::read_environment(process.timing);
    const DeviceFacts& facts = device.facts();
    process.environment = {device.name(), device.processor(), facts.operating_system + " " + facts.arch,
                           board.governor_after};
    process.warnings = bench::board_warnings(process.timing, board, facts.logical_cores);
    return process;
  });
}

MeasuredPair measure_pair(const OpenSession& open, const MeasuredCase& measured, const std::array<SideModule, 2>& sides,
                          std::uint32_t layout, bool current_first, stats::Random& random, const Observer& observer) {
  MeasuredPair found;
  found.pair.layout = layout;
  const bench::MemoryLayout memory = bench::draw_memory_layout(random, !measured.devices.empty());
  found.pair.current_first = current_first;
  for (const std::size_t turn : {0u, 1u}) {
    const std::size_t side = found.pair.current_first ? 1 - turn : turn;
    try {
      found.processes[side] = measure_process(open, measured, sides[side], layout, memory, observer);
    } catch (const Error& error) {
      if (!is_failure_of_kernel(error)) throw;
      throw SideFailed(side == 0, error.what());
    }
    found.pair.seconds[side] = found.processes[side].timing.median();
  }
  if (!(found.pair.seconds[0] > 0) || !(found.pair.seconds[1] > 0)) {
    throw Error(ErrorCode::device_error,
                "expected times above 0, got calls too short for the clock of " + found.processes[0].environment.board);
  }
  found.pair.log_ratio = std::log(found.pair.seconds[1] / found.pair.seconds[0]);
  return found;
}

}  // namespace ferry::gate
