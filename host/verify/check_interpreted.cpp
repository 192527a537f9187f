#include "host/verify/check_interpreted.h"

#include <cstring>
#include <span>

#include "crosscompile/compile.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/size_hints.h"
#include "host/lower/lower.h"
#include "host/session/scalar.h"

namespace ferry::verify {

namespace {

// A kernel in the form in which its threads are interpreted.
struct Subject {
  ir::Function interpreted;  // before tensors are flattened, with one index for each dimension
  FunctionInfo info;
};

Subject prepare(const ir::Function& lowered, const Target& target) {
  Subject subject;
  const ir::Function finished =
      passes::run_pipeline(lowered, target, [&](std::string_view pass, const ir::Function& now) {
        if (pass == passes::kLastOfThreads) subject.interpreted = now;
      });
  subject.info = describe(finished);
  return subject;
}

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

void interpret(const lang::Program& program, const Subject& subject, const CallPlan& plan, const CheckLimits& limits,
               const Observer& observer, CheckReport& check) {
  const Memory memory(subject.info, plan);
  try {
    const Scope step = observer.begin("interpreting " + subject.info.name);
    const std::int32_t code = ir::interpret(subject.interpreted, memory.pointers());
    if (code != 0) check.mistake = subject.info.messages.at(static_cast<std::size_t>(code - 1));
  } catch (const ir::InterpreterError& error) {
    check.mistake = error.what();
  }
  if (!check.mistake.empty()) return;
  const Scope step = observer.begin("checking");
  check.findings.checks = check_outputs(program, subject.info, plan, memory.results(subject.info, plan), limits);
}

}  // namespace

CheckReport check_interpreted(const KernelSource& source, const std::string& function, const std::string& target,
                              const CallOptions& call, const CheckLimits& limits, const Observer& observer) {
  const lang::Program& program = choose_program(source, function);
  const autoschedule::Sizes sizes = size_hints(program, call);
  Target compiled_for = resolve_with_notes(target.empty() ? "host" : target, observer);
  Scope compilation = observer.begin_compilation(source.name);
  const ir::Function lowered =
      lower::lower(program, schedules_of(source, std::span(&program, 1), compiled_for, observer, sizes).front());
  // A schedule that binds loops to threads is for a GPU.
  if (target.empty() && passes::has_gpu_loops(lowered.body)) compiled_for = resolve_target("opencl");
  const Subject subject = prepare(lowered, compiled_for);
  compilation.reset();
  CheckReport check;
  check.function = subject.info;
  check.target = compiled_for.text;
  interpret(program, subject, plan_call(subject.info, call), limits, observer, check);
  return check;
}

}  // namespace ferry::verify
