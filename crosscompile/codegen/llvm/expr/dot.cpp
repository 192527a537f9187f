#include "crosscompile/codegen/llvm/expr/dot.h"

#include "crosscompile/analysis/ranges.h"
#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/pieces.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/repeated_loads.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/tensorize/dot_instructions.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsARM.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <array>
#include <utility>

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

// Two instructions: the products of bytes as int16, and the sums of two neighbours of them as int32.
struct Pairs {
  std::string_view name;
  llvm::Intrinsic::ID multiply, add_neighbours;
  bool adds_to_sum;  // whether the second one adds to a sum too; otherwise LLVM selects the one that does
};

constexpr Pairs kPairs[] = {
    {"smull_sadalp", llvm::Intrinsic::aarch64_neon_smull, llvm::Intrinsic::aarch64_neon_saddlp, false},
    {"umull_uadalp", llvm::Intrinsic::aarch64_neon_umull, llvm::Intrinsic::aarch64_neon_uaddlp, false},
    {"vmulls_vpadals", llvm::Intrinsic::arm_neon_vmulls, llvm::Intrinsic::arm_neon_vpadals, true},
    {"vmullu_vpadalu", llvm::Intrinsic::arm_neon_vmullu, llvm::Intrinsic::arm_neon_vpadalu, true},
};

const Pairs* pairs_of(const DotInstruction& instruction) {
  const auto* found = std::ranges::find(kPairs, instruction.name, &Pairs::name);
  return found == std::end(kPairs) ? nullptr : found;
}

// The factors of the products that are added to one sum.
struct Factors {
  Value *left, *right;
};

// Emits the dots of several factors. Sums of more than one product of each lane must be in the range of int16.
Value* emit_pairs(FunctionState& state, const Pairs& pairs, Value* sum, llvm::ArrayRef<Factors> all) {
  llvm::IRBuilder<>& b = state.builder;
  llvm::Type* wide =
      llvm::VectorType::getExtendedElementVectorType(llvm::cast<llvm::VectorType>(all[0].left->getType()));
  Value* products = nullptr;
  for (const Factors& factors : all) {
    Value* product = b.CreateIntrinsic(pairs.multiply, {wide}, {factors.left, factors.right});
    products = products == nullptr ? product : b.CreateAdd(products, product);
  }
  llvm::Type* type = sum->getType();
  if (pairs.adds_to_sum) return b.CreateIntrinsic(pairs.add_neighbours, {type, wide}, {sum, products});
  return b.CreateAdd(sum, b.CreateIntrinsic(pairs.add_neighbours, {type, wide}, {products}));
}

const Emitted& intrinsic_of(const DotInstruction& instruction) {
  for (const Emitted& known : kEmitted) {
    if (known.name == instruction.name) return known;
  }
  throw InternalError("no LLVM intrinsic for '" + std::string(instruction.name) + "'");
}

// Emits a dot of exactly the instruction's sizes.
Value* emit_one(FunctionState& state, const DotInstruction& instruction, Value* sum, Value* left, Value* right) {
  llvm::IRBuilder<>& b = state.builder;
  if (const Pairs* pairs = pairs_of(instruction)) return emit_pairs(state, *pairs, sum, {{left, right}});
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

// Returns the pairs of instructions that compute a dot of int8, if one of its factors is never -128.
const DotInstruction* narrow_pairs(const Target& target, const ir::Call& dot) {
  const std::uint32_t lanes = dot.type.lanes, group = dot.arguments[1].type().lanes / lanes;
  const DType left = dot.arguments[1].type().code, right = dot.arguments[2].type().code;
  if (left != DType::i8 || right != DType::i8 || lanes == 1) return nullptr;
  if (!analysis::is_above_minimum(dot.arguments[1]) && !analysis::is_above_minimum(dot.arguments[2])) return nullptr;
  const DotInstruction* found = passes::find_dot(target, dot.type.code, left, right, lanes, group);
  return found != nullptr && pairs_of(*found) != nullptr ? found : nullptr;
}

// Emits a dot whose sum is another dot, as smull, smlal and sadalp: two products of int8, each with a factor that is
// never -128, are at most 2 * 128 * 127 together. Returns null for others.
Value* emit_two(FunctionState& state, const ir::Call& node) {
  const auto* inner = node.arguments[0].as<ir::Call>();
  const Target& target = state.module.target;
  if (inner == nullptr || inner->callee.op != ir::CallOp::dot) return nullptr;
  const DotInstruction* instruction = narrow_pairs(target, node);
  if (instruction == nullptr || narrow_pairs(target, *inner) != instruction) return nullptr;
  Value* sum = emit_expr(state, inner->arguments[0]);
  std::array<Factors, 2> all{};
  for (const auto& [factors, dot] : {std::pair(&all[0], inner), std::pair(&all[1], &node)})
    *factors = {emit_expr(state, dot->arguments[1]), emit_expr(state, dot->arguments[2])};
  const std::uint32_t width = instruction->lanes, elements = width * instruction->group;
  llvm::SmallVector<Value*, 8> results;
  for (std::uint32_t at = 0; at < node.type.lanes; at += width) {
    std::array<Factors, 2> pieces{};
    for (std::size_t i = 0; i < all.size(); ++i)
      pieces[i] = {piece_of(state, all[i].left, at * instruction->group, elements),
                   piece_of(state, all[i].right, at * instruction->group, elements)};
    results.push_back(emit_pairs(state, *pairs_of(*instruction), piece_of(state, sum, at, width), pieces));
  }
  return joined(state, results, node.type.lanes);
}

// Whether the factor is a group that is the same for all lanes.
bool is_repeated(const ir::Expr& factor) {
  const auto* load = factor.as<ir::Load>();
  return load != nullptr && load->indices.size() == 1 && repeated(load->indices[0]).has_value();
}

}  // namespace

Value* emit_dot(FunctionState& state, const ir::Call& node) {
  if (Value* two = emit_two(state, node)) return two;
  if (is_repeated(node.arguments[1]) && node.arguments[1].type() == node.arguments[2].type()) {
    // LLVM selects instructions that take a lane of a register for the last factor alone.
    const ir::Expr swapped =
        ir::Call::make(node.type, ir::CallOp::dot, {node.arguments[0], node.arguments[2], node.arguments[1]});
    if (!is_repeated(node.arguments[2])) return emit_dot(state, *swapped.as<ir::Call>());
  }
  llvm::SmallVector<Value*, 3> arguments;
  for (const ir::Expr& argument : node.arguments) arguments.push_back(emit_expr(state, argument));
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
