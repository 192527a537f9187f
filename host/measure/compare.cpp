#include "host/measure/compare.h"

#include <cmath>

#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/retry.h"
#include "host/measure/compare_results.h"
#include "host/measure/paired_run.h"
#include "host/stats/random.h"

namespace ferry::bench {

namespace {

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
                         const Observer& observer) {
  check_options(options);
  KernelComparison found;
  if (options.compares_results) {
    ComparedResults results = with_retries(observer, [&] { return compare_results(open, kernels, options, observer); });
    found.outputs = std::move(results.outputs);
    found.inputs = std::move(results.inputs);
    found.weaknesses = std::move(results.warnings);
    if (!found.difference().empty()) return found;
  }
  stats::Random random(options.call.seed + 1);
  std::vector<double> log_ratios;
  for (std::uint32_t i = 0; i < options.processes; ++i) {
    const StepGuard step =
        observer.begin("process " + std::to_string(i + 1) + " of " + std::to_string(options.processes));
    found.processes.push_back(
        with_retries(observer, [&] { return measure_process(open, kernels, options, random, found.facts, observer); }));
    log_ratios.push_back(found.processes.back().log_ratio);
  }
  found.times = stats::compare(log_ratios, options.least_effect);
  return found;
}

}  // namespace ferry::bench
