// Tests that no access leaves a tensor and that no valid call is refused: for all small sizes, the requirements of a
// call and the kernel's own checks agree with the reference evaluator.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "host/lang/reference/reference.h"
#include "host/lower/lower.h"
#include "tests/support/kernel_arguments.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using namespace ferry;

namespace {

using Sizes = std::map<std::string, std::int64_t>;

struct Program {
  explicit Program(const std::string& source)
      : program(lang::parse(source, "test.tc").at(0)), function(lower::lower(program, schedule::Schedule(program))) {
    for (const ir::Expr& symbol : function.symbols) symbols.push_back(symbol.as<ir::Var>()->name);
    names = symbols;
    for (const ir::FunctionParameter& parameter : function.parameters) {
      if (parameter.kind != ParameterKind::scalar) continue;
      if (std::find(names.begin(), names.end(), parameter.name) == names.end()) names.push_back(parameter.name);
    }
  }

  bool meets_requirements(const Sizes& sizes) const {
    ir::Substitution values;
    for (const ir::Expr& symbol : function.symbols)
      values[symbol.get()] = ir::Expr(sizes.at(symbol.as<ir::Var>()->name));
    return std::all_of(
        function.requirements.begin(), function.requirements.end(), [&](const ir::Requirement& requirement) {
          const ir::Expr value = passes::simplify(ir::substitute(ir::cast(DType::i64, requirement.condition), values));
          REQUIRE(ir::as_int(value) != nullptr);
          return *ir::as_int(value) != 0;
        });
  }

  // Returns whether the kernel refuses the call. Throws InterpreterError if the kernel reads outside of a tensor.
  bool kernel_refuses(const Sizes& sizes) const {
    test::KernelArguments arguments(function, sizes);
    return ir::interpret(function, arguments.pointers()) != 0;
  }

  bool reads_outside(const Sizes& sizes) const {
    test::KernelArguments arguments(function, sizes);
    std::vector<std::int64_t> values;
    for (const std::string& symbol : symbols) values.push_back(sizes.at(symbol));
    std::vector<const void*> pointers;
    for (std::size_t i = 0; i < function.parameters.size(); ++i) pointers.push_back(arguments.pointers()[i]);
    const lang::Reference reference(program, values, pointers);
    try {
      for (std::size_t i = 0; i < function.parameters.size(); ++i)
        if (function.parameters[i].direction != Direction::in) (void)reference.evaluate_all(i);
    } catch (const CompileError&) {
      return true;
    }
    return false;
  }

  lang::Program program;
  ir::Function function;
  std::vector<std::string> symbols, names;  // names: also of the scalars that are not symbols
};

struct Counts {
  int inside = 0, unmet = 0, refused_by_the_kernel = 0;
};

// Compares for all sizes from 0 (from -3 for a scalar named s) to `most`.
Counts compare(const std::string& source, std::int64_t most) {
  INFO(source);
  const Program program(source);
  Counts counts;
  Sizes sizes;
  const auto least = [](const std::string& name) { return name[0] == 's' ? -3 : 0; };
  for (const std::string& name : program.names) sizes[name] = least(name);
  while (true) {
    std::string all;
    for (const auto& [name, size] : sizes) all += name + "=" + std::to_string(size) + " ";
    INFO(all);
    const bool outside = program.reads_outside(sizes);
    if (!program.meets_requirements(sizes)) {
      CHECK_MESSAGE(outside, "the requirements refuse what stays inside");
      ++counts.unmet;
    } else {
      bool refuses = false;
      CHECK_NOTHROW(refuses = program.kernel_refuses(sizes));
      CHECK(refuses == outside);
      ++(refuses ? counts.refused_by_the_kernel : counts.inside);
    }
    std::size_t i = 0;
    for (; i < program.names.size() && sizes[program.names[i]] == most; ++i)
      sizes[program.names[i]] = least(program.names[i]);
    if (i == program.names.size()) return counts;
    ++sizes[program.names[i]];
  }
}

// Checks that all refusals happen before the call.
void check_before_the_call(const std::string& source, std::int64_t most = 5) {
  const Counts counts = compare(source, most);
  INFO(source);
  CHECK(counts.refused_by_the_kernel == 0);
  CHECK(counts.inside > 0);
  CHECK(counts.unmet > 0);
}

void check_in_the_kernel(const std::string& source, std::int64_t most = 5) {
  const Counts counts = compare(source, most);
  INFO(source);
  CHECK(counts.unmet == 0);
  CHECK(counts.inside > 0);
  CHECK(counts.refused_by_the_kernel > 0);
}

}  // namespace

