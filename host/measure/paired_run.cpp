#include "host/measure/paired_run.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/measured_function.h"
#include "host/measure/memory_layout.h"
#include "host/measure/paired_samples.h"
#include "host/measure/sampling.h"
#include "host/verify/same_call.h"

namespace ferry::bench {

namespace {

// Code is shifted by less than a page, in steps that satisfy the alignment of functions on every architecture.
constexpr std::uint32_t kCodeStep = 16;

struct Side {
  CompiledKernel compiled;
  FunctionInfo info;
  CallPlan plan;
};

Side compile_side(const ComparedKernel& kernel, const CallOptions& call, const Target& target,
                  std::uint32_t code_padding, const Observer& observer) {
  CompiledKernel compiled = compile_kernel(kernel.source, kernel.function, target, call, observer, code_padding);
  FunctionInfo info = choose_function(compiled.module.manifest(), kernel.function, kernel.source.name);
  return {std::move(compiled), std::move(info), {}};
}

// Kernels that can take the same inputs get them; others are called each by itself.
void plan_sides(Side (&sides)[2], const KernelPair& kernels, const CompareOptions& options) {
  const InputRange range = input_range(kernels[0].source, kernels[1].source);
  sides[0].plan = plan_call(sides[0].info, options.call, range);
  const Result<verify::ParameterPairs> pairs = verify::pair_parameters(sides[0].info, sides[1].info);
  if (pairs.is_ok()) {
    try {
      sides[1].plan = verify::plan_same_call(sides[1].info, sides[0].info, sides[0].plan, pairs.value());
      return;
    } catch (const UsageError&) {
      if (options.compares_results) throw;
    }
  }
  sides[1].plan = plan_call(sides[1].info, options.call, range);
}

ProcessLayout draw_layout(stats::Random& random, bool on_gpu) {
  ProcessLayout layout;
  for (std::uint32_t& padding : layout.code_padding) {
    padding = kCodeStep * static_cast<std::uint32_t>(1 + random.below(kPage / kCodeStep - 1));
  }
  static_cast<MemoryLayout&>(layout) = draw_memory_layout(random, on_gpu);
  layout.b_first = random.below(2) == 1;
  return layout;
}

}  // namespace

Target common_target(const Device& device, const KernelPair& kernels, const std::string& target,
                     const Observer& observer) {
  const bool a_is_compiled = kernels[0].source.module.has_value();
  return target_for(device, target, kernels[a_is_compiled ? 1 : 0].source, observer);
}

ComparedProcess measure_process(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options,
                                stats::Random& random, ComparedFacts& facts, const Observer& observer) {
  ComparedProcess process;
  ConnectOptions connection;
  connection.devices = devices_for(options.target, kernels[0].source);
  connection.source_line = source_line_of(kernels[0].source);
  process.layout = draw_layout(random, !connection.devices.empty());
  const ProcessLayout& layout = process.layout;
  const Device device = open(connection);
  const Target target = common_target(device, kernels, options.target, observer);
  const auto side = [&](int k) {
    return compile_side(kernels[static_cast<std::size_t>(k)], options.call, target, layout.code_padding[k], observer);
  };
  Side sides[2] = {side(0), side(1)};
  plan_sides(sides, kernels, options);
  const DeviceTensor shift = allocate_before(device, layout);

  const int order[2] = {layout.b_first ? 1 : 0, layout.b_first ? 0 : 1};
  std::vector<TimedCall> calls;
  for (const int k : order) {
    std::vector<Argument> arguments =
        !calls.empty() && same_arguments(sides[0].info, sides[0].plan, sides[1].info, sides[1].plan)
            ? calls.front().arguments
            : arguments_at(sides[k].info, sides[k].plan, device, layout, observer);
    calls.push_back({device.load(sides[k].compiled.module)[sides[k].info.name], std::move(arguments)});
  }
  const BenchOptions bench = options_for(options.sampling, device);
  std::vector<Timing> timings =
      run_kernel(device, {sides[0].info.name, sides[1].info.name}, [&] { return measure_in_turns(calls, bench); });
  calls.clear();
  finish_kernels(device);
  for (int i = 0; i < 2; ++i) process.timings[order[i]] = std::move(timings[static_cast<std::size_t>(i)]);
  process.log_ratio = paired_log_ratio(process.timings[0], process.timings[1]);
  facts = {{measured_function(sides[0].info, sides[0].plan.symbols),
            measured_function(sides[1].info, sides[1].plan.symbols)},
           device.name(),
           device.processor(),
           device.facts(),
           sides[0].compiled.module.manifest().target};
  return process;
}

}  // namespace ferry::bench
