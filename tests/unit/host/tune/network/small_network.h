// Small networks to tune on this machine.
#pragma once

#include "host/compiler/llvm/network.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/tune.h"
#include "host/verify/check_network.h"
#include "host/verify/kernel_outputs.h"

#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace ferry::test {

inline KernelSource small_network(graph::Graph graph, const NetworkSource& limits = {}) {
  KernelSource source;
  source.compiler = own_compiler();
  source.name = "small.onnx";
  source.kind = NetworkKernel{make_network(std::move(graph), limits)};
  return source;
}

// For a few trials with a size such as "N=1". Points are built in this process.
inline tune::TuneOptions quick_network(const RecordsFile& file, const std::string& size, std::uint64_t trials) {
  tune::TuneOptions options = quick(file);
  options.call.sizes = {size};
  options.trials = trials;
  options.processes = 3;
  options.make_builder = [](const tune::Compile& compile) { return std::make_unique<tune::DirectBuilder>(compile); };
  options.builders = 1;
  return options;
}

// Checks that each node of a network with N = 1 computes what its definition says.
inline void check_nodes(const KernelSource& source, const Target& target) {
  CallOptions call;
  call.sizes = {"N=1"};
  const Device device = local_device();
  const CompiledModule module = compile_kernel(source, {}, target, call).module;
  const FunctionInfo& info = module.manifest().functions.front();
  const CallPlan plan = plan_call(info, call);
  const verify::RanKernel ran{info, plan, verify::outputs_of_call(device, module, info, plan)};
  verify::Findings findings;
  verify::check_network(device, source, target, call, ran, {}, findings, {});
  CHECK(findings.checks.size() >= 5);
  for (const verify::CheckResult& result : findings.checks) {
    CHECK(result.compared > 0);
    CHECK_MESSAGE(result.wrong == 0, result.output);
  }
}

}  // namespace ferry::test
