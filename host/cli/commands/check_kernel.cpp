#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crosscompile/compile.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "host/cli/commands/check.h"
#include "host/cli/commands/check_against.h"
#include "host/cli/commands/check_foreign.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/json.h"
#include "host/cli/output/progress.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/size_hints.h"
#include "host/lower/lower.h"
#include "host/session/scalar.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  CallOptions call;
  CheckOptions check;
  std::string target;
  std::string against;  // path of a file
  bool json = false;
};

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

struct Finding {
  std::string mistake;  // the fault of a thread: a race, an index out of bounds; empty: none
  std::vector<CheckResult> results;
  bool fine() const {
    bool right = mistake.empty();
    for (const CheckResult& result : results) right = right && result.wrong == 0;
    return right;
  }
};

Finding check(const lang::Program& program, const Subject& subject, const CallPlan& plan, const CheckOptions& options) {
  Finding finding;
  const Memory memory(subject.info, plan);
  try {
    const Progress progress("interpreting " + subject.info.name);
    const std::int32_t code = ir::interpret(subject.interpreted, memory.pointers());
    if (code != 0) finding.mistake = subject.info.messages.at(static_cast<std::size_t>(code - 1));
  } catch (const ir::InterpreterError& error) {
    finding.mistake = error.what();
  }
  if (!finding.mistake.empty()) return finding;
  const Progress progress("checking");
  finding.results = check_outputs(program, subject.info, plan, memory.results(subject.info, plan), options);
  return finding;
}

int run_check(const Options& options) {
  if (foreign::is_foreign(options.kernel.file)) {
    if (!options.target.empty() && options.target != "host")
      throw UsageError(options.kernel.file + " is run under sanitizers on this machine: expected no --target");
    return check_foreign(options.kernel, options.call, options.check, options.against, options.json);
  }
  const KernelSource source = read_kernel(options.kernel, terminal());
  if (source.module)
    throw UsageError(source.name + " is compiled already: expected a kernel in ferry's own notation, or in C or C++");
  if (!options.against.empty())
    throw UsageError("--check-against: expected a kernel in C or C++; " + source.name +
                     " is checked against its own definition");
  const lang::Program& program = choose_program(source, options.kernel.function);
  const schedule::Sizes sizes = size_hints(program, options.call);
  Target target = resolve_with_notes(options.target.empty() ? "host" : options.target, terminal());
  std::optional<CompileDeadline> deadline(std::in_place, options.kernel.deadline, source.name);
  const ir::Function lowered =
      lower::lower(program, schedules_of(source, std::span(&program, 1), target, terminal(), sizes).front());
  // A schedule that binds loops to threads is for a GPU.
  if (options.target.empty() && passes::has_gpu_loops(lowered.body)) target = resolve_target("opencl");
  const Subject subject = prepare(lowered, target);
  deadline.reset();
  const CallPlan plan = plan_call(subject.info, options.call);
  const Finding finding = check(program, subject, plan, options.check);
  if (options.json) {
    Json checks = Json::array();
    for (const CheckResult& result : finding.results) checks.push_back(check_json(result));
    print_json({{"function", subject.info.name},
                {"target", target.text},
                {"fine", finding.fine()},
                {"mistake", finding.mistake.empty() ? Json(nullptr) : Json(finding.mistake)},
                {"check", checks}});
  } else {
    for (const CheckResult& result : finding.results) printf("%s\n", to_text(result).c_str());
    if (finding.mistake.empty())
      printf("%s: no race, and every index inside of its tensor, as compiled for %s\n", subject.info.name.c_str(),
             target.text.c_str());
  }
  if (finding.fine()) return kExitFine;
  fflush(stdout);
  if (!finding.mistake.empty()) fprintf(stderr, "ferry: %s: %s\n", subject.info.name.c_str(), finding.mistake.c_str());
  for (const CheckResult& result : finding.results)
    if (result.wrong > 0) fprintf(stderr, "ferry: wrong result: %s\n", result.first_wrong.c_str());
  return kExitWrongResult;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("check", "Run a kernel's loops, blocks and threads step by step and look for mistakes");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, K.c, K.cpp, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  command
      .add_option("--target", options->target,
                  "What it is compiled for (default: opencl when the schedule binds loops to threads, else this "
                  "machine); see 'ferry targets'")
      ->type_name("TARGET");
  add_call_options(command, options->call);
  add_tolerance_options(command, options->check);
  add_check_against_option(command, options->against);
  add_json_option(command, options->json);
  command.footer(
      "Nothing runs on a device: each thread runs from barrier to barrier, every index is checked against its tensor,\n"
      "every value must have been written before it is read, and no two threads may meet at an element that one of\n"
      "them writes. Then the results are compared with the definition. Small sizes find most mistakes; this is "
      "slow.\n"
      "A kernel in C or C++ runs on this machine, compiled with clang's sanitizers of addresses and undefined "
      "behaviour.\n\n"
      "Exit codes: 0 no mistake; 1 a race, an index outside, a wrong result; others as of every command.\n\n"
      "Examples:\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=33,N=65,K=17\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=64,N=64,K=64 --target 'cuda -arch=sm_80'\n"
      "  ferry check mine.c --size M=33,N=65,K=17 --check-against mm.tc");
  command.callback([options, &chosen] { chosen = [options] { return run_check(*options); }; });
}

}  // namespace ferry::cli
