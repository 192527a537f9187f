#include "tests/fuzz/cases/oracles.h"

#include "crosscompile/analysis/count_nodes.h"
#include "crosscompile/codegen/llvm/codegen.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lang/stage.h"
#include "host/lower/constant_stages.h"
#include "host/lower/lower.h"
#include "tests/fuzz/cases/by_api.h"
#include "tests/fuzz/cases/call.h"
#include "tests/fuzz/cases/gathers.h"
#include "tests/fuzz/cases/generate_schedule.h"
#include "tests/fuzz/cases/limited.h"
#include "tests/fuzz/cases/native.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <stdexcept>

namespace ferry::fuzz {

namespace {

using schedule::Schedule;

// The interpreter takes a tenth of a second for most programs, but hours where directives create deeply nested guarded
// loops.
constexpr int kInterpreterSeconds = 20;

// Thrown when results differ.
class Mismatch : public Failure {
 public:
  explicit Mismatch(const std::string& message) : Failure("mismatch", message) {}
};

// Returns the first line that differs, from both texts.
std::string first_change(const std::string& before, const std::string& after) {
  const auto differ = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  if (differ.first == before.end() && differ.second == after.end()) return "";
  const auto line_at = [](const std::string& text, std::ptrdiff_t at) {
    const auto from = at == 0 ? std::string::npos : text.rfind('\n', static_cast<std::size_t>(at) - 1);
    const std::size_t begin = from == std::string::npos ? 0 : from + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const std::ptrdiff_t at = differ.first - before.begin();
  return "'" + line_at(before, at) + "' became '" + line_at(after, at) + "'";
}

// The features of x86-64 whose instructions generated code may contain.
constexpr const char* kInstructionSets[] = {"sse4.2",         "sse4a",      "avx",        "avx2",         "fma",
                                            "f16c",           "bmi",        "bmi2",       "lzcnt",        "popcnt",
                                            "movbe",          "avxvnni",    "gfni",       "avx512f",      "avx512bw",
                                            "avx512dq",       "avx512vl",   "avx512cd",   "avx512vbmi",   "avx512ifma",
                                            "avx512vnni",     "avx512bf16", "avx512fp16", "avx512bitalg", "avx512vbmi2",
                                            "avx512vpopcntdq"};

// A program of at most so many nodes compiles within this processor time under its default schedule.
constexpr std::size_t kSmallProgram = 500;
constexpr double kCompileSeconds = 5;

std::size_t nodes_of(const lang::Program& program) {
  std::size_t nodes = 0;
  for (const lang::Tensor& tensor : lang::computed_tensors(program))
    for (const ir::Expr& value : tensor.stage()->values) nodes += analysis::count_nodes(value);
  return nodes;
}

class Judge {
 public:
  Judge(const FuzzCase& fuzz_case, Progress& progress) : case_(fuzz_case), progress_(progress) {}

  Verdict run(const std::optional<std::uint64_t>& schedule_seed) {
    progress_.step("parse");
    lang::Program program;
    try {
      program = lang::parse(source_of(case_), "case.tc").at(0);
    } catch (const CompileError& error) {
      return {case_.may_leave ? "outside" : "program", error.what()};
    }
    const Target target = resolve_target(case_.target);
    // A watchdog for a share of the cases; it takes longer than the rest of some.
    if (case_.seed % 8 == 0 && nodes_of(program) <= kSmallProgram) compile_in_time(program, target);
    if (case_.by_api) {
      progress_.step("the C++ interface");
      try {
        program = made_by_api(program);
      } catch (const CompileError& error) {
        return {case_.may_leave ? "outside" : "program", error.what()};
      }
    }
    const ir::Function function = schedule_seed ? lowered_at_random(program, *schedule_seed) : lowered(program);
    if (!function.body.defined()) return {"illegal", illegal_};
    ir::validate(function, "lower");
    progress_.step("reference");
    if (const std::string unmet = unmet_requirement(function, case_.sizes); case_.may_leave && !unmet.empty())
      return {"outside", unmet};
    const Call inputs(function, case_.sizes, case_.seed);
    try {
      expectation_ = std::make_unique<Expectation>(program, inputs);
    } catch (const CompileError& error) {
      if (!case_.may_leave) return {"program", error.what()};
      outside_ = error.what();
    }
    const Runner interpret = [](const ir::Function& f, const Call& call) { return ir::interpret(f, call.pointers()); };
    std::vector<ir::Function> functions = lower::split_constants(function);
    for (const ir::Function& f : functions) ir::validate(f, "lower");
    run_interpreter(functions, interpret, "interpreter, as lowered");
    progress_.step("passes");
    for (ir::Function& f : functions) {
      f = passes::run_pipeline(std::move(f), target);
      ir::validate(f, "passes");
    }
    run_interpreter(functions, interpret, "interpreter, after the passes");
    progress_.step("assembly");
    for (const ir::Function& f : functions) expect_possible_gathers(f, target);
    try {
      run(
          functions, [&](const ir::Function& f, const Call& call) { return run_native(f, target, call); },
          "machine code");
    } catch (const WorkspaceLimit&) {
      progress_.slow("machine code");
    }
    return {is_refused_ ? "outside" : "ok", outside_};
  }

 private:
  void compile_in_time(const lang::Program& program, const Target& target) {
    progress_.step("compilation by default");
    const std::clock_t begin = std::clock();
    const Schedule schedule = autoschedule::default_schedule(program, target);
    for (ir::Function& function : lower::split_constants(lower::lower(program, schedule))) {
      function = passes::run_pipeline(std::move(function), target);
      codegen::emit_object(std::span(&function, 1), target);
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > kCompileSeconds)
      throw Failure("slow",
                    std::to_string(nodes_of(program)) + " nodes take " + std::to_string(seconds) + " s to compile");
  }

  ir::Function lowered(const lang::Program& program) {
    progress_.step("schedule");
    try {
      const Schedule schedule = Schedule::replay(program, schedule_of(case_));
      progress_.step("lower");
      return lower::lower(program, schedule);
    } catch (const CompileError& error) {
      illegal_ = error.what();
      return {};
    }
  }

  ir::Function lowered_at_random(const lang::Program& program, std::uint64_t seed) {
    progress_.step("schedule");
    Random random(seed);
    ScheduleListener listener;
    listener.trying = [&](const std::string& text) { progress_.step("schedule: " + text); };
    listener.accepted = [&](const std::string& text) { progress_.directive(text); };
    listener.refused = [&](const std::string& text, const std::string& why) { progress_.refused(text, why); };
    const auto [schedule, by_default] =
        generate_schedule(program, resolve_target(case_.target), case_.sizes, random, listener);
    progress_.step("lower");
    std::string why;
    try {
      const ir::Function function = lower::lower(program, schedule);
      // Refused directives must have left no trace, and the schedule's text must be complete.
      progress_.step("replay");
      const ir::Function again = lower::lower(program, Schedule::replay(program, schedule.to_text()));
      const std::string changed = first_change(ir::to_text(function), ir::to_text(again));
      if (!changed.empty()) throw Mismatch("replayed, the schedule gives other loops: " + changed);
      return function;
    } catch (const CompileError& error) {
      progress_.step("lower");
      why = error.what();
    }
    // A prefix of the directives may still be lowered.
    std::vector<schedule::Directive> kept = schedule.directives();
    while (kept.size() > by_default) {
      progress_.dropped(why);
      kept.pop_back();
      Schedule fewer(program);
      for (const schedule::Directive& directive : kept) fewer.apply(directive);
      try {
        return lower::lower(program, fewer);
      } catch (const CompileError& error) {
        why = error.what();
      }
    }
    throw InternalError((kept.empty() ? "without a schedule: " : "by default: ") + why);
  }

  using Runner = std::function<std::int32_t(const ir::Function&, const Call&)>;

  // Taking too much time or memory is not a failure: the other oracles continue without the interpreter.
  void run_interpreter(const std::vector<ir::Function>& functions, const Runner& interpret, const std::string& step) {
    progress_.step(step);
    const bool in_time =
        within_limit(kInterpreterSeconds, [&] { run(functions, interpret, step); }, [&] { progress_.step(step); });
    if (!in_time) progress_.slow(step);
  }

  static void expect_possible_gathers(const ir::Function& function, const Target& target) {
    if (!may_gather(function, target)) return;
    const std::string impossible = impossible_gather(codegen::emit_assembly(std::span(&function, 1), target));
    if (!impossible.empty()) throw Failure("code", "no processor runs " + impossible);
  }

  // Runs the function, after its init function if there is one.
  void run(const std::vector<ir::Function>& functions, const Runner& runner, const std::string& step) {
    progress_.step(step);
    Call call(functions[0], case_.sizes, case_.seed);
    if (functions.size() > 1) {
      Call init(functions[1], case_.sizes, case_.seed);
      init.take_inputs(call);
      const std::int32_t bound = runner(functions[1], init);
      expect_sound(init, bound, functions[1]);
      if (bound != 0) return;
      call.take_inputs(init);
    }
    const std::int32_t result = runner(functions[0], call);
    if (result == 0 && expectation_ == nullptr) throw Mismatch("the call is not refused, though " + outside_);
    const std::string difference = result == 0 ? expectation_->difference(call) : "";
    if (!difference.empty()) throw Mismatch(difference);
    expect_sound(call, result, functions[0]);
  }

  void expect_sound(const Call& call, std::int32_t result, const ir::Function& function) {
    is_refused_ |= result != 0;
    if (result != 0 && !case_.may_leave) {
      const auto number = static_cast<std::size_t>(result) - 1;
      throw Mismatch("the call fails: " +
                     (number < function.messages.size() ? function.messages[number] : std::to_string(result)));
    }
    const std::string damage = call.damage();
    if (!damage.empty()) throw Mismatch(function.name + " " + damage);
  }

  const FuzzCase& case_;
  Progress& progress_;
  std::string illegal_;
  std::string outside_;  // the reference's message for a program that reads outside of a tensor
  bool is_refused_ = false;
  std::unique_ptr<Expectation> expectation_;
};

}  // namespace

Verdict judge(const FuzzCase& fuzz_case, const std::optional<std::uint64_t>& schedule_seed, Progress& progress) {
  try {
    return Judge(fuzz_case, progress).run(schedule_seed);
  } catch (const Failure& failure) {
    return {failure.kind(), failure.what()};
  } catch (const ir::InterpreterError& error) {
    return {"interpreter", error.what()};
  } catch (const InternalError& error) {
    return {"internal", error.what()};
  } catch (const CompileError& error) {
    return {"refused", error.what()};
  } catch (const std::exception& error) {
    return {"error", error.what()};
  }
}

const std::vector<std::string>& native_targets() {
  static const std::vector<std::string> targets = [] {
    const Target host = resolve_target("host");
    std::vector<std::string> runnable;
    for (const char* const cpu : {"x86-64", "x86-64-v3", "x86-64-v4", "x86-64-v2", "haswell", "znver3",
                                  "skylake-avx512", "icelake-server", "znver4", "sapphirerapids"}) {
      const std::string text = std::string("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=") + cpu;
      const Target target = resolve_target(text);
      const bool runs = std::all_of(std::begin(kInstructionSets), std::end(kInstructionSets),
                                    [&](const char* feature) { return !target.has(feature) || host.has(feature); });
      if (runs) runnable.push_back(text);
    }
    return runnable;
  }();
  return targets;
}

}  // namespace ferry::fuzz
