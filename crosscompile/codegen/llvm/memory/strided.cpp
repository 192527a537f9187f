#include "crosscompile/codegen/llvm/memory/strided.h"

#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/nontemporal.h"

#include <algorithm>
#include <bit>

namespace ferry::codegen {
namespace {

using llvm::Value;

llvm::Align element_alignment(const Access& access) { return llvm::Align(dtype_bytes(access.type.code)); }

// Returns the addresses for a scalar or vector of indices. On 32-bit machines addresses need only the low half of the
// indices, and so does the arithmetic before.
Value* address(FunctionState& state, const Access& access, Value* index) {
  llvm::IRBuilder<>& b = state.builder;
  if (state.module.target.pointer_bits == 32) {
    llvm::Type* narrow = llvm::Type::getInt32Ty(state.context());
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(index->getType())) {
      narrow = llvm::FixedVectorType::get(narrow, vector->getNumElements());
    }
    index = b.CreateTrunc(index, narrow);
  }
  return b.CreateInBoundsGEP(memory_type(state.module, access.type.element()), access.first, index);
}

Value* advanced(FunctionState& state, Value* index, std::int64_t by) {
  return by == 0 ? index : state.builder.CreateAdd(index, state.builder.getInt64(static_cast<std::uint64_t>(by)));
}

Value* marked(FunctionState& state, const Access& access, llvm::Instruction* instruction) {
  state.aliases.mark(instruction, access.buffer);
  return instruction;
}

Value* load_power_of_two(FunctionState& state, const Access& access, Value* index, std::uint32_t lanes) {
  llvm::Type* type = memory_type(state.module, access.type.with_lanes(lanes));
  return marked(state, access,
                state.builder.CreateAlignedLoad(type, address(state, access, index), element_alignment(access)));
}

llvm::SmallVector<int, 16> counting(std::uint32_t first, std::uint32_t lanes) {
  llvm::SmallVector<int, 16> order;
  for (std::uint32_t i = 0; i < lanes; ++i) order.push_back(static_cast<int>(first + i));
  return order;
}

// Splits other numbers of lanes into powers of two, largest first: on some targets LLVM would read or write beyond
// them, and it miscompiles three bytes on AArch64.
template <class Piece>
void for_each_piece(std::uint32_t lanes, Piece piece) {
  for (std::uint32_t at = 0; at < lanes;) {
    const std::uint32_t count = std::bit_floor(lanes - at);
    piece(at, count);
    at += count;
  }
}

// Replaces `count` elements of the vector, from `at` on, by those of the piece; a piece of one lane is a scalar.
Value* with_piece(FunctionState& state, Value* vector, std::uint32_t lanes, Value* piece, std::uint32_t at,
                  std::uint32_t count) {
  llvm::IRBuilder<>& b = state.builder;
  if (!piece->getType()->isVectorTy()) return b.CreateInsertElement(vector, piece, std::uint64_t{at});
  // Widens the piece to the result's width, then takes each lane from one or the other.
  llvm::SmallVector<int, 16> widened = counting(0, count);
  widened.resize(lanes, llvm::PoisonMaskElem);
  llvm::SmallVector<int, 16> order = counting(0, lanes);
  for (std::uint32_t i = 0; i < count; ++i) order[at + i] = static_cast<int>(lanes + i);
  return b.CreateShuffleVector(vector, b.CreateShuffleVector(piece, widened), order);
}

Value* plain_load(FunctionState& state, const Access& access, Value* index, std::uint32_t lanes) {
  if (std::has_single_bit(lanes)) return load_power_of_two(state, access, index, lanes);
  Value* result = llvm::PoisonValue::get(memory_type(state.module, access.type.with_lanes(lanes)));
  for_each_piece(lanes, [&](std::uint32_t at, std::uint32_t count) {
    Value* piece = load_power_of_two(state, access, advanced(state, index, at), count);
    result = with_piece(state, result, lanes, piece, at, count);
  });
  return result;
}

void plain_store(FunctionState& state, const Access& access, Value* index, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const auto store = [&](Value* to, Value* what) {
    llvm::StoreInst* made = b.CreateAlignedStore(what, address(state, access, to), element_alignment(access));
    if (access.buffer->storage.nontemporal) mark_nontemporal(made);
    marked(state, access, made);
  };
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (vector == nullptr || std::has_single_bit(vector->getNumElements())) return store(index, value);
  for_each_piece(vector->getNumElements(), [&](std::uint32_t at, std::uint32_t count) {
    Value* piece = count == 1 ? b.CreateExtractElement(value, std::uint64_t{at})
                              : b.CreateShuffleVector(value, counting(at, count));
    store(advanced(state, index, at), piece);
  });
}

Value* reversed(FunctionState& state, Value* value, std::uint32_t lanes) {
  llvm::SmallVector<int, 16> order;
  for (std::uint32_t i = 0; i < lanes; ++i) order.push_back(static_cast<int>(lanes - 1 - i));
  return state.builder.CreateShuffleVector(value, order);
}

// Loads the range of all lanes as `stride` whole vectors, the last of which is moved back so that it ends with the
// range and nothing beyond is read; then shuffles two at a time. Loads of one range differ only in the shuffles,
// and the optimiser keeps one load of each vector.
Value* load_shuffled(FunctionState& state, const Access& access, Value* index, std::int64_t stride,
                     const InterleavedRange* interleaved) {
  const auto lanes = static_cast<std::int64_t>(access.type.lanes);
  const InterleavedRange range = interleaved == nullptr ? InterleavedRange{0, stride * (lanes - 1) + 1} : *interleaved;
  Value* result = nullptr;
  for (std::int64_t part = 0; part < stride; ++part) {
    const std::int64_t first = std::min(part * lanes, range.elements - lanes) - range.before;
    Value* loaded = plain_load(state, access, advanced(state, index, first), access.type.lanes);
    // Lanes in this part come from it, the others from what was gathered so far.
    llvm::SmallVector<int, 16> order;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t at = lane * stride - first;
      const bool here = at >= 0 && at < lanes;
      order.push_back(static_cast<int>(here ? lanes + at : lane));
    }
    result = state.builder.CreateShuffleVector(result == nullptr ? llvm::PoisonValue::get(loaded->getType()) : result,
                                               loaded, order);
  }
  return result;
}

