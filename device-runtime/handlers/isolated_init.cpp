#include "device-runtime/handlers/isolated_init.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device-runtime/handlers/blobs.h"
#include "device-runtime/handlers/ended_runner.h"
#include "device-runtime/handlers/isolated_calls.h"
#include "device-runtime/handlers/kernel_running.h"

namespace ferry::device {
namespace {

// A session is promised not to hold the constants of a network twice.
constexpr std::uint64_t kMostCopied = 8 << 20;

std::uint64_t copied_bytes(const CallToIsolate& init) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t tensor : init.bound.tensor_bytes) bytes += tensor;
  for (const MemoryBlock& block : init.kept.constants) bytes += block.bytes;
  return bytes;
}

// The others need no memory in the runner.
std::vector<MemoryBlock> constants_read_by(const Plan& init, std::span<const MemoryBlock> constants) {
  std::vector<MemoryBlock> read(constants.size());
  for (const std::size_t index : constants_of(init)) read[index] = constants[index];
  return read;
}

}  // namespace

std::optional<Result<rpc::CallReply>> run_isolated_init(SessionState& state, RequestContext& context,
                                                        const CheckedCall& call, const KeptMemory& kept) {
  // Only this process notices what is written beside guarded memory.
  if (state.guards_memory || *why_not_isolated(state, *call.module) != 0) return std::nullopt;
  const std::vector<MemoryBlock> constants = constants_read_by(call.info().init, kept.constants);
  const CallToIsolate init{.module = call.module->hash,
                           .file = *call.module->file,
                           .function = call.info(),
                           .number = call.function,
                           .bound = call.bound,
                           .arguments = call.arguments,
                           .kept = {kept.persistent, constants},
                           .is_init = true};
  if (copied_bytes(init) > kMostCopied) return std::nullopt;
  IsolatedMemory memory(state.access.isolation, state.budget);
  const Result<std::size_t> number = memory.add(init, 1);
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
    result = process.sample(1, elapsed_ns);
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
