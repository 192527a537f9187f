#include "crosscompile/codegen/llvm/strided.h"

#include "crosscompile/codegen/llvm/streaming.h"
#include "crosscompile/codegen/llvm/types.h"

#include <bit>

namespace ferry::codegen {
namespace {

using llvm::Value;

// Beyond this many elements apart a vector load brings in too few of the lanes it is for.
constexpr std::int64_t kMaxShuffledStride = 4;

llvm::Align element_alignment(const Place& place) { return llvm::Align(dtype_bytes(place.type.code)); }

// Scalars or a vector of indices. On 32-bit machines addresses need the low half alone, and so does the arithmetic
// before.
Value* address(FunctionState& state, const Place& place, Value* index) {
  llvm::IRBuilder<>& b = state.builder;
  if (state.module.target.pointer_bits == 32) {
    llvm::Type* narrow = llvm::Type::getInt32Ty(state.context());
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(index->getType())) {
      narrow = llvm::FixedVectorType::get(narrow, vector->getNumElements());
    }
    index = b.CreateTrunc(index, narrow);
  }
  return b.CreateInBoundsGEP(memory_type(state.module, place.type.element()), place.first, index);
}

Value* advanced(FunctionState& state, Value* index, std::int64_t by) {
  return by == 0 ? index : state.builder.CreateAdd(index, state.builder.getInt64(static_cast<std::uint64_t>(by)));
}

Value* marked(FunctionState& state, const Place& place, llvm::Instruction* access) {
  state.aliases.mark(access, place.buffer);
  return access;
}

Value* load_power_of_two(FunctionState& state, const Place& place, Value* index, std::uint32_t lanes) {
  llvm::Type* type = memory_type(state.module, place.type.with_lanes(lanes));
  return marked(state, place,
                state.builder.CreateAlignedLoad(type, address(state, place, index), element_alignment(place)));
}

llvm::SmallVector<int, 16> counting(std::uint32_t first, std::uint32_t lanes) {
  llvm::SmallVector<int, 16> order;
  for (std::uint32_t i = 0; i < lanes; ++i) order.push_back(static_cast<int>(first + i));
  return order;
}

// Other numbers of lanes are taken apart into powers of two, largest first: LLVM would read or write beyond them on
// some targets and gets three bytes wrong on AArch64.
template <class Piece>
void for_each_piece(std::uint32_t lanes, Piece piece) {
  for (std::uint32_t at = 0; at < lanes;) {
    const std::uint32_t count = std::bit_floor(lanes - at);
    piece(at, count);
    at += count;
  }
}

Value* plain_load(FunctionState& state, const Place& place, Value* index, std::uint32_t lanes) {
  if (std::has_single_bit(lanes)) return load_power_of_two(state, place, index, lanes);
  llvm::IRBuilder<>& b = state.builder;
  Value* result = llvm::PoisonValue::get(memory_type(state.module, place.type.with_lanes(lanes)));
  for_each_piece(lanes, [&](std::uint32_t at, std::uint32_t count) {
    Value* piece = load_power_of_two(state, place, advanced(state, index, at), count);
    if (count == 1) {
      result = b.CreateInsertElement(result, piece, std::uint64_t{at});
      return;
    }
    // As wide as the result, then lane by lane from the one or the other.
    llvm::SmallVector<int, 16> widened = counting(0, count);
    widened.resize(lanes, llvm::PoisonMaskElem);
    llvm::SmallVector<int, 16> order = counting(0, lanes);
    for (std::uint32_t i = 0; i < count; ++i) order[at + i] = static_cast<int>(lanes + i);
    result = b.CreateShuffleVector(result, b.CreateShuffleVector(piece, widened), order);
  });
  return result;
}

void plain_store(FunctionState& state, const Place& place, Value* index, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const auto store = [&](Value* to, Value* what) {
    llvm::StoreInst* made = b.CreateAlignedStore(what, address(state, place, to), element_alignment(place));
    if (place.buffer->streams) mark_streaming(made);
    marked(state, place, made);
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

// The span of all lanes in `stride` whole vectors, the last of them moved back so that it ends with the last lane and
// nothing beyond is read; then two at a time shuffled together.
Value* load_shuffled(FunctionState& state, const Place& place, Value* index, std::int64_t stride) {
  const auto lanes = static_cast<std::int64_t>(place.type.lanes);
  const std::int64_t span = stride * (lanes - 1) + 1;
  Value* result = nullptr;
  for (std::int64_t part = 0; part < stride; ++part) {
    const std::int64_t first = std::min(part * lanes, span - lanes);
    Value* loaded = plain_load(state, place, advanced(state, index, first), place.type.lanes);
    // Lanes that this part holds come from it, the others from what was gathered so far.
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

}  // namespace

Value* load_one(FunctionState& state, const Place& place, Value* index) { return plain_load(state, place, index, 1); }

Value* load_consecutive(FunctionState& state, const Place& place, Value* index, Value* mask) {
  if (mask == nullptr) return plain_load(state, place, index, place.type.lanes);
  llvm::Type* type = memory_type(state.module, place.type);
  return marked(state, place,
                state.builder.CreateMaskedLoad(type, address(state, place, index), element_alignment(place), mask,
                                               llvm::Constant::getNullValue(type)));
}

Value* load_strided(FunctionState& state, const Place& place, Value* index, std::int64_t stride) {
  llvm::IRBuilder<>& b = state.builder;
  const std::uint32_t lanes = place.type.lanes;
  if (stride == 0) return b.CreateVectorSplat(lanes, load_one(state, place, index));
  if (stride < 0 && stride >= -kMaxShuffledStride) {
    Value* lowest = advanced(state, index, stride * (static_cast<std::int64_t>(lanes) - 1));
    Value* ascending =
        stride == -1 ? plain_load(state, place, lowest, lanes) : load_shuffled(state, place, lowest, -stride);
    return reversed(state, ascending, lanes);
  }
  if (stride > 0 && stride <= kMaxShuffledStride) return load_shuffled(state, place, index, stride);
  Value* result = llvm::PoisonValue::get(memory_type(state.module, place.type));
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Value* element = load_one(state, place, advanced(state, index, stride * lane));
    result = b.CreateInsertElement(result, element, std::uint64_t{lane});
  }
  return result;
}

Value* gather(FunctionState& state, const Place& place, Value* indices, Value* mask) {
  llvm::Type* type = memory_type(state.module, place.type);
  return marked(state, place,
                state.builder.CreateMaskedGather(type, address(state, place, indices), element_alignment(place), mask,
                                                 llvm::Constant::getNullValue(type)));
}

void store_one(FunctionState& state, const Place& place, Value* index, Value* value) {
  plain_store(state, place, index, value);
}

void store_consecutive(FunctionState& state, const Place& place, Value* index, Value* value, Value* mask) {
  if (mask == nullptr) return store_one(state, place, index, value);
  marked(state, place,
         state.builder.CreateMaskedStore(value, address(state, place, index), element_alignment(place), mask));
}

void store_strided(FunctionState& state, const Place& place, Value* index, std::int64_t stride, Value* value) {
  llvm::IRBuilder<>& b = state.builder;
  const std::uint32_t lanes = place.type.lanes;
  if (stride == -1) {
    Value* lowest = advanced(state, index, 1 - static_cast<std::int64_t>(lanes));
    return store_one(state, place, lowest, reversed(state, value, lanes));
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    store_one(state, place, advanced(state, index, stride * lane), b.CreateExtractElement(value, std::uint64_t{lane}));
  }
}

void scatter(FunctionState& state, const Place& place, Value* indices, Value* value, Value* mask) {
  marked(state, place,
         state.builder.CreateMaskedScatter(value, address(state, place, indices), element_alignment(place), mask));
}

}  // namespace ferry::codegen
