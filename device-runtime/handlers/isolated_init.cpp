#include "device-runtime/handlers/isolated_init.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "device-runtime/handlers/blobs.h"
#include "device-runtime/handlers/ended_runner.h"
#include "device-runtime/handlers/isolated_calls.h"
#include "device-runtime/handlers/kernel_running.h"

namespace ferry::device {
namespace {

// Returns nothing if two constants that a step reads were placed over each other for others.
std::optional<StepConstants> place(const Plan& init, std::span<const MemoryBlock> constants) {
  constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  StepConstants places{std::vector<std::uint64_t>(constants.size(), kNowhere)};
  for (const Step& step : init.steps) {
    std::vector<std::size_t> read = constants_of(step);
    const auto end = [&](std::size_t i) { return places.offsets[i] + (constants[i].bytes + page - 1) / page * page; };
    std::uint64_t free = 0;
    for (const std::size_t i : read)
      if (places.offsets[i] != kNowhere) free = std::max(free, end(i));
    for (const std::size_t i : read) {
      if (places.offsets[i] != kNowhere) continue;
      places.offsets[i] = free;
      free = end(i);
    }
    places.bytes = std::max(places.bytes, free);
    std::ranges::sort(read, {}, [&](std::size_t i) { return std::pair(places.offsets[i], i); });
    for (std::size_t i = 1; i < read.size(); ++i)
      if (read[i] != read[i - 1] && end(read[i - 1]) > places.offsets[read[i]]) return std::nullopt;
  }
  return places;
}

// The others need no memory in the runner.
std::vector<MemoryBlock> constants_read_by(const Plan& init, std::span<const MemoryBlock> constants) {
  std::vector<MemoryBlock> read(constants.size());
  for (const std::size_t index : constants_of(init)) read[index] = constants[index];
  return read;
}

}  // namespace

std::optional<Result<rpc::CallReply>> run_isolated_init(SessionState& state, RequestContext& context,
                                                        const CheckedCall& call,
                                                        std::span<const MemoryBlock> persistent,
                                                        const ConstantMemory& constants) {
  // Only this process notices what is written beside guarded memory.
  if (state.guards_memory || *why_not_isolated(state, *call.module) != 0) return std::nullopt;
  const Plan& plan = call.info().init;
  const std::vector<MemoryBlock> read = constants_read_by(plan, constants.blocks());
  const std::optional<StepConstants> places = place(plan, read);
  if (!places) return std::nullopt;
  const CallToIsolate init{.module = call.module->hash,
                           .file = *call.module->file,
                           .function = call.info(),
                           .number = call.function,
                           .bound = call.bound,
                           .arguments = call.arguments,
                           .kept = {persistent, read},
                           .init = &*places};
  IsolatedMemory memory(state.access.isolation, state.budget);
  const Result<std::size_t> number = memory.add(init, 1, IsolatedMemory::Tensors::in_place);
  if (!number.status().is_ok() || !memory.map().is_ok()) return std::nullopt;
  memory.copy_in(number.value(), init);
  RunnerOptions options;
  options.threads = state.access.files.threads.number();
  options.empty_windows = 0;
  const auto runner = IsolatedCall::start(state.access.isolation, memory, number.value(), init, options,
                                          state.budget.limit() - state.budget.used());
  // The session's own process says why a module cannot be run.
  if (!runner.status().is_ok()) return std::nullopt;
  IsolatedCall& process = *runner.value();
  std::int64_t elapsed_ns = 0;
  std::int32_t result = 0;
  {
    const KernelRunning running(context, call.info().name);
    for (std::size_t step = 0; step < plan.steps.size() && result == 0; ++step) {
      for (const std::size_t constant : constants_of(plan.steps[step])) {
        memory.copy_constant(number.value(), init, constant);
        constants.drop_pages(constant);
      }
      std::int64_t step_ns = 0;
      result = process.sample(1, step, step_ns);
      elapsed_ns += step_ns;
    }
    end_like_runner(process, context.activity());
  }
  context.log(process.take_printed());
  Status status = result_status(call.info(), result);
  if (status.is_ok()) status = process.check_processor_time();
  if (!status.is_ok()) return status;
  memory.copy_persistent_out(number.value(), init);
  return rpc::CallReply{static_cast<std::uint64_t>(elapsed_ns)};
}

}  // namespace ferry::device
