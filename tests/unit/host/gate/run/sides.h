// The sides of a case, compiled from C for this machine.
#pragma once

#include <map>
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

// A body that does not end. It has to compute: a session may not sleep.
inline const std::string kHangs = "for (volatile long i = 0;; ++i) y[0] = 1;";

// Compiles the body of `void f(const float* x, float* y)`, once for all tests of a process.
inline bench::MeasuredSide side_of(const std::string& body) {
  static std::map<std::string, bench::MeasuredSide> compiled;
  if (const auto found = compiled.find(body); found != compiled.end()) return found->second;
  const Folder folder;
  const gate::SuiteCase suite_case =
      case_of(folder.file("f.c", kSignature + ("void f(const float* x, float* y) {\n" + body + "\n}\n")));
  const KernelSource source = read_kernel(own_compiler(), suite_case.kernel);
  static const Target target = target_for(local_device(), "", source);
  const CompiledModule module = compile_kernel(source, "", target, {}, {}, CodeForm::relinkable).module;
  return compiled.emplace(body, gate::plan_side(module, suite_case)).first->second;
}

inline bench::RunSettings measured_case() { return {own_compiler(), {}, case_of("").sampling}; }

}  // namespace ferry::test
