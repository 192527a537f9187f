// Runs the same programs in the reference evaluator, and in the interpreter before and after the passes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/resolve.h"
#include "host/lang/reference/reference.h"
#include "host/lower/lower.h"
#include "host/schedule/primitives/primitives.h"
#include "tests/e2e/programs/program_case.h"
#include "tests/support/sample.h"

using namespace ferry;
using namespace ferry::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

// The arguments of a call, made from a case: memory for each parameter, with outputs filled with a pattern.
struct Call {
  std::vector<std::int64_t> symbols;
  std::vector<Bytes> memory, before;
  std::vector<Data> layout;  // shapes and strides

  Call(const ProgramCase& program, const FunctionInfo& info) {
    std::vector<ArgumentShape> arguments;
    std::size_t next = 0;
    for (const ParameterInfo& parameter : info.parameters) {
      ArgumentShape argument{parameter.kind, parameter.dtype, {}};
      memory.emplace_back();
      if (parameter.direction != Direction::out) {
        const Data& data = program.arguments.at(next++);
        argument.shape = data.shape;
        if (data.is_scalar) argument.scalar = static_cast<std::int64_t>(data.values[0]);
        memory.back() = to_bytes(data);
      }
      arguments.push_back(std::move(argument));
    }
    const auto bound = bind_symbols(info, arguments);
    REQUIRE_MESSAGE(bound.is_ok(), bound.status().message());
    symbols = bound.value();
    const auto shapes = infer_shapes(info, symbols);
    REQUIRE(shapes.is_ok());
    for (std::size_t p = 0; p < memory.size(); ++p) {
      const ParameterInfo& parameter = info.parameters[p];
      Data data{parameter.dtype, shapes.value()[p], {}, false, {}};
      for (const ManifestExpr& stride : parameter.strides) data.strides.push_back(evaluate(stride, symbols).value());
      if (parameter.direction == Direction::out) {
        std::int64_t places = count(data.shape) > 0 ? 1 : 0;
        if (data.strides.empty()) places = count(data.shape);
        for (std::size_t d = 0; d < data.strides.size() && places > 0; ++d)
          places += (data.shape[d] - 1) * data.strides[d];
        memory[p].assign(static_cast<std::size_t>(places) * dtype_bytes(parameter.dtype), 0xa5);
      }
      before.push_back(memory[p]);
      layout.push_back(std::move(data));
    }
  }

  // Returns the elements of an output; checks that nothing else in its memory has changed.
  Bytes elements(std::size_t parameter) const {
    Data view = layout[parameter];
    if (view.strides.empty()) return memory[parameter];
    const std::size_t size = dtype_bytes(view.dtype);
    // Fill the view with positions, so that dense() returns the position of each element.
    view.dtype = DType::i64;
    view.values.resize(memory[parameter].size() / size);
    for (std::size_t i = 0; i < view.values.size(); ++i) view.values[i] = static_cast<double>(i);
    Bytes result, rest = memory[parameter];
    for (const double place : dense(view).values) {
      const std::size_t at = static_cast<std::size_t>(place) * size;
      for (std::size_t b = at; b < at + size; ++b) {
        result.push_back(rest[b]);
        rest[b] = before[parameter][b];
      }
    }
    CHECK(rest == before[parameter]);
    return result;
  }

  std::vector<void*> pointers() {
    std::vector<void*> all;
    for (Bytes& bytes : memory) all.push_back(bytes.data());
    for (std::int64_t& symbol : symbols) all.push_back(&symbol);
    return all;
  }
};

std::vector<std::size_t> outputs_of(const FunctionInfo& info) {
  std::vector<std::size_t> outputs;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (info.parameters[p].direction != Direction::in) outputs.push_back(p);
  }
  return outputs;
}

