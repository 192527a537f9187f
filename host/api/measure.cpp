#include "ferry/measure.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "ferry/schedule/module_schedule.h"
#include "host/compiler/llvm/llvm_compiler.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emit_text.h"
#include "host/measure/compare.h"
#include "host/measure/measure.h"
#include "host/verify/check.h"
#include "host/verify/check_against.h"
#include "host/verify/check_given.h"
#include "host/verify/check_interpreted.h"

namespace ferry {

namespace {

const Compiler& own_compiler() {
  static const std::unique_ptr<const Compiler> compiler = make_compiler();
  return *compiler;
}

bench::MeasuredKernel read_measured(const MeasureRequest& request, const Observer& observer) {
  verify::CheckedPair kernels = verify::read_checked_pair(&own_compiler(), request.kernel, request.reference, observer);
  return {std::move(kernels.source), request.kernel.function, request.target, request.call, std::move(kernels.against)};
}

KernelSource source_of(const lang::Program& program, const schedule::Schedule& schedule) {
  KernelSource source;
  source.compiler = &own_compiler();
  source.name = program.name;
  source.kind =
      TextKernel{.programs = {program},
                 .schedule = ScheduleText{autoschedule::to_text(std::span(&program, 1), std::span(&schedule, 1))}};
  return source;
}

}  // namespace

Target target_of(const DeviceFacts& facts, const KernelOptions& kernel) {
  return is_cuda_source(kernel.file) ? cuda_target(own_compiler(), facts) : own_compiler().target_of(facts);
}

CompiledModule compile(const KernelOptions& kernel, const Target& target, const CallOptions& call,
                       const Observer& observer) {
  const KernelSource source = read_kernel(&own_compiler(), kernel, observer);
  return compile_kernel(source, kernel.function, target, call, observer).module;
}

verify::CheckReport check(const verify::CheckRequest& request, const Observer& observer) {
  return verify::check(own_compiler(), request, observer);
}

verify::CheckReport check(const Device& device, const verify::CheckRequest& request, const Observer& observer) {
  return verify::check(&own_compiler(), device, request, observer);
}

verify::CheckReport check_given(const verify::CheckRequest& request, std::span<const std::string> results,
                                bool are_random, const Observer& observer) {
  return verify::check_given(own_compiler(), request, results, are_random, observer);
}

verify::CheckReport check(const lang::Program& program, const schedule::Schedule& schedule, const ProgramCheck& request,
                          const Observer& observer) {
  return verify::check_interpreted(source_of(program, schedule), "", request.target, request.call,
                                   {request.limits, request.call.seed, request.thorough}, observer);
}

std::string emit(std::string_view stage, const lang::Program& program, const schedule::Schedule& schedule,
                 const Target& target, const std::string& after, const Observer& observer) {
  const std::optional<Stage> named = stage_named(stage);
  if (!named)
    throw UsageError("expected a stage of compilation, such as lower or asm, got '" + std::string(stage) + "'");
  return emit_text(source_of(program, schedule), {}, *named, target, after, observer).text;
}

bench::Measurement measure(const Device& device, const MeasureRequest& request, const bench::MeasureOptions& options,
                           const Observer& observer) {
  return bench::measure(device, read_measured(request, observer), options, observer);
}

bench::Measurement measure(const Device& device, const Module& module, const std::string& function,
                           const std::vector<Argument>& arguments, const bench::MeasureOptions& options,
                           const Observer& observer) {
  return bench::measure(&own_compiler(), device, module, function, arguments, options, observer);
}

bench::Measurements measure_on(std::span<const bench::NamedDevice> devices, const MeasureRequest& request,
                               std::span<const bench::Sweep> sweeps, const bench::MeasureOptions& options,
                               const Observer& observer) {
  return bench::measure_on(devices, read_measured(request, observer), sweeps, options, observer);
}

bench::KernelComparison compare(const OpenSession& open, const KernelOptions& a, const KernelOptions& b,
                                const bench::CompareOptions& options, const Observer& observer) {
  return bench::compare(open, bench::read_pair(&own_compiler(), a, b, observer), options, observer);
}

}  // namespace ferry