// Returns the minimum number of lanes that one gather instruction loads; 0 where there is none for this type.
std::uint32_t gathered_lanes(const Target& target, ir::Type type) {
  constexpr std::uint32_t kIndexBits = 64;
  const bool gathers = target.capabilities.gathers && dtype_bytes(type.code) >= 4;
  return gathers ? target.vector_bits / kIndexBits : 0;
}

Value* gather_piece(FunctionState& state, const Access& access, Value* indices, Value* mask) {
  const std::uint32_t lanes = llvm::cast<llvm::FixedVectorType>(indices->getType())->getNumElements();
  llvm::Type* type = memory_type(state.module, access.type.with_lanes(lanes));
  return marked(state, access,
                state.builder.CreateMaskedGather(type, address(state, access, indices), element_alignment(access), mask,
                                                 llvm::Constant::getNullValue(type)));
}

// Returns these lanes of the vector, padded with zeros to a power of two of at least two lanes.
Value* padded_piece(FunctionState& state, Value* vector, std::uint32_t at, std::uint32_t count) {
  const auto lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  llvm::SmallVector<int, 16> order = counting(at, count);
  order.resize(std::bit_ceil(std::max(count, 2U)), lanes);
  return state.builder.CreateShuffleVector(vector, llvm::Constant::getNullValue(vector->getType()), order);
}

}  // namespace

Value* load_one(FunctionState& state, const Access& access, Value* index) {
  return plain_load(state, access, index, 1);
}

