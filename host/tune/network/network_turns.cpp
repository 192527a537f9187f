#include "host/tune/network/network_turns.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/step_times.h"

#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTurns = 8;
constexpr std::array<std::size_t, 2> kInOrder{0, 1}, kReversed{1, 0};

struct LoadedNetwork {
  const CompiledModule* module;
  CallPlan plan;
  Function function;
  std::vector<Argument> arguments;
};

// A first call binds the weights.
LoadedNetwork load(const InNetwork& in, const Device& device, const CompiledModule& module) {
  const FunctionInfo& info = choose_function(module.manifest(), in.network.function, in.network.source.name);
  CallPlan plan = plan_call(info, in.options.call, input_range(in.network.source));
  std::vector<Argument> arguments = make_arguments(info, plan, device);
  LoadedNetwork loaded{&module, std::move(plan), device.load(module)[info.name], std::move(arguments)};
  loaded.function.call(loaded.arguments);
  return loaded;
}

std::vector<StepTime> steps_of(const InNetwork& in, const LoadedNetwork& network) {
  TimedOutputs timed = network.function.call_timed(
      network.arguments, {.repeat = 1, .cold = false, .cores = in.options.cores, .threads = in.options.threads});
  describe_step_times(*network.module, network.plan.symbols, timed.steps);
  return std::move(timed.steps);
}

}  // namespace

CompiledModule compile_with(const InNetwork& in_network, std::shared_ptr<const TunedSchedules> tuned,
                            const Observer& observer) {
  KernelSource source = in_network.network.source;
  source.tuned = std::move(tuned);
  return compile_kernel(source, in_network.network.function, in_network.profile.target, in_network.options.call,
                        observer)
      .module;
}

std::vector<SessionSteps> call_in_turns(const InNetwork& in_network, const std::array<const CompiledModule*, 2>& sides,
                                        int sessions, const Observer& observer,
                                        std::optional<Clock::time_point> until) {
  std::vector<SessionSteps> all;
  Clock::duration last{};
  for (int session = 0; session < sessions && !observer.must_end(); ++session) {
    const Clock::time_point start = Clock::now();
    if (until && session >= kLeastSessions && start + last > *until) break;
    ConnectOptions connection;
    connection.devices = devices_for(in_network.network.target, in_network.network.source);
    const Device device = in_network.device.open(connection);
    // The side that is loaded first takes a few percent longer on some devices, so they take turns.
    std::array<std::optional<LoadedNetwork>, 2> loaded;
    for (const std::size_t side : session % 2 == 0 ? kInOrder : kReversed)
      loaded[side].emplace(load(in_network, device, *sides[side]));
    SessionSteps& steps = all.emplace_back();
    for (int turn = 0; turn < kTurns; ++turn)
      for (const std::size_t side : turn % 2 == 0 ? kInOrder : kReversed)
        steps[side].push_back(steps_of(in_network, *loaded[side]));
    last = Clock::now() - start;
  }
  return all;
}

}  // namespace ferry::tune
