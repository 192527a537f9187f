#include "host/lower/constant_stages.h"

#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/passed_parameters.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/validator.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "host/lower/lower.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/schedules/cpu_with_vectors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

namespace ferry::lower {
namespace {

constexpr const char* kProduct = "def mm(float(M,K) A, const float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
constexpr const char* kPacked =
    "B: cache_read global -> packed\npacked: transform_layout (k, n) -> (n / 16, k, n % 16)\n";

std::vector<ir::Function> lowered(const std::string& source, const std::string& schedule) {
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const schedule::Schedule how = schedule::Schedule::replay(program, schedule);
  return lower_module(std::span(&program, 1), std::span(&how, 1));
}

std::vector<std::string> parameters_of(const ir::Function& function) {
  std::vector<std::string> names;
  for (const ir::FunctionParameter& parameter : function.parameters)
    names.push_back((parameter.direction == Direction::in ? "in " : "out ") + parameter.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a packed copy of a constant is made by a function of its own and is an input of the other") {
  const std::vector<ir::Function> functions = lowered(kProduct, kPacked);
  REQUIRE(functions.size() == 2);
  for (const ir::Function& function : functions) CHECK_NOTHROW(ir::validate(function, "lower"));
  CHECK(functions[0].name == "mm");
  CHECK(parameters_of(functions[0]) == Names{"in A", "in B", "out C", "in packed"});
  CHECK(functions[0].init_of.empty());
  CHECK(functions[1].name == "mm.init_plan");
  CHECK(functions[1].init_of == "mm");
  CHECK(functions[0].parameters[1].constant);
  CHECK(functions[0].parameters[3].persistent);
  CHECK(functions[1].parameters[1].persistent);
  CHECK(parameters_of(functions[1]) == Names{"in B", "out packed"});
  CHECK(functions[1].symbols.size() == 2);
  CHECK(ir::to_text(functions[0]).find("packed[") != std::string::npos);
  CHECK(ir::to_text(functions[0]).find("B[k") == std::string::npos);
}

TEST_CASE("calls are not passed the constants that only the init function reads") {
  const std::vector<ir::Function> functions = lowered(kProduct, kPacked);
  REQUIRE(functions.size() == 2);
  // A, B, C and the packed copy; then B and the packed copy.
  CHECK(ir::passed_parameters(functions[0]) == std::vector{true, false, true, true});
  CHECK(ir::passed_parameters(functions[1]) == std::vector{true, true});
  const std::vector<ir::Function> unpacked = lowered(kProduct, "");
  REQUIRE(unpacked.size() == 1);
  CHECK(ir::passed_parameters(unpacked[0]) == std::vector{true, true, true});
}

TEST_CASE("a constant is packed beforehand however many parameters the function has") {
  std::string parameters, sum;
  for (int i = 0; i < 500; ++i) {
    parameters += "float(M,N) X" + std::to_string(i) + ", ";
    sum += " + X" + std::to_string(i) + "(m,n)";
  }
  const std::vector<ir::Function> functions = lowered(
      "def mm(" + parameters +
          "float(M,K) A, const float(K,N) B) -> (C, D) { C(m,n) +=! A(m,k) * B(k,n) D(m,n) = C(m,n)" + sum + " }",
      kPacked);
  REQUIRE(functions.size() == 2);
  CHECK(functions[0].parameters.size() == 505);
  CHECK(functions[0].parameters.back().name == "packed");
  CHECK(parameters_of(functions[1]) == Names{"in B", "out packed"});
}

TEST_CASE("places among constants are checked where they are used: before the call") {
  const std::vector<ir::Function> functions =
      lowered("def f(const int(N) K, const int(M) I, int(M) X) -> (B) { T(i) = K(I(i)) B(i) = T(i) + X(i) }", "");
  REQUIRE(functions.size() == 2);
  for (const ir::Function& function : functions) CHECK_NOTHROW(ir::validate(function, "lower"));
  test::KernelArguments init(functions[1], {{"N", 3}, {"M", 4}});
  const std::vector<std::int32_t> inside = {0, 2, 1, 2}, outside = {0, 2, 3, 2};
  std::memcpy(init.data<std::int32_t>("I"), inside.data(), sizeof(std::int32_t) * inside.size());
  CHECK(ir::interpret(functions[1], init.pointers()) == 0);
  std::memcpy(init.data<std::int32_t>("I"), outside.data(), sizeof(std::int32_t) * outside.size());
  const std::int32_t result = ir::interpret(functions[1], init.pointers());
  REQUIRE(result == 1);
  CHECK(functions[1].messages.at(0).find("'T' reads 'K' outside its shape") != std::string::npos);
}

TEST_CASE("a check that depends on the call stays in the call") {
  const std::vector<ir::Function> functions =
      lowered("def f(int s, const int(N) K, int(M) X) -> (B) { T(i) = K(i) * 2 B(i) = T(i/s & 1) + X(i) }", "");
  REQUIRE(functions.size() == 2);
  for (const ir::Function& function : functions) CHECK_NOTHROW(ir::validate(function, "lower"));
  CHECK(ir::to_text(functions[0]).find("assert") != std::string::npos);
  CHECK(ir::to_text(functions[1]).find("assert") == std::string::npos);
}

TEST_CASE("an init function has the requirements that keep its indices inside") {
  const std::vector<ir::Function> functions = lowered(
      "def f(const int(N) K, const int(M) L, int(M) X) -> (B) { T(i) = K(i+1) + L(i) where i in 0:M\n"
      "B(i) = T(i) + X(i) }",
      "");
  REQUIRE(functions.size() == 2);
  REQUIRE(functions[1].requirements.size() == 1);
  CHECK(functions[1].requirements[0].message == functions[0].requirements[0].message);
}

TEST_CASE("an init function and its calls give the results of one function that does all") {
  const lang::Program program = lang::parse(kProduct, "test.tc").at(0);
  const ir::Function whole = lower(program, schedule::Schedule(program));
  const std::vector<ir::Function> functions = lowered(kProduct, kPacked);
  const std::map<std::string, std::int64_t> sizes = {{"M", 5}, {"K", 7}, {"N", 37}};
  test::KernelArguments expected(whole, sizes), call(functions[0], sizes), init(functions[1], sizes);
  std::memcpy(init.data<float>("B"), call.data<float>("B"), 7 * 37 * sizeof(float));
  REQUIRE(ir::interpret(whole, expected.pointers()) == 0);
  REQUIRE(ir::interpret(functions[1], init.pointers()) == 0);
  // The call reads no constant, only what was computed from it.
  std::fill_n(call.data<float>("B"), 7 * 37, 1e30f);
  std::memcpy(call.data<float>("packed"), init.data<float>("packed"),
              static_cast<std::size_t>(call.size("packed")) * sizeof(float));
  REQUIRE(ir::interpret(functions[0], call.pointers()) == 0);
  for (std::int64_t i = 0; i < 5 * 37; ++i) CHECK(call.data<float>("C")[i] == expected.data<float>("C")[i]);
}

TEST_CASE("stages that build on one another stay in the init function, and only what calls read is kept") {
  const auto functions = lowered(
      "def f(float(N) A, const float(N) S, const float(N) T) -> (C) {\n"
      "  U(i) = exp(S(i)) where i in 0:N\n  V(i) = U(i) * U(N - 1 - i) + T(i) where i in 0:N\n  C(i) = A(i) * V(i)\n}",
      "");
  REQUIRE(functions.size() == 2);
  CHECK(parameters_of(functions[0]) == Names{"in A", "in S", "in T", "out C", "in V"});
  CHECK(parameters_of(functions[1]) == Names{"in S", "in T", "out V"});
  CHECK(ir::to_text(functions[1]).find("global f32 U[") != std::string::npos);
}

TEST_CASE("a constant whose shape other arguments tell is not bound") {
  const auto functions = lowered(
      "def f(int N, const int8() S, const float(N+1,N+4) T) -> (C) {\n"
      "  U(i) = float32(S) where i in 0:1\n  C(i,j) = U(0) + T(i,j/5+2) where i in 0:N+1, j in 0:N+2\n}",
      "");
  REQUIRE(functions.size() == 2);
  for (const ir::Function& function : functions) CHECK_NOTHROW(ir::validate(function, "lower"));
  CHECK(parameters_of(functions[1]) == Names{"in S", "out U"});
  CHECK(functions[0].parameters[1].constant);
  CHECK_FALSE(functions[0].parameters[2].constant);
}

TEST_CASE("what depends on more than constants is computed in every call") {
  const auto count = [](const std::string& source, const std::string& schedule) {
    return lowered(source, schedule).size();
  };
  // These also read another input, a scalar argument, or a size that the constants do not determine.
  CHECK(count("def f(float(N) A, const float(N) S) -> (C) { U(i) = A(i) * S(i) where i in 0:N  C(i) = U(i) + 1 }",
              "") == 1);
  CHECK(count("def f(float a, const float(N) S) -> (C) { U(i) = a * S(i) where i in 0:N  C(i) = U(i) + 1 }", "") == 1);
  CHECK(count("def f(float(M) A, const float(N) S) -> (C) { U(i) = S(i % N) where i in 0:M  C(i) = U(i) + A(i) }",
              "") == 1);
  // A view, whose strides only the call knows, and a stage that reads no constant.
  CHECK(count("def f(const float(N) S strides(L)) -> (C) { U(i) = S(i) + 1 where i in 0:N  C(i) = U(i) * 2 }", "") ==
        1);
  CHECK(count("def f(const float(N) S) -> (C) { U(i) = float(i) where i in 0:N  C(i) = U(i) * S(i) }", "") == 1);
  // Outputs, which belong to the call, and copies computed at their readers.
  CHECK(count("def f(const float(N) S) -> (C) { C(i) = S(i) }", "") == 1);
  CHECK(count(kProduct, std::string(kPacked) + "packed: compute_at C m\n") == 1);
  CHECK(count("def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", kPacked) == 1);
}

TEST_CASE("the default schedule packs constant weights outside of the call, also for few rows") {
  const Target target = test::cpu_with_vectors(512);
  const auto functions = [&](const std::string& rows, const std::string& weights) {
    const lang::Program program = lang::parse("def mm(float(" + rows + ",768) A, " + weights +
                                                  "float(768,3072) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                              "test.tc")
                                      .at(0);
    const schedule::Schedule how = autoschedule::default_schedule(program, target);
    return lower_module(std::span(&program, 1), std::span(&how, 1)).size();
  };
  CHECK(functions("128", "const ") == 2);
  CHECK(functions("8", "const ") == 2);
  CHECK(functions("1", "const ") == 2);  // packed in the order in which it is read
  CHECK(functions("1", "") == 1);
  CHECK(functions("128", "") == 1);
}

}  // namespace ferry::lower
