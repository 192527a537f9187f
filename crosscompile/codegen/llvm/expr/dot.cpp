#include "crosscompile/codegen/llvm/expr/dot.h"

#include "crosscompile/codegen/llvm/expr/pieces.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace ferry::codegen {
namespace {

using llvm::Value;
using passes::DotInstruction;

struct Emitted {
  std::string_view name;
  llvm::Intrinsic::ID id;
  // LLVM declares the intrinsic for any types of the sum and of the operands.
  bool is_overloaded = false;
  // The instruction does not add the sum, which takes another one.
  bool only_multiplies = false;
};

constexpr Emitted kEmitted[] = {
    {"vpdpbusd_512", llvm::Intrinsic::x86_avx512_vpdpbusd_512},
    {"vpdpbusd_256", llvm::Intrinsic::x86_avx512_vpdpbusd_256},
    {"vpdpbusd_128", llvm::Intrinsic::x86_avx512_vpdpbusd_128},
    {"vpdpwssd_512", llvm::Intrinsic::x86_avx512_vpdpwssd_512},
    {"vpdpwssd_256", llvm::Intrinsic::x86_avx512_vpdpwssd_256},
    {"vpdpwssd_128", llvm::Intrinsic::x86_avx512_vpdpwssd_128},
    {"vpmaddwd_512", llvm::Intrinsic::x86_avx512_pmaddw_d_512, false, true},
    {"vpmaddwd_256", llvm::Intrinsic::x86_avx2_pmadd_wd, false, true},
    {"vpmaddwd_128", llvm::Intrinsic::x86_sse2_pmadd_wd, false, true},
    {"vdpbf16ps_512", llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512},
    {"vdpbf16ps_256", llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256},
    {"vdpbf16ps_128", llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128},
    {"sdot", llvm::Intrinsic::aarch64_neon_sdot, true},
    {"udot", llvm::Intrinsic::aarch64_neon_udot, true},
    {"usdot", llvm::Intrinsic::aarch64_neon_usdot, true},
    {"vsdot", llvm::Intrinsic::arm_neon_sdot, true},
    {"vudot", llvm::Intrinsic::arm_neon_udot, true},
};

const Emitted& intrinsic_of(const DotInstruction& instruction) {
  for (const Emitted& known : kEmitted) {
    if (known.name == instruction.name) return known;
  }
  throw InternalError("no LLVM intrinsic for '" + std::string(instruction.name) + "'");
}

// Emits a dot of exactly the instruction's sizes.
Value* emit_one(FunctionState& state, const DotInstruction& instruction, Value* sum, Value* left, Value* right) {
  llvm::IRBuilder<>& b = state.builder;
  const auto [name, id, is_overloaded, only_multiplies] = intrinsic_of(instruction);
  if (is_overloaded) return b.CreateIntrinsic(id, {sum->getType(), left->getType()}, {sum, left, right});
  if (only_multiplies) return b.CreateAdd(sum, b.CreateIntrinsic(id, {}, {left, right}));
  // The operands are declared with the type of the sum, or as floats rather than bits.
  const ir::Type numbers(instruction.left, instruction.lanes * instruction.group);
  llvm::Type* type = instruction.left == DType::bf16 ? float_type(state.module, numbers) : sum->getType();
  return b.CreateIntrinsic(id, {}, {sum, b.CreateBitCast(left, type), b.CreateBitCast(right, type)});
}

// Computes element j of every group at a time, for types without an instruction.
Value* emit_generic(FunctionState& state, const ir::Call& node, llvm::ArrayRef<Value*> arguments) {
  llvm::IRBuilder<>& b = state.builder;
  const std::uint32_t group = node.arguments[1].type().lanes / node.type.lanes;
  llvm::Type* wide = register_type(state.module, node.type);
  llvm::IRBuilderBase::FastMathFlagGuard guard(b);
  llvm::FastMathFlags contract;
  contract.setAllowContract(state.source.init_of.empty());
  b.setFastMathFlags(contract);
  const auto element = [&](std::size_t operand, std::uint32_t j) {
    const ir::Type type = node.arguments[operand].type();
    llvm::SmallVector<int, 64> order;
    for (std::uint32_t i = 0; i < node.type.lanes; ++i) order.push_back(static_cast<int>(i * group + j));
    Value* part = node.type.is_scalar() ? b.CreateExtractElement(arguments[operand], std::uint64_t{j})
                                        : b.CreateShuffleVector(arguments[operand], order);
    return type.is_float() ? part : b.CreateIntCast(part, wide, type.is_signed_int());
  };
  Value* sum = arguments[0];
  for (std::uint32_t j = 0; j < group; ++j) {
    Value* left = element(1, j);
    Value* right = element(2, j);
    sum = node.type.is_float() ? b.CreateFAdd(sum, b.CreateFMul(left, right))
                               : b.CreateAdd(sum, b.CreateMul(left, right));
  }
  return sum;
}

Value* emit_pieces(FunctionState& state, const DotInstruction& instruction, std::uint32_t lanes, Value* sum,
                   Value* left, Value* right) {
  const std::uint32_t width = instruction.lanes, group = instruction.group;
  llvm::SmallVector<Value*, 8> results;
  for (std::uint32_t at = 0; at < lanes; at += width) {
    results.push_back(emit_one(state, instruction, piece_of(state, sum, at, width),
                               piece_of(state, left, at * group, width * group),
                               piece_of(state, right, at * group, width * group)));
  }
  return joined(state, results, lanes);
}

}  // namespace

Value* emit_dot(FunctionState& state, const ir::Call& node, llvm::ArrayRef<Value*> arguments) {
  const Target& target = state.module.target;
  const std::uint32_t lanes = node.type.lanes, group = node.arguments[1].type().lanes / lanes;
  const DType left = node.arguments[1].type().code, right = node.arguments[2].type().code;
  if (lanes == 1) return emit_generic(state, node, arguments);
  if (const auto* found = passes::find_dot(target, node.type.code, left, right, lanes, group)) {
    return emit_pieces(state, *found, lanes, arguments[0], arguments[1], arguments[2]);
  }
  // Multiplication is commutative.
  if (const auto* found = passes::find_dot(target, node.type.code, right, left, lanes, group)) {
    return emit_pieces(state, *found, lanes, arguments[0], arguments[2], arguments[1]);
  }
  const auto* mixed = passes::find_dot(target, node.type.code, DType::u8, DType::i8, lanes, group);
  if (mixed != nullptr && left == DType::i8 && right == DType::i8) {
    // l * r = (l + 128) * r - 128 * r, and l + 128 is unsigned.
    llvm::IRBuilder<>& b = state.builder;
    llvm::Constant* offset = llvm::ConstantInt::get(arguments[1]->getType(), 0x80);
    Value* raised = emit_pieces(state, *mixed, lanes, arguments[0], b.CreateXor(arguments[1], offset), arguments[2]);
    Value* zero = llvm::Constant::getNullValue(arguments[0]->getType());
    return b.CreateSub(raised, emit_pieces(state, *mixed, lanes, zero, offset, arguments[2]));
  }
  return emit_generic(state, node, arguments);
}

}  // namespace ferry::codegen