Value* load_consecutive(FunctionState& state, const Access& access, Value* index, Value* mask) {
  if (mask == nullptr) return plain_load(state, access, index, access.type.lanes);
  llvm::Type* type = memory_type(state.module, access.type);
  return marked(state, access,
                state.builder.CreateMaskedLoad(type, address(state, access, index), element_alignment(access), mask,
                                               llvm::Constant::getNullValue(type)));
}

Value* load_strided(FunctionState& state, const Access& access, Value* index, std::int64_t stride,
                    const InterleavedRange* interleaved) {
  llvm::IRBuilder<>& b = state.builder;
  const std::uint32_t lanes = access.type.lanes;
  if (stride == 0) return b.CreateVectorSplat(lanes, load_one(state, access, index));
  if (stride < 0 && stride >= -kMaxShuffledStride) {
    Value* lowest = advanced(state, index, stride * (static_cast<std::int64_t>(lanes) - 1));
    Value* ascending = stride == -1 ? plain_load(state, access, lowest, lanes)
                                    : load_shuffled(state, access, lowest, -stride, interleaved);
    return reversed(state, ascending, lanes);
  }
  if (stride > 0 && stride <= kMaxShuffledStride) return load_shuffled(state, access, index, stride, interleaved);
  Value* result = llvm::PoisonValue::get(memory_type(state.module, access.type));
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Value* element = load_one(state, access, advanced(state, index, stride * lane));
    result = b.CreateInsertElement(result, element, std::uint64_t{lane});
  }
  return result;
}

// x86 raises an exception for a gather whose destination is the register of its indices. LLVM 19 keeps the two apart
// only where the indices are defined, and when it widens an odd number of lanes, it creates instructions in which no
// lane is defined. Therefore each instruction gets at least one real lane: the pieces have a power of two lanes, the
// last one padded with zeros that the mask disables.
Value* gather(FunctionState& state, const Access& access, Value* indices, Value* mask) {
  const std::uint32_t lanes = access.type.lanes, least = gathered_lanes(state.module.target, access.type);
  if (least == 0 || std::has_single_bit(lanes)) return gather_piece(state, access, indices, mask);
  llvm::IRBuilder<>& b = state.builder;
  Value* result = llvm::PoisonValue::get(memory_type(state.module, access.type));
  for (std::uint32_t at = 0; at < lanes;) {
    const std::uint32_t left = lanes - at, count = left < least ? left : std::bit_floor(left);
    Value* piece = nullptr;
    if (count == 1 && mask == nullptr) {
      piece = load_one(state, access, b.CreateExtractElement(indices, std::uint64_t{at}));
    } else {
      Value* all =
          mask == nullptr ? llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b.getInt1Ty(), lanes)) : mask;
      piece = gather_piece(state, access, padded_piece(state, indices, at, count), padded_piece(state, all, at, count));
    }
    result = with_piece(state, result, lanes, piece, at, count);
    at += count;
  }
  return result;
}

void store_one(FunctionState& state, const Access& access, Value* index, Value* value) {
  plain_store(state, access, index, value);
}

void store_consecutive(FunctionState& state, const Access& access, Value* index, Value* value, Value* mask) {
  if (mask == nullptr) return store_one(state, access, index, value);
  marked(state, access,
         state.builder.CreateMaskedStore(value, address(state, access, index), element_alignment(access), mask));
}

void store_strided(FunctionState& state, const Access& access, Value* index, std::int64_t stride, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const std::uint32_t lanes = access.type.lanes;
  if (stride == -1) {
    Value* lowest = advanced(state, index, 1 - static_cast<std::int64_t>(lanes));
    return store_one(state, access, lowest, reversed(state, value, lanes));
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    store_one(state, access, advanced(state, index, stride * lane), b.CreateExtractElement(value, std::uint64_t{lane}));
  }
}

void scatter(FunctionState& state, const Access& access, Value* indices, Value* value, Value* mask) {
  marked(state, access,
         state.builder.CreateMaskedScatter(value, address(state, access, indices), element_alignment(access), mask));
}

}  // namespace ferry::codegen
