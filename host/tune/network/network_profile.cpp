#include "host/tune/network/network_profile.h"

#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/size_hints.h"
#include "host/kernel/step_times.h"
#include "host/measure/peak.h"

#include <algorithm>
#include <chrono>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kProfiledCalls = 5;
// A copy of so many bytes stays in the cache, so nothing that a kernel reads can be faster.
constexpr std::uint64_t kCachedBytes = std::uint64_t{128} << 10;

}  // namespace

NetworkProfile profile_network(const bench::NamedDevice& device, const TunedKernel& network, const TuneOptions& options,
                               const Observer& observer) {
  const KernelSource& source = network.source;
  const Clock::time_point begin = Clock::now();
  ConnectOptions connection;
  connection.devices = devices_for(network.target, source);
  const Device opened = device.open(connection);
  NetworkProfile profile;
  profile.target = target_for(opened, network.target, source, observer);
  const FunctionInfo described = function_of(source, network.function);
  profile.sizes = size_hints(described, options.call);
  profile.kernels = source.as_network()->network->kernels(
      {.target = profile.target, .sizes = profile.sizes, .tuned = source.tuned.get()});
  const Clock::time_point compiling = Clock::now();
  const CompiledModule module = compile_kernel(source, network.function, profile.target, options.call, observer).module;
  const Clock::time_point compiled = Clock::now();
  profile.compile_seconds = std::chrono::duration<double>(compiled - compiling).count();
  const StepGuard step = observer.begin("timing the steps of " + source.name);
  const FunctionInfo& info = choose_function(module.manifest(), network.function, source.name);
  const CallPlan plan = plan_call(info, options.call, input_range(source));
  const Function function = opened.load(module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan, opened, observer);
  function.call(arguments);
  TimedOutputs timed = function.call_timed(
      arguments, {.repeat = kProfiledCalls, .cold = false, .cores = options.cores, .threads = options.threads});
  profile.session_seconds = std::chrono::duration<double>(Clock::now() - compiled + (compiling - begin)).count();
  describe_step_times(module, plan.symbols, timed.steps);
  profile.times = kernel_times(timed.steps);
  if (profile.target.is_for_cpu()) {
    BenchOptions bench;
    bench.cores = options.cores;
    bench.threads = options.threads;
    profile.peak = bench::peak_meter(opened, *source.compiler, profile.target, DType::f32, kCachedBytes, bench)();
  }
  return profile;
}

double least_seconds(const KernelTime& kernel, const bench::Peak& peak) {
  double seconds = 0;
  if (kernel.dtype == DType::f32 && peak.flops > 0) seconds = kernel.flops / peak.flops;
  if (peak.bytes > 0) seconds = std::max(seconds, kernel.bytes / peak.bytes);
  return seconds;
}

}  // namespace ferry::tune
