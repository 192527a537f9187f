#include "host/verify/check_interpreted.h"

#include <cstring>
#include <optional>
#include <span>

#include "ferry/kernel/kernel_failed.h"
#include "host/client/scalar.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/notes.h"
#include "host/kernel/size_hints.h"
#include "host/verify/check_outputs.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/probes.h"

namespace ferry::verify {

namespace {

// The memory of one call.
class Memory {
 public:
  Memory(const FunctionInfo& info, const CallPlan& plan) : symbols_(plan.symbols) {
    for (std::size_t p = 0; p < info.parameters.size(); ++p) {
      if (plan.scalars[p]) {
        const std::uint64_t bits = session::scalar_bits(info, p, *plan.scalars[p]);
        bytes_.emplace_back(sizeof bits);
        std::memcpy(bytes_.back().data(), &bits, sizeof bits);
      } else if (info.parameters[p].direction == Direction::out) {
        bytes_.emplace_back(static_cast<std::size_t>(plan.places[p]) * dtype_bytes(plan.dtypes[p]));
      } else {
        bytes_.push_back(plan.host_copy(p));
      }
    }
    for (auto& bytes : bytes_) pointers_.push_back(bytes.data());
    for (std::int64_t& symbol : symbols_) pointers_.push_back(&symbol);
  }

  void* const* pointers() const { return pointers_.data(); }

  // Returns the elements of the parameters that the call writes; empty for the others.
  std::vector<std::vector<std::uint8_t>> results(const FunctionInfo& info, const CallPlan& plan) const {
    std::vector<std::vector<std::uint8_t>> results(bytes_.size());
    for (std::size_t p = 0; p < bytes_.size(); ++p) {
      if (info.parameters[p].kind != ParameterKind::tensor || info.parameters[p].direction == Direction::in) continue;
      results[p] = plan.strides[p].empty() ? bytes_[p] : elements(p, plan);
    }
    return results;
  }

 private:
  std::vector<std::uint8_t> elements(std::size_t parameter, const CallPlan& plan) const {
    const Shape &shape = plan.shapes[parameter], &strides = plan.strides[parameter];
    const std::size_t size = dtype_bytes(plan.dtypes[parameter]);
    std::vector<std::uint8_t> result(plan.bytes(parameter));
    for (std::size_t at = 0; at < result.size(); at += size) {
      auto rest = static_cast<std::int64_t>(at / size);
      std::int64_t place = 0;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) place += rest % shape[d] * strides[d];
      std::memcpy(result.data() + at, bytes_[parameter].data() + static_cast<std::size_t>(place) * size, size);
    }
    return result;
  }

  std::vector<std::int64_t> symbols_;
  std::vector<std::vector<std::uint8_t>> bytes_;
  std::vector<void*> pointers_;
};

}  // namespace

CheckReport check_interpreted(const KernelSource& source, const std::string& function, const std::string& target,
                              const CallOptions& call, const ProbeOptions& probing, const Observer& observer) {
  const Compiler& compiler = expect_compiler(source.compiler, source.name);
  const lang::Program& program = choose_program(source, function);
  std::optional<Target> wanted;
  if (!target.empty()) wanted = resolve_with_notes(compiler, target, observer);
  StepGuard compilation = observer.begin_compilation(source.name);
  const InterpretedKernel kernel = compiler.interpret(
      scheduled(source, std::span(&program, 1), size_hints(program, call)), wanted ? &*wanted : nullptr);
  compilation.reset();
  report_notes(kernel.notes, observer);
  CheckReport check;
  const FunctionInfo& info = kernel.info;
  check.function = info.name;
  check.target = kernel.target.text;
  const CallPlan plan = plan_call(info, call);
  const auto call_once = [&](const CallPlan& with) {
    const Memory memory(info, with);
    if (const std::string mistake = kernel.run(memory.pointers()); !mistake.empty()) throw KernelFailed(mistake);
    return memory.results(info, with);
  };
  StepGuard step = observer.begin("interpreting " + info.name);
  Outputs results;
  try {
    results = call_once(plan);
  } catch (const KernelFailed& failure) {
    check.mistake = failure.what();
    return check;
  }
  step.reset();
  const std::vector<Definition> definitions = {{program, info, {}, {}}};
  check.findings.probes = run_probes(info, plan, definitions, probing, call_once, observer);
  step = observer.begin("checking");
  check.findings.warnings = comparison_warnings(info, plan, results, call_once);
  check.findings.checks = check_outputs(program, info, plan, results, probing.limits);
  return check;
}

}  // namespace ferry::verify
