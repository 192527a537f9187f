#include "host/measure/compare.h"

#include <cmath>

#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/call_inputs.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/retry.h"
#include "host/lang/whole_reads.h"
#include "host/measure/call_tensors.h"
#include "host/measure/checks_between.h"
#include "host/measure/code_layout.h"
#include "host/measure/measured_function.h"
#include "host/measure/memory_layout.h"
#include "host/measure/paired_run.h"
#include "host/measure/sampling.h"
#include "host/measure/side_outputs.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "host/verify/controls.h"
#include "host/verify/same_call.h"

namespace ferry::bench {

namespace {

using Clock = std::chrono::steady_clock;

void check_options(const CompareOptions& options) {
  if (options.processes < kLeastProcesses || options.processes > kMostProcesses) {
    throw UsageError("expected " + std::to_string(kLeastProcesses) + " to " + count_text(kMostProcesses) +
                     " processes, got " + std::to_string(options.processes));
  }
  if (!(options.least_effect >= 0) || std::isinf(options.least_effect)) {
    throw UsageError("expected a least effect of at least 0, got " + number_text(options.least_effect));
  }
}

// Returns the result of `work`, which handles one kernel of a pair: an OptionError that it throws names that kernel.
template <class Work>
auto about_kernel(KernelOfPair kernel, const Work& work) {
  try {
    return work();
  } catch (const OptionError& error) {
    throw OptionError(error.option(), error.what(), kernel);
  }
}

// Kernels that can take the same inputs get them, as they must if their results are compared; others are called each by
// itself.
verify::ParameterPairs plan_sides(std::array<MeasuredSide, 2>& sides, const KernelPair& kernels,
                                  const CompareOptions& options) {
  auto& [a, b] = sides;
  const Result<verify::ParameterPairs> pairs = verify::pair_parameters(a.info, b.info);
  if (!pairs.is_ok() && options.compares_results)
    throw OptionError(Option::same_results, "A and B cannot be given the same inputs: " + pairs.status().message());
  const InputRange range = input_range(kernels[0].source, kernels[1].source);
  a.plan = plan_call(a.info, options.call, range);
  if (pairs.is_ok()) {
    try {
      b.plan = verify::plan_same_call(b.info, a.info, a.plan, pairs.value());
      return pairs.value();
    } catch (const UsageError&) {
      if (options.compares_results) throw;
    }
  }
  b.plan = plan_call(b.info, options.call, range);
  return {};
}

std::array<MeasuredSide, 2> compile_sides(const Device& device, const KernelPair& kernels,
                                          const CompareOptions& options, const Observer& observer) {
  // A module that is compiled already determines the target only if the other kernel is one too.
  const bool a_is_compiled = kernels[0].source.as_module() != nullptr;
  const Target target = target_for(device, options.target, kernels[a_is_compiled ? 1 : 0].source, observer);
  const auto side = [&](const ComparedKernel& kernel) -> MeasuredSide {
    CompiledModule module =
        compile_kernel(kernel.source, kernel.function, target, options.call, observer, CodeForm::relinkable).module;
    FunctionInfo info = choose_function(module.manifest(), kernel.function, kernel.source.name);
    MeasuredSide made{std::move(module), std::move(info), {}};
    if (has_definition(kernel.source)) made.whole_reads = lang::whole_reads(program_of(kernel.source, made.info.name));
    return made;
  };
  return {side(kernels[0]), side(kernels[1])};
}

bool have_one_definition(const KernelPair& kernels) {
  return has_definition(kernels[0].source) != has_definition(kernels[1].source);
}

// The definitions by which each side is judged: its own, or that of the other side if only that has one.
struct Judgement {
  std::array<std::vector<verify::Definition>, 2> by;
  std::array<verify::CheckLimits, 2> limits;
  bool has_one_definition = false;
};

Judgement judgement_of(const KernelPair& kernels, const std::array<MeasuredSide, 2>& sides,
                       const std::array<std::vector<verify::Definition>, 2>& own, const verify::ParameterPairs& pairs,
                       const verify::DifferenceLimits& limits) {
  Judgement judgement;
  judgement.has_one_definition = have_one_definition(kernels);
  for (const std::size_t k : {0, 1}) {
    judgement.by[k] = own[k];
    judgement.limits[k] = {limits.rtol, limits.atol, own[k].empty()};
    if (!own[k].empty() || own[1 - k].empty()) continue;
    verify::Definition& of_other = judgement.by[k].emplace_back(own[1 - k].front());
    of_other.info = sides[1 - k].info;
    for (const auto& [a, b] : pairs) of_other.pairs.emplace_back(k == 0 ? a : b, k == 0 ? b : a);
  }
  return judgement;
}

// Checks the results of both kernels: the errors that rounding the terms of a definition explains are known element by
// element. `rounded` has the outputs of the side with the only definition for inputs of fewer bits.
void check_by_definition(const std::array<MeasuredSide, 2>& sides, const Judgement& judgement,
                         const verify::Outputs& rounded, KernelComparison& found) {
  found.has_one_definition = judgement.has_one_definition;
  if (judgement.by[0].empty()) return;
  std::optional<verify::CalledDefinition> called;
  for (const std::size_t k : {0, 1}) {
    const verify::Definition& definition = judgement.by[k].front();
    const std::size_t by = definition.pairs.empty() ? k : 1 - k;
    try {
      if (k == 0 || !judgement.has_one_definition)
        called.emplace(definition, sides[by].plan, verify::bound_of(sides[by].info, sides[by].plan));
      std::optional<verify::ControlOutputs> controls;
      if (by != k && !rounded.empty()) controls = {*sides[by].results, rounded};
      found.checks[k] =
          verify::check_outputs(*called, sides[by].info, verify::in_order_of(definition, *sides[k].results),
                                judgement.limits[k], {}, controls ? &*controls : nullptr);
    } catch (const CompileError&) {
      // A definition that only the device can evaluate: the outputs are compared with each other alone.
    }
  }
}

// Says what both sides are held against while they are timed.
void judge_timed_calls(std::array<MeasuredSide, 2>& sides, const Judgement& judgement,
                       const verify::ParameterPairs& pairs, bool thorough, const SecretSeed& secret) {
  if (judgement.by[0].empty()) return;
  std::array<SideDefinition, 2> made{SideDefinition{judgement.by[0], judgement.limits[0]},
                                     SideDefinition{judgement.by[1], judgement.limits[1]}};
  add_calls_between(sides[0], made[0], sides[1], made[1], pairs, thorough, secret);
  for (const std::size_t k : {0, 1}) sides[k].definition = std::make_shared<const SideDefinition>(std::move(made[k]));
}

ProcessLayout draw_layout(stats::Random& random, bool on_gpu) {
  ProcessLayout layout{draw_memory_layout(random, on_gpu)};
  for (std::uint32_t& code : layout.code) code = static_cast<std::uint32_t>(random.below(kLayouts));
  layout.b_first = random.below(2) == 1;
  return layout;
}

ComparedFacts facts_of(const std::array<MeasuredSide, 2>& sides, const RanOn& on) {
  const auto function = [](const MeasuredSide& side) { return measured_function(side.info, side.plan.symbols); };
  const auto& [a, b] = sides;
  return {{function(a), function(b)}, on.device, on.processor, on.facts, a.module.manifest().target};
}

}  // namespace

KernelPair read_pair(const Compiler* compiler, const KernelOptions& a, const KernelOptions& b,
                     const Observer& observer) {
  const KernelOptions* const options[2] = {&a, &b};
  const bool b_first = is_foreign(a.file) && !is_foreign(b.file);
  KernelPair kernels;
  std::string signature;
  for (const std::size_t k : {b_first ? 1u : 0u, b_first ? 0u : 1u}) {
    kernels[k].function = options[k]->function;
    signature = about_kernel(k == 0 ? KernelOfPair::a : KernelOfPair::b, [&] {
      kernels[k].source = read_kernel(compiler, *options[k], observer, signature);
      return signature_of(kernels[k].source, kernels[k].function);
    });
  }
  return kernels;
}

KernelComparison compare(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options,
                         const Observer& observer, std::optional<Clock::time_point> until) {
  check_options(options);
  RunSettings settings{kernels[0].source.compiler,
                       devices_for(options.target, kernels[0].source),
                       options.sampling,
                       options.compares_results,
                       {},
                       options.limits};
  std::array<MeasuredSide, 2> sides = with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = settings.devices;
    return compile_sides(open(connection), kernels, options, observer);
  });
  const verify::ParameterPairs pairs = plan_sides(sides, kernels, options);
  KernelComparison found;
  if (options.compares_results) {
    auto& [a, b] = sides;
    std::array<std::vector<verify::Definition>, 2> own;
    const bool guard = may_leave_tensors(kernels[0].source) || may_leave_tensors(kernels[1].source);
    verify::Outputs rounded;
    for (const std::size_t k : {0, 1}) {
      SideChecks checks{.guards_tensors = guard,
                        .warns = k == 0,
                        .probing = {.seed = options.call.seed, .thorough = options.thorough}};
      checks.probing.limits = {options.limits.rtol, options.limits.atol};
      if (has_definition(kernels[k].source))
        own[k] = verify::definitions_of(program_of(kernels[k].source, sides[k].info.name), sides[k].info, {},
                                        kernels[k].source.compiler);
      checks.definitions = own[k];
      checks.rounds_inputs =
          have_one_definition(kernels) && !own[k].empty() && verify::are_judged_as_a_whole(checks.probing.limits);
      SideOutputs side = outputs_of_side(open, settings, sides[k], checks, observer);
      if (checks.rounds_inputs) rounded = std::move(side.rounded);
      sides[k].results = std::make_shared<const verify::Outputs>(std::move(side.outputs));
      found.probes[k] = std::move(side.probes);
      if (k == 0) found.weaknesses = std::move(side.warnings);
    }
    settings.pairs = pairs;
    found.outputs = verify::compare_all_outputs(a.info, a.plan, *a.results, *b.results, pairs, options.limits);
    const Judgement judgement = judgement_of(kernels, sides, own, pairs, options.limits);
    check_by_definition(sides, judgement, rounded, found);
    found.inputs = input_texts(a.info, a.plan);
    if (!found.difference().empty()) return found;
    found.secret = secret_for(options.sampling);
    judge_timed_calls(sides, judgement, pairs, options.thorough, found.secret);
  }
  if (!found.secret.exists()) found.secret = secret_for(options.sampling);
  stats::Random random(options.call.seed + 1);
  std::vector<double> log_ratios;
  Clock::duration last{};
  for (std::uint32_t i = 0; i < options.processes; ++i) {
    const Clock::time_point start = Clock::now();
    if (until && i >= kLeastProcesses && start + last > *until) break;
    const StepGuard step =
        observer.begin("process " + std::to_string(i + 1) + " of " + std::to_string(options.processes));
    settings.sampling.secret = derived_seed(found.secret, i);
    PairedRun run = paired_run(open, settings, sides, draw_layout(random, !settings.devices.empty()), observer);
    found.facts = facts_of(sides, run.on);
    log_ratios.push_back(run.process.log_ratio);
    found.processes.push_back(std::move(run.process));
    if (std::isnan(log_ratios.back()) || !found.timed_mistake().empty()) {
      log_ratios.clear();
      break;
    }
    last = Clock::now() - start;
  }
  found.times = stats::compare(log_ratios, options.least_effect);
  return found;
}

}  // namespace ferry::bench
