#include "crosscompile/codegen/llvm/expr/small_integers.h"

#include "crosscompile/codegen/llvm/expr/pieces.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <array>

namespace ferry::codegen {
namespace {

constexpr std::uint32_t kEntries = 16;

// AVX-512, which is also what `scale` needs, with registers for all entries.
bool can_look_up(const Target& target) { return target.capabilities.scale && target.vector_bits >= 512; }

}  // namespace

llvm::Value* emit_small_integers(FunctionState& state, llvm::Value* value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (type == nullptr || !type->getElementType()->isIntegerTy(32) || type->getNumElements() % kEntries != 0 ||
      !can_look_up(state.module.target))
    return nullptr;
  llvm::Value* index = nullptr;
  const llvm::APInt* mask = nullptr;
  using namespace llvm::PatternMatch;
  if (!match(value, m_c_And(m_Value(index), m_APInt(mask))) || mask->uge(kEntries)) return nullptr;
  std::array<float, kEntries> entries;
  for (std::uint32_t i = 0; i < kEntries; ++i) entries[i] = static_cast<float>(i & mask->getZExtValue());
  llvm::IRBuilder<>& b = state.builder;
  llvm::Constant* table = llvm::ConstantDataVector::get(b.getContext(), entries);
  llvm::SmallVector<llvm::Value*, 4> pieces;
  for (std::uint32_t at = 0; at < type->getNumElements(); at += kEntries)
    pieces.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
                                       {table, piece_of(state, index, at, kEntries)}));
  return joined(state, pieces, type->getNumElements());
}

}  // namespace ferry::codegen
