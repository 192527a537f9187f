#include "tests/support/schedules/scheduled.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/gpu_loops.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/lower/lower.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/sample.h"
#include "tests/support/schedules/cpu_with_vectors.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

namespace ferry::test {
namespace {

lang::Program parse(const std::string& source) { return lang::parse(source, "test.tc").at(0); }

void expect_same(const ir::Function& function, KernelArguments& got, KernelArguments& expected) {
  for (const ir::FunctionParameter& parameter : function.parameters) {
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
    const auto bytes = static_cast<std::size_t>(dtype_bytes(parameter.buffer->dtype));
    for (std::int64_t i = 0; i < got.size(parameter.name); ++i) {
      const std::size_t at = static_cast<std::size_t>(i) * bytes;
      const bool same = std::memcmp(got.data<std::uint8_t>(parameter.name) + at,
                                    expected.data<std::uint8_t>(parameter.name) + at, bytes) == 0;
      if (!same) FAIL_CHECK("element " << i << " of '" << parameter.name << "' is not that of the program as written");
      if (!same) return;
    }
  }
}

// Returns one of the targets, drawn by a text.
std::vector<Target> drawn(std::vector<Target> targets, const std::string& text) {
  if (std::getenv("FERRY_SCHEDULES_ALL") != nullptr) return targets;
  return {targets[part_of(text, targets.size(), sample_seed("FERRY_SCHEDULES_SEED"))]};
}

// Executes the loops with numbers for their variables and counts the stores.
class Counter {
 public:
  std::map<std::string, std::int64_t> stores;

  void run(const ir::Stmt& stmt) {
    if (const auto* block = stmt.as<ir::Block>()) {
      for (const ir::Stmt& step : block->body) run(step);
    } else if (const auto* loop = stmt.as<ir::For>()) {
      const std::int64_t min = number(loop->min), extent = number(loop->extent);
      for (std::int64_t i = min; i < min + extent; ++i) {
        values_[loop->var.get()] = ir::Expr(i);
        run(loop->body);
      }
      values_.erase(loop->var.get());
    } else if (const auto* choice = stmt.as<ir::If>()) {
      if (number(ir::cast(DType::i64, choice->condition)) != 0)
        run(choice->on_true);
      else if (choice->on_false.defined())
        run(choice->on_false);
    } else if (const auto* allocate = stmt.as<ir::Allocate>()) {
      run(allocate->body);
    } else if (const auto* store = stmt.as<ir::Store>()) {
      ++stores[store->buffer->name];
    } else if (const auto* let = stmt.as<ir::LetStmt>()) {
      run(let->body);
    }
  }

 private:
  std::int64_t number(const ir::Expr& expr) const {
    const ir::Expr value = passes::simplify(ir::substitute(expr, values_));
    const std::int64_t* constant = ir::as_int(value);
    REQUIRE_MESSAGE(constant != nullptr, "not a number: " << ir::to_text(value));
    return *constant;
  }

  ir::Substitution values_;
};

}  // namespace

void check_schedule(const lang::Program& program, const std::string& schedule, const Sizes& sizes) {
  const ir::Function plain = lower::lower(program, schedule::Schedule(program));
  KernelArguments expected(plain, sizes);
  REQUIRE(ir::interpret(plain, expected.pointers()) == 0);
  const ir::Function lowered = lower::lower(program, schedule::Schedule::replay(program, schedule));
  ir::validate(lowered, "lower");
  auto run = [&](const ir::Function& function, const std::string& stage) {
    INFO(stage << ", schedule:\n" << schedule << "\n" << ir::to_text(function));
    KernelArguments arguments(function, sizes);
    std::int32_t result = -1;
    CHECK_NOTHROW(result = ir::interpret(function, arguments.pointers()));
    REQUIRE(result == 0);
    expect_same(function, arguments, expected);
  };
  run(lowered, "as lowered");
  const std::string drawn_by = ir::to_text(lowered);
  for (const Target& target : drawn({cpu_with_vectors(128), cpu_with_vectors(256), cpu_with_vectors(512)}, drawn_by))
    run(passes::run_pipeline(lowered, target), std::to_string(target.vector_bits) + "-bit vectors");
  if (drawn_by.find(ir::instruction_name(ir::Instruction::tile_dot)) != std::string::npos)
    run(passes::run_pipeline(lowered, resolve_target("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=sapphirerapids")),
        "tiles");
  if (!ir::has_gpu_loops(lowered.body)) return;
  for (const Target& target : drawn({resolve_target("cuda"), resolve_target("opencl")}, drawn_by))
    run(passes::run_pipeline(lowered, target), target.text);
}

void check_schedule(const std::string& source, const std::string& schedule, const Sizes& sizes) {
  check_schedule(parse(source), schedule, sizes);
}

std::string lowered_text(const std::string& source, const std::string& schedule) {
  const lang::Program program = parse(source);
  return ir::to_text(passes::simplify(lower::lower(program, schedule::Schedule::replay(program, schedule))));
}

std::map<std::string, std::int64_t> points_computed(const std::string& source, const std::string& schedule) {
  const lang::Program program = parse(source);
  Counter counter;
  counter.run(lower::lower(program, schedule::Schedule::replay(program, schedule)).body);
  return counter.stores;
}

ir::Function compiled(const std::string& source, const std::string& schedule, const Target& target) {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  return passes::run_pipeline(lower::lower(program, schedule::Schedule::replay(program, schedule)), target);
}

std::string complaint(const ir::Function& function, const Sizes& sizes) {
  KernelArguments arguments(function, sizes);
  try {
    (void)ir::interpret(function, arguments.pointers());
  } catch (const ir::InterpreterError& error) {
    return error.what();
  }
  return "none";
}

std::string refusal(const std::string& source, const std::string& schedule) {
  const lang::Program program = parse(source);
  try {
    (void)lower::lower(program, schedule::Schedule::replay(program, schedule));
  } catch (const CompileError& error) {
    return error.what();
  }
  FAIL("expected a refusal of:\n" << schedule);
  return "";
}

}  // namespace ferry::test
