#include "crosscompile/passes/tensorize/dot_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"
#include "ferry/operators.h"

#include <algorithm>

namespace ferry::passes {
namespace {

using namespace ir;

constexpr std::size_t kSum = 0, kLane = 0, kWithin = 1;

struct Types {
  DType sum, left, right;
};
constexpr Types kTypes[] = {
    {DType::i32, DType::u8, DType::i8},   {DType::i32, DType::i8, DType::i8},     {DType::i32, DType::u8, DType::u8},
    {DType::i32, DType::i16, DType::i16}, {DType::f32, DType::bf16, DType::bf16}, {DType::f32, DType::f16, DType::f16},
};

// Returns the instruction of that name or, for kDot, dots of all types in the sizes of the nest.
std::vector<DotInstruction> candidates(std::string_view name, const LoopNest& nest) {
  std::vector<DotInstruction> found;
  if (name != kDot) {
    for (const DotInstruction& instruction : dot_instructions()) {
      if (instruction.name == name) return {instruction};
    }
    return found;
  }
  const DType sum = nest.store.as<Store>()->value.type().code;
  for (const Types& types : kTypes) {
    if (types.sum != sum) continue;
    for (const bool swapped : {false, true}) {
      DotInstruction dot{.name = kDot,
                         .needs = nullptr,
                         .sum = types.sum,
                         .left = types.left,
                         .right = types.right,
                         .lanes = 1,
                         .group = 1};
      dot.lanes = static_cast<std::uint32_t>(nest.loops[swapped ? 1 : 0].extent);
      dot.group = static_cast<std::uint32_t>(nest.loops[swapped ? 0 : 1].extent);
      found.push_back(dot);
    }
  }
  return found;
}

// Returns "" when the elements along the lanes are consecutive, or form one group that is the same for all lanes, and
// otherwise an error message.
std::string check_layout(const DotInstruction& dot, const NestMatch& match) {
  const Expr group(std::int64_t{dot.group});
  for (std::size_t i = 0; i < match.operands.size(); ++i) {
    const NestMatch::Operand& operand = match.operands[i];
    const Expr &lane = operand.got.strides[kLane], &within = operand.got.strides[kWithin];
    const std::string elements = "expected the elements of '" + operand.buffer->name + "' ";
    const auto steps = [&] { return "steps of " + to_text(lane) + " and " + to_text(within); };
    if (i == kSum) {
      if (!is_constant(lane, 1) || !is_constant(within, 0))
        return elements + "one behind the other along the lanes, and the same along the group, got " + steps();
    } else if (!is_constant(within, 1) || !(is_constant(lane, dot.group) || is_constant(lane, 0))) {
      return elements + "to stand in groups of " + std::to_string(dot.group) +
             ", one group behind the other or the same for all lanes, got " + steps() +
             " along the lanes and the group";
    }
  }
  return "";
}

struct Found {
  DotInstruction dot;
  NestMatch match;
};

Found find(std::string_view name, const LoopNest& nest, bool with_layout) {
  if (nest.loops.size() != 2)
    throw CompileError("expected two loops inside, over the lanes and over their groups, got " +
                       std::to_string(nest.loops.size()));
  if (nest.loops[0].extent < 2 || nest.loops[1].extent < 2)
    throw CompileError("expected 2 lanes or more in groups of 2 or more, got loops of " +
                       std::to_string(nest.loops[0].extent) + " and " + std::to_string(nest.loops[1].extent));
  std::string first;
  for (const DotInstruction& dot : candidates(name, nest)) {
    const auto check = [&](NestMatch& match) { return with_layout ? check_layout(dot, match) : std::string(); };
    std::string mismatch;
    if (auto match = match_nest(dot_definition(dot), nest, check, mismatch)) return {dot, std::move(*match)};
    // A mismatch in an operand's layout tells more than a mismatch in the types of another candidate.
    if (first.empty() || (mismatch.starts_with("expected the elements") && !first.starts_with("expected the elements")))
      first = mismatch;
  }
  if (first.empty())
    first =
        "expected a sum of int32 or float32, got " + std::string(dtype_name(nest.store.as<Store>()->value.type().code));
  throw CompileError(first);
}

Expr vector_of(const DotInstruction& dot, const NestMatch::Operand& operand) {
  const std::uint32_t elements = dot.lanes * dot.group;
  const Expr at = is_constant(operand.got.strides[kLane], 0) && dot.lanes > 1
                      ? repeated_index(operand.got.base, dot.group, elements)
                      : Ramp::make(operand.got.base, 1, elements);
  return Load::make(operand.buffer, {at});
}

}  // namespace

std::vector<std::string> dot_names() {
  std::vector<std::string> names{std::string(kDot)};
  for (const DotInstruction& instruction : dot_instructions()) {
    if (std::find(names.begin(), names.end(), instruction.name) == names.end()) names.emplace_back(instruction.name);
  }
  return names;
}

std::string check_dot(std::string_view name, const LoopNest& nest) {
  try {
    find(name, nest, false);
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

Stmt dot_of(std::string_view name, const LoopNest& nest) {
  const Found found = find(name, nest, true);
  const auto& operands = found.match.operands;
  Stmt result = dot_statement(found.dot, operands[0].buffer, operands[0].got.base, vector_of(found.dot, operands[1]),
                              vector_of(found.dot, operands[2]));
  for (const Expr& condition : found.match.conditions) result = If::make(condition, std::move(result));
  return result;
}

}  // namespace ferry::passes
