// The sides of a case, compiled from C for this machine.
#pragma once

#include <string>

#include "host/gate/run/measure_pair.h"
#include "host/kernel/compile_kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

namespace ferry::test {

// A case whose kernel has this file.
inline gate::SuiteCase case_of(const std::string& file) {
  gate::SuiteCase suite_case;
  suite_case.name = "f";
  suite_case.kernel.file = file;
  suite_case.sampling.bench = {.number = 0, .repeat = 6, .min_repeat_ms = 0.02, .warmup_ms = 0.1, .threads = 1};
  return suite_case;
}

// The signature of kernels with one input and one output.
inline const char* const kSignature = "// ferry: f(in f32[64] x, out f32[64] y)\n";

// Compiles the body of `void f(const float* x, float* y)` and what it needs before it.
inline bench::MeasuredSide side_of(const std::string& body, const std::string& before = "") {
  const Folder folder;
  const gate::SuiteCase suite_case =
      case_of(folder.file("f.c", kSignature + before + "void f(const float* x, float* y) {\n" + body + "\n}\n"));
  const KernelSource source = read_kernel(own_compiler(), suite_case.kernel);
  const Device device = local_device();
  const Target target = target_for(device, "", source);
  return gate::plan_side(compile_kernel(source, "", target, {}, {}, CodeForm::relinkable).module, suite_case);
}

inline bench::RunSettings measured_case() { return {own_compiler(), {}, case_of("").sampling}; }

}  // namespace ferry::test
