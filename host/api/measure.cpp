#include "ferry/measure.h"

#include <span>
#include <utility>

#include "host/api/own_compiler.h"
#include "host/kernel/compile_kernel.h"
#include "host/measure/compare.h"
#include "host/measure/measure.h"
#include "host/verify/check.h"
#include "host/verify/check_against.h"
#include "host/verify/check_given.h"

namespace ferry {

namespace {

bench::MeasuredKernel read_measured(const MeasureRequest& request, const Observer& observer) {
  verify::CheckedPair kernels = verify::read_checked_pair(own_compiler(), request.kernel, request.reference, observer);
  return {std::move(kernels.source), request.kernel.function, request.target, request.call, std::move(kernels.against)};
}

}  // namespace

Target target_of(const DeviceFacts& facts, const KernelOptions& kernel) {
  return is_cuda_source(kernel.file) ? cuda_target(expect_own_compiler(), facts)
                                     : expect_own_compiler().target_of(facts);
}

CompiledModule compile(const KernelOptions& kernel, const Target& target, const CallOptions& call,
                       const Observer& observer) {
  const KernelSource source = read_kernel(own_compiler(), kernel, observer);
  return compile_kernel(source, kernel.function, target, call, observer).module;
}

verify::CheckReport check(const verify::CheckRequest& request, const Observer& observer) {
  return verify::check(expect_own_compiler(), request, observer);
}

verify::CheckReport check(const Device& device, const verify::CheckRequest& request, const Observer& observer) {
  return verify::check(own_compiler(), device, request, observer);
}

verify::CheckReport check_given(const verify::CheckRequest& request, std::span<const std::string> results,
                                bool are_random, const Observer& observer) {
  return verify::check_given(own_compiler(), request, results, are_random, observer);
}

bench::Measurement measure(const Device& device, const MeasureRequest& request, const bench::MeasureOptions& options,
                           const Observer& observer) {
  return bench::measure(device, read_measured(request, observer), options, observer);
}

bench::Measurement measure(const Device& device, const Module& module, const std::string& function,
                           const std::vector<Argument>& arguments, const bench::MeasureOptions& options,
                           const Observer& observer) {
  return bench::measure(own_compiler(), device, module, function, arguments, options, observer);
}

bench::Measurements measure_on(std::span<const bench::NamedDevice> devices, const MeasureRequest& request,
                               std::span<const bench::Sweep> sweeps, const bench::MeasureOptions& options,
                               const Observer& observer) {
  return bench::measure_on(devices, read_measured(request, observer), sweeps, options, observer);
}

bench::KernelComparison compare(const OpenSession& open, const KernelOptions& a, const KernelOptions& b,
                                const bench::CompareOptions& options, const Observer& observer) {
  return bench::compare(open, bench::read_pair(own_compiler(), a, b, observer), options, observer);
}

}  // namespace ferry