void check_interpreter(const ProgramCase& program, const ir::Function& function, const std::string& what) {
  const FunctionInfo info = describe_function(function);
  Call call(program, info);
  INFO(what << "\n" << ir::to_text(function));
  const std::int32_t result = ir::interpret(function, call.pointers().data());
  if (!program.failure.empty()) {
    REQUIRE(result > 0);
    CHECK(info.messages.at(static_cast<std::size_t>(result) - 1) == program.failure);
    return;
  }
  REQUIRE(result == 0);
  const std::vector<Expected> expected = program.reference(program.arguments);
  const std::vector<std::size_t> outputs = outputs_of(info);
  REQUIRE(expected.size() == outputs.size());
  for (std::size_t r = 0; r < outputs.size(); ++r)
    check_result(program, expected[r], call.elements(outputs[r]), "output " + std::to_string(r));
}

void check_reference(const ProgramCase& program, const lang::Program& meaning, const FunctionInfo& info) {
  Call call(program, info);
  std::vector<const void*> arguments;
  for (std::size_t p = 0; p < call.memory.size(); ++p) {
    arguments.push_back(info.parameters[p].direction == Direction::out ? nullptr : call.memory[p].data());
  }
  const lang::Reference reference(meaning, call.symbols, arguments);
  if (!program.failure.empty()) {
    for (const std::size_t p : outputs_of(info)) CHECK_THROWS_AS(reference.evaluate_all(p), CompileError);
    return;
  }
  const std::vector<Expected> expected = program.reference(program.arguments);
  const std::vector<std::size_t> outputs = outputs_of(info);
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    CHECK(reference.shape(outputs[r]) == expected[r].result.shape);
    const std::vector<std::byte> got = reference.evaluate_all(outputs[r]);
    Bytes bytes(got.size());
    if (!got.empty()) std::memcpy(bytes.data(), got.data(), got.size());
    check_result(program, expected[r], bytes, "output " + std::to_string(r) + " of the reference");
  }
}

}  // namespace

TEST_CASE("every primitive of schedules that a CPU has is used by a program that runs on every architecture") {
  std::string schedules;
  for (const ProgramCase& program : all_cases()) schedules += " " + program.schedule + ";";
  for (const schedule::Primitive& primitive : schedule::primitives()) {
    const std::string name = primitive.name;
    if (name == "bind" || name == "swizzle") continue;  // for GPUs
    CAPTURE(primitive.name);
    const std::string word = std::string(" ") + primitive.name;
    CHECK((schedules.find(word + " ") != std::string::npos || schedules.find(word + ";") != std::string::npos));
  }
}

TEST_CASE("the reference evaluator and the interpreter compute every program as plain loops do") {
  const Target targets[] = {
      resolve_target("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=x86-64-v4"),
      resolve_target("llvm -mtriple=armv7l-unknown-linux-gnueabihf -mcpu=cortex-a72 -mattr=+neon")};
  // Those are drawn that programs_test.cpp does not run as machine code, for the second target a third of them, and all
  // with FERRY_PROGRAMS_ALL.
  const bool is_long = std::getenv("FERRY_PROGRAMS_ALL") != nullptr;
  const std::uint64_t seed = sample_seed("FERRY_PROGRAMS_SEED");
  for (const ProgramCase& program : all_cases()) {
    if (!is_long && part_of(program.name, kProgramParts, seed) < kOracleParts) continue;
    INFO(program.name << "\n" << program.source);
    const lang::Program meaning = program_of(program);
    bool first = true;
    for (const Target& target : targets) {
      const ir::Function lowered = lower::lower(meaning, schedule_of(program, meaning, target));
      if (first) {
        check_reference(program, meaning, describe_function(lowered));
        // The meaning of an intrinsic is known only once it is lowered.
        if (lowered.context == nullptr) check_interpreter(program, lowered, "as lowered for " + target.text);
      }
      if (!first && !is_long && part_of(program.name, 3, seed) != 0) continue;
      first = false;
      const ir::Function after = passes::run_pipeline(lowered, target);
      // C functions exist only as machine code.
      if (ir::extern_functions(after.body).empty())
        check_interpreter(program, after, "after the passes for " + target.text);
    }
  }
}
