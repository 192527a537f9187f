#include "tests/fuzz/cases/call.h"

#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/fill.h"
#include "ferry/operators.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace ferry::fuzz {

namespace {

// Largest allowed difference, in multiples of the reference's error bound. The bound counts half a unit in the last
// place for each operation; our math functions are within 4 units.
constexpr double kRoundings = 16;

double unit_of(DType type) {
  switch (type) {
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    case DType::f32: return 0x1p-23;
    case DType::f64: return 0x1p-52;
    default: return 0;
  }
}

double smallest_of(DType type) { return type == DType::f16 ? 0x1p-24 : type == DType::f64 ? 0x1p-1074 : 0x1p-126; }

double largest_of(DType type) {
  switch (type) {
    case DType::f16: return 65504;
    case DType::bf16:
    case DType::f32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

bool agrees(DType type, const lang::Element& got, const lang::Element& want) {
  if (!is_float(type)) return got.integer == want.integer;
  // The rounding error of this value is unbounded, or may have made it overflow the type.
  if (!std::isfinite(want.error) || (want.error > 0 && std::abs(want.real) + 4 * want.error > largest_of(type) / 4))
    return true;
  if (std::isnan(got.real) || std::isnan(want.real)) return std::isnan(got.real) == std::isnan(want.real);
  if (got.real == want.real) return true;
  const double allowed =
      want.error == 0 ? 0 : kRoundings * want.error + 4 * unit_of(type) * std::abs(want.real) + 4 * smallest_of(type);
  return std::abs(got.real - want.real) <= allowed;
}

std::string text_of(DType type, const lang::Element& element) {
  if (type == DType::u64) return std::to_string(static_cast<std::uint64_t>(element.integer));
  if (!is_float(type)) return std::to_string(element.integer);
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", element.real);
  return text;
}

std::int64_t number(const ir::Expr& expr, const ir::Substitution& values) {
  const ir::Expr value = passes::simplify(ir::substitute(expr, values));
  const std::int64_t* constant = ir::as_int(value);
  if (constant == nullptr) throw std::runtime_error("the program: a size is not known");
  return *constant;
}

ir::Substitution values_of(const ir::Function& function, const Sizes& sizes) {
  ir::Substitution values;
  for (const ir::Expr& symbol : function.symbols) values[symbol.get()] = ir::Expr(sizes.at(symbol.as<ir::Var>()->name));
  return values;
}

}  // namespace

std::vector<std::int64_t> Argument::positions() const {
  std::vector<std::int64_t> result(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    if (strides.empty()) result[i] = rest;
    for (std::size_t d = strides.size(); d-- > 0; rest /= shape[d]) result[i] += rest % shape[d] * strides[d];
  }
  return result;
}

std::string unmet_requirement(const ir::Function& function, const Sizes& sizes) {
  const ir::Substitution values = values_of(function, sizes);
  for (const ir::Requirement& requirement : function.requirements)
    if (number(ir::cast(DType::i64, requirement.condition), values) == 0) return requirement.message;
  return "";
}

Call::Call(const ir::Function& function, const Sizes& sizes, std::uint64_t seed) {
  const ir::Substitution values = values_of(function, sizes);
  for (const ir::Expr& symbol : function.symbols) symbols_.push_back(*ir::as_int(values.at(symbol.get())));
  const std::string unmet = unmet_requirement(function, sizes);
  if (!unmet.empty()) throw std::runtime_error("the program: requirement not met: " + unmet);
  for (const ir::FunctionParameter& parameter : function.parameters) {
    Argument argument{parameter.name, parameter.kind, parameter.direction, DType::i64, {}, {}, 1, 1, nullptr};
    if (parameter.kind == ParameterKind::tensor) {
      argument.type = parameter.buffer->dtype;
      for (const ir::Expr& extent : parameter.buffer->shape) argument.shape.push_back(number(extent, values));
      for (const std::int64_t extent : argument.shape) {
        if (extent < 0) throw std::runtime_error("the program: '" + argument.name + "' has an extent below 0");
        argument.elements *= extent;
      }
      for (const ir::Expr& stride : parameter.buffer->strides) argument.strides.push_back(number(stride, values));
      argument.places = argument.elements;
      if (!argument.strides.empty() && argument.elements > 0) argument.places = argument.positions().back() + 1;
    }
    const std::size_t bytes = static_cast<std::size_t>(argument.places) * dtype_bytes(argument.type);
    argument.memory = std::make_unique<GuardedMemory>(bytes, 0xa5);
    if (argument.kind == ParameterKind::scalar)
      std::memcpy(argument.memory->data(), &sizes.at(argument.name), sizeof(std::int64_t));
    else if (argument.direction != Direction::out)
      fill(FillKind::random, seed + arguments_.size(), argument.type, 0, static_cast<std::uint64_t>(argument.places),
           argument.memory->data());
    argument.before.assign(argument.memory->data(), argument.memory->data() + argument.memory->size());
    arguments_.push_back(std::move(argument));
  }
  for (const Argument& argument : arguments_) pointers_.push_back(argument.memory->data());
  for (std::int64_t& symbol : symbols_) pointers_.push_back(&symbol);
}

void Call::take_inputs(const Call& other) {
  for (Argument& argument : arguments_) {
    if (argument.direction != Direction::in) continue;
    for (const Argument& source : other.arguments_) {
      if (source.name != argument.name) continue;
      if (source.shape != argument.shape || source.places != argument.places)
        throw std::runtime_error("the shape of '" + argument.name + "' differs between a call and its init function");
      argument.before.assign(source.memory->data(), source.memory->data() + source.memory->size());
      if (!argument.before.empty())
        std::memcpy(argument.memory->data(), argument.before.data(), argument.before.size());
    }
  }
}

std::string Call::damage() const {
  for (const Argument& argument : arguments_) {
    if (!argument.memory->is_intact()) return "writes beside '" + argument.name + "'";
    if (argument.kind == ParameterKind::scalar || argument.direction == Direction::out) continue;
    std::vector<std::uint8_t> before = argument.before;
    if (argument.direction == Direction::inout) {
      const std::size_t bytes = dtype_bytes(argument.type);
      for (const std::int64_t place : argument.positions()) {
        const std::size_t at = static_cast<std::size_t>(place) * bytes;
        std::memcpy(before.data() + at, argument.memory->data() + at, bytes);
      }
    }
    if (!before.empty() && std::memcmp(before.data(), argument.memory->data(), before.size()) != 0)
      return (argument.direction == Direction::in ? "writes into the input '" : "writes between the elements of '") +
             argument.name + "'";
  }
  return "";
}

Expectation::Expectation(const lang::Program& program, const Call& call) {
  std::vector<const void*> inputs;
  for (const Argument& argument : call.arguments())
    inputs.push_back(argument.direction == Direction::out ? nullptr : argument.memory->data());
  const lang::Reference reference(program, call.symbols(), inputs);
  for (std::size_t p = 0; p < call.arguments().size(); ++p) {
    const Argument& argument = call.arguments()[p];
    if (argument.direction == Direction::in) continue;
    if (reference.shape(p) != argument.shape) throw std::runtime_error("the shape of '" + argument.name + "' differs");
    std::vector<std::uint64_t> elements(static_cast<std::size_t>(argument.elements));
    std::iota(elements.begin(), elements.end(), 0);
    outputs_[p] = {argument.name, argument.type, reference.evaluate(p, elements)};
  }
}

std::string Expectation::difference(std::size_t parameter, const std::uint8_t* data) const {
  const Output& output = outputs_.at(parameter);
  for (std::size_t i = 0; i < output.elements.size(); ++i) {
    const lang::Element got = lang::load_element(output.type, data + i * dtype_bytes(output.type));
    const lang::Element& want = output.elements[i];
    if (!agrees(output.type, got, want))
      return "element " + std::to_string(i) + " of '" + output.name + "': expected " + text_of(output.type, want) +
             (is_float(output.type) ? " (rounding " + std::to_string(want.error) + ")" : "") + ", got " +
             text_of(output.type, got);
  }
  return "";
}

std::string Expectation::difference(const Call& call) const {
  for (const auto& [parameter, output] : outputs_) {
    const Argument& argument = call.arguments()[parameter];
    const std::size_t bytes = dtype_bytes(argument.type);
    std::vector<std::uint8_t> elements;
    for (const std::int64_t place : argument.positions()) {
      const std::uint8_t* const from = argument.memory->data() + static_cast<std::size_t>(place) * bytes;
      elements.insert(elements.end(), from, from + bytes);
    }
    const std::string found = difference(parameter, elements.data());
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace ferry::fuzz
