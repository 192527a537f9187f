#include "tests/unit/host/lang/reference_program/same_elements.h"

#include "crosscompile/ir/error.h"
#include "host/lang/reference/bounded_expr.h"
#include "host/lang/reference/reference_program.h"
#include "host/lower/signature.h"
#include "tests/fuzz/cases/call.h"
#include "tests/unit/host/kernel/own_compiler.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace ferry::test {

namespace {

std::string text_of(DType type, const lang::Element& element) {
  char text[96];
  if (is_float(type))
    std::snprintf(text, sizeof text, "%.17g (error %.3g)", element.real, element.error);
  else
    std::snprintf(text, sizeof text, "%lld (error %.3g)", static_cast<long long>(element.integer), element.error);
  return text;
}

bool have_same_value(DType type, const lang::Element& got, const lang::Element& want) {
  if (!is_float(type)) {
    if (got.integer == want.integer) return true;
    return std::fabs(static_cast<double>(got.integer) - static_cast<double>(want.integer)) <= want.error;
  }
  return got.real == want.real || std::fabs(got.real - want.real) <= want.error + 1e-12 * std::fabs(want.real);
}

bool is_known(double error) { return error < lang::kUnbounded / 2; }

// Returns what is wrong with an element; empty: nothing.
std::string mistake(DType type, const lang::Element& got, const lang::Element& want, bool may_be_unknown,
                    Compared& compared) {
  ++compared.elements;
  if (is_float(type) && std::isnan(got.real) && std::isnan(want.real)) return "";
  // Nothing is known of the value.
  if (!is_known(want.error)) return is_known(got.error) && got.error > 0 ? "expected an unknown error" : "";
  if (!is_known(got.error)) return may_be_unknown ? "" : "expected a known error";
  if (!have_same_value(type, got, want)) return "expected the evaluator's value";
  if (got.error > want.error * (1 + 1e-6)) return "expected no larger error";
  if (want.error > 0) {
    compared.least = std::min(compared.least, got.error / want.error);
    compared.most = std::max(compared.most, got.error / want.error);
  }
  return "";
}

}  // namespace

Compared compare_with_evaluator(const lang::Program& program, const Sizes& sizes, lang::RoundingBound bound,
                                const Change& change, std::uint64_t seed) {
  Compared compared;
  lang::ReferenceProgram reference;
  try {
    reference = lang::reference_program(program, bound);
  } catch (const CompileError& error) {
    compared.refusal = error.what();
    return compared;
  }
  const fuzz::Call call(lower::signature_of(program), sizes, seed);
  std::vector<const void*> pointers;
  std::vector<HostArgument> given;
  for (const fuzz::Argument& argument : call.arguments()) {
    std::uint8_t* const data = argument.memory->data();
    pointers.push_back(argument.direction == Direction::out ? nullptr : data);
    if (argument.kind == ParameterKind::scalar) {
      std::int64_t number = 0;
      std::memcpy(&number, data, sizeof number);
      given.push_back({.number = number});
    } else if (argument.direction != Direction::out) {
      if (change) change(argument.type, static_cast<std::size_t>(argument.places), data);
      given.push_back({argument.type, argument.shape, argument.strides, data, {}});
    }
  }
  const HostKernel kernel =
      own_compiler()->load({.programs = std::span(&reference.program, 1), .sizes = SizesByName(sizes)});
  const lang::Reference evaluator(program, call.symbols(), pointers, bound);
  const std::vector<std::vector<std::uint8_t>> results = kernel(given);
  std::size_t next = 0;
  for (const lang::ReferenceProgram::Output& output : reference.outputs) {
    const std::vector<std::uint8_t>& values = results.at(next++);
    const std::uint8_t* errors = output.has_error ? results.at(next++).data() : nullptr;
    const DType type = program.parameters[output.parameter].tensor.dtype();
    std::vector<std::uint64_t> positions(evaluator.elements(output.parameter));
    std::iota(positions.begin(), positions.end(), 0);
    const std::vector<lang::Element> expected = evaluator.evaluate(output.parameter, positions);
    for (const std::uint64_t i : positions) {
      const lang::Element& want = expected[i];
      lang::Element got = lang::load_element(type, values.data() + i * dtype_bytes(type));
      if (errors != nullptr) std::memcpy(&got.error, errors + i * sizeof(double), sizeof(double));
      const std::string wrong = mistake(type, got, want, change != nullptr, compared);
      if (wrong.empty() || !compared.difference.empty()) continue;
      compared.difference = program.parameters[output.parameter].name + "[" + std::to_string(i) + "] is " +
                            text_of(type, got) + ", by the evaluator " + text_of(type, want) + ": " + wrong;
    }
  }
  return compared;
}

}  // namespace ferry::test