TEST_CASE("an index divided by a size is refused before the call exactly when it leaves its tensor") {
  check_before_the_call(
      "def reshape(int(n,m) A, int p, int q) -> (B) { B(i,j) = A((i*q+j)/m, (i*q+j)%m) where i in 0:p, j in 0:q }", 4);
  check_before_the_call("def f(int(n) A, int(m) C, int p) -> (B) { B(i) = A(i/m) + C(0) where i in 0:p }");
  check_before_the_call("def f(int(n,k) A, int p) -> (B) { B(i) = A(i/k, i%k) where i in 0:p }");
  check_before_the_call("def f(int(n) A, int p, int s) -> (B) { B(i) = A(i/s) where i in 0:p }");
  check_before_the_call("def f(int(n) A, int p) -> (B) { B(i) = A(i/(0-2)+3) where i in 0:p }");
  check_before_the_call("def f(int(n) A, int p, int q) -> (B) { B(i) = A(n/(q+1)+i) where i in 0:p }");
}

TEST_CASE("an index that divides by another index is refused before the call") {
  check_before_the_call("def f(int(n) A, int p, int q) -> (B) { B(i,j) = A(i/(j+1)) where i in 0:p, j in 0:q }");
}

TEST_CASE("the rest of a division stays inside, or is refused") {
  check_before_the_call("def f(int(n) A, int(q) C, int p) -> (B) { B(i) = A(i%q) where i in 0:p }");
  check_before_the_call("def f(int(n) A, int p) -> (B) { B(i) = A(i%n) where i in 0:p }");
}

TEST_CASE("what no bound of sizes says exactly is checked when the kernel runs") {
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A((2*i+1)%4) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p, int q) -> (B) { B(i,j) = A(i/j) where i in 0:p, j in 0:q }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(i*3 - i%4) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(i^1) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(i&2) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(int8(i)*2) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(int(1.5*i)) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = A(abs(i-2)) where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p, int q) -> (B) { B(i) +=! A(i>>j) where i in 0:p, j in 0:q }");
}

TEST_CASE("shifts by a constant are divisions and products") {
  check_before_the_call("def f(int(n) A, int p) -> (B) { B(i) = A(i>>1) where i in 0:p }");
  check_before_the_call("def f(int(n) A, int p) -> (B) { B(i) = A(i<<1) where i in 0:p }");
}

TEST_CASE("a condition that keeps an index inside costs nothing, one that does not is checked") {
  const Counts padded =
      compare("def pad(int(n) A, int p) -> (B) { B(i) = i >= p && i < n+p ? A(i-p) : 0 where i in 0:n+2*p }", 5);
  CHECK(padded.unmet + padded.refused_by_the_kernel == 0);
  CHECK(Program("def pad(int(n) A, int p) -> (B) { B(i) = i >= p && i < n+p ? A(i-p) : 0 where i in 0:n+2*p }")
            .function.messages.empty());
  CHECK(Program("def t(int(h) X, int(k) K) -> (Y) { Y(i) +=! (i-j)%2 == 0 && i-j >= 0 && i-j < 2*h ? X((i-j)/2)*K(j) : "
                "0 where i in 0:2*h+k }")
            .function.messages.empty());
  CHECK(Program("def f(int(n) A) -> (B) { B(i) = i < 1 || i > n ? 0 : A(i-1) where i in 0:n+2 }")
            .function.messages.empty());
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = i >= 1 ? A(i-1) : 0 where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p, int q) -> (B) { B(i) = i < n ? A(i/q*2) : 0 where i in 0:p }");
  check_in_the_kernel("def f(int(n) A, int p) -> (B) { B(i) = i < n ? 0 : A(i) where i in 0:p }");
}

TEST_CASE("an index of a gather that itself divides by a size is checked in order") {
  const Counts counts =
      compare("def f(int(n) A, int(m) I, int p, int q) -> (B) { B(i) = A(abs(I(i/q)) % 3) where i in 0:p }", 4);
  CHECK(counts.inside > 0);
  CHECK(counts.unmet > 0);
  CHECK(counts.refused_by_the_kernel > 0);
  check_in_the_kernel("def f(int(3) A, int(m) I, int p) -> (B) { B(i) = A(abs(I(i^1)) % 3) where i in 0:p }");
}

TEST_CASE("an index that a size divides tells how far it runs") {
  const Counts counts = compare("def up(int(n) A, int(m) C) -> (B) { B(i) = A(i/m) + C(i%m) }", 5);
  CHECK(counts.inside > 0);
  CHECK(counts.refused_by_the_kernel + counts.unmet == 0);
}

TEST_CASE("a bound that no manifest has room for is checked when the kernel runs") {
  check_in_the_kernel(
      "def f(int(n) A, int s, int p) -> (B) { B(i,j,k,l) = "
      "A((((i/s + j)/s + k)/s + l)/s) where i in 0:p, j in 0:p, k in 0:p, l in 0:p }",
      3);
}
