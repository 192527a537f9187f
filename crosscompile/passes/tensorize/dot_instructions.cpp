#include "crosscompile/passes/tensorize/dot_instructions.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <string>

namespace ferry::passes {
namespace {

using namespace ir;

using Can = Capabilities;

// Within one capability or architecture, wider instructions come before narrower ones.
constexpr DotInstruction kInstructions[] = {
    {"vpdpbusd_512", &Can::vnni_512, DType::i32, DType::u8, DType::i8, 16, 4},
    {"vpdpbusd_256", &Can::vnni_256, DType::i32, DType::u8, DType::i8, 8, 4},
    {"vpdpbusd_128", &Can::vnni_256, DType::i32, DType::u8, DType::i8, 4, 4},
    {"vpdpwssd_512", &Can::vnni_512, DType::i32, DType::i16, DType::i16, 16, 2},
    {"vpdpwssd_256", &Can::vnni_256, DType::i32, DType::i16, DType::i16, 8, 2},
    {"vpdpwssd_128", &Can::vnni_256, DType::i32, DType::i16, DType::i16, 4, 2},
    {"vpmaddwd_512", &Can::int16_dot_512, DType::i32, DType::i16, DType::i16, 16, 2, false, 2},
    {"vpmaddwd_256", &Can::int16_dot_256, DType::i32, DType::i16, DType::i16, 8, 2, false, 2},
    {"vpmaddwd_128", &Can::int16_dot_128, DType::i32, DType::i16, DType::i16, 4, 2, false, 2},
    {"vdpbf16ps_512", &Can::bf16_dot_512, DType::f32, DType::bf16, DType::bf16, 16, 2, true},
    {"vdpbf16ps_256", &Can::bf16_dot_256, DType::f32, DType::bf16, DType::bf16, 8, 2, true},
    {"vdpbf16ps_128", &Can::bf16_dot_256, DType::f32, DType::bf16, DType::bf16, 4, 2, true},
    {"sdot", &Can::neon_dot, DType::i32, DType::i8, DType::i8, 4, 4},
    {"udot", &Can::neon_dot, DType::i32, DType::u8, DType::u8, 4, 4},
    {"usdot", &Can::neon_mixed_dot, DType::i32, DType::u8, DType::i8, 4, 4},
    {"vsdot", &Can::neon_dot_32bit, DType::i32, DType::i8, DType::i8, 4, 4},
    {"vudot", &Can::neon_dot_32bit, DType::i32, DType::u8, DType::u8, 4, 4},
    {"smull_sadalp", &Can::neon_pairs, DType::i32, DType::i8, DType::i8, 4, 2, false, 2, 1},
    {"umull_uadalp", &Can::neon_pairs, DType::i32, DType::u8, DType::u8, 4, 2, false, 2, 1},
    {"vmulls_vpadals", &Can::neon_pairs_32bit, DType::i32, DType::i8, DType::i8, 4, 2, false, 2, 1},
    {"vmullu_vpadalu", &Can::neon_pairs_32bit, DType::i32, DType::u8, DType::u8, 4, 2, false, 2, 1},
};

bool fits(const DotInstruction& instruction, const Target& target) { return target.capabilities.*instruction.needs; }

BufferRef operand(const char* name, DType dtype, std::uint32_t elements) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->dtype = dtype;
  buffer->shape = {Expr(std::int64_t{elements})};
  buffer->scope = Scope::parameter;
  return buffer;
}

}  // namespace

std::span<const DotInstruction> dot_instructions() { return kInstructions; }

const DotInstruction* find_dot(const Target& target, DType sum, DType left, DType right, std::uint32_t lanes,
                               std::uint32_t group) {
  const DotInstruction* found = nullptr;
  for (const DotInstruction& one : kInstructions) {
    if (one.sum != sum || one.left != left || one.right != right || one.group != group || !fits(one, target)) continue;
    found = &one;
    if (one.lanes <= lanes) break;
  }
  return found;
}

const DotInstruction* find_dot_of_factors(const Target& target, DType sum, DType one, DType other, std::uint32_t lanes,
                                          std::uint32_t group) {
  const DotInstruction* found = find_dot(target, sum, one, other, lanes, group);
  return found != nullptr ? found : find_dot(target, sum, other, one, lanes, group);
}

Function dot_definition(const DotInstruction& instruction) {
  const std::uint32_t elements = instruction.lanes * instruction.group;
  const BufferRef sum = operand("sum", instruction.sum, instruction.lanes);
  const BufferRef left = operand("left", instruction.left, elements);
  const BufferRef right = operand("right", instruction.right, elements);
  const Expr i = Var::make("i"), j = Var::make("j"), at = i * Expr(std::int64_t{instruction.group}) + j;
  const Expr product = cast(instruction.sum, Load::make(left, {at})) * cast(instruction.sum, Load::make(right, {at}));
  const Stmt update = Store::make(sum, {i}, Load::make(sum, {i}) + product);
  Function function;
  function.name = std::string(instruction.name);
  function.parameters = {{"sum", ParameterKind::tensor, Direction::inout, sum, {}},
                         {"left", ParameterKind::tensor, Direction::in, left, {}},
                         {"right", ParameterKind::tensor, Direction::in, right, {}}};
  function.body = For::make(i, 0, Expr(std::int64_t{instruction.lanes}), ForKind::serial,
                            For::make(j, 0, Expr(std::int64_t{instruction.group}), ForKind::serial, update));
  return function;
}

Stmt dot_statement(const DotInstruction& instruction, const BufferRef& sum, const Expr& first, const Expr& left,
                   const Expr& right) {
  const Expr at = Ramp::make(first, 1, instruction.lanes);
  const Type type(instruction.sum, instruction.lanes);
  return Store::make(sum, {at}, Call::make(type, CallOp::dot, {Load::make(sum, {at}), left, right}));
}

Expr repeated_index(const Expr& first, std::uint32_t group, std::uint32_t lanes) {
  const Expr within = Ramp::make(0, 1, lanes) % Broadcast::make(Expr(std::int64_t{group}), lanes);
  return within + Broadcast::make(first, lanes);
}

}  // namespace ferry::passes
