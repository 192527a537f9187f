#include "crosscompile/codegen/llvm/memory.h"

#include "crosscompile/codegen/llvm/expressions.h"
#include "crosscompile/codegen/llvm/strided.h"
#include "crosscompile/codegen/llvm/types.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

const ir::Expr& flat_index(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices) {
  if (indices.size() == 1) return indices[0];
  throw InternalError("'" + buffer.name + "' is indexed by " + std::to_string(indices.size()) +
                      " expressions; flatten must stand before code generation");
}

// The whole lanes' mask: the node's own and that of the IfThenElse around it. Null: every lane.
Value* mask_of(FunctionState& state, const ir::Expr& mask) {
  if (!mask.defined()) return state.lane_mask;
  Value* own = emit_expr(state, mask);
  return state.lane_mask == nullptr ? own : state.builder.CreateAnd(own, state.lane_mask);
}

// A condition that holds in all lanes or in none.
const ir::Expr* uniform(const FunctionState& state, const ir::Expr& mask) {
  if (!mask.defined() || state.lane_mask != nullptr) return nullptr;
  if (mask.type().is_scalar()) return &mask;
  const auto* broadcast = mask.as<ir::Broadcast>();
  return broadcast == nullptr ? nullptr : &broadcast->value;
}

Place place_of(FunctionState& state, const ir::BufferRef& buffer, ir::Type type) {
  const auto found = state.buffers.find(buffer.get());
  if (found == state.buffers.end()) throw InternalError("'" + buffer->name + "' is used where it does not exist");
  return {buffer.get(), found->second, type};
}

Value* load_vector(FunctionState& state, const Place& place, const ir::Expr& index, const ir::Expr& mask) {
  llvm::IRBuilder<>& b = state.builder;
  if (const auto* broadcast = index.as<ir::Broadcast>(); broadcast != nullptr && !mask.defined()) {
    if (state.lane_mask == nullptr) {
      return b.CreateVectorSplat(place.type.lanes, load_one(state, place, emit_expr(state, broadcast->value)));
    }
  }
  Value* lanes = mask_of(state, mask);
  const auto* ramp = index.as<ir::Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
  if (stride != nullptr && *stride == 1) return load_consecutive(state, place, emit_expr(state, ramp->base), lanes);
  if (stride != nullptr && lanes == nullptr) return load_strided(state, place, emit_expr(state, ramp->base), *stride);
  return gather(state, place, emit_expr(state, index), lanes);
}

void store_vector(FunctionState& state, const Place& place, const ir::Expr& index, Value* value, Value* mask) {
  const auto* ramp = index.as<ir::Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
  if (stride != nullptr && *stride == 1) {
    store_consecutive(state, place, emit_expr(state, ramp->base), value, mask);
  } else if (stride != nullptr && *stride != 0 && mask == nullptr) {
    store_strided(state, place, emit_expr(state, ramp->base), *stride, value);
  } else {
    scatter(state, place, emit_expr(state, index), value, mask);
  }
}

}  // namespace

Value* emit_load(FunctionState& state, const ir::Load& node) {
  const Place place = place_of(state, node.buffer, node.type);
  const ir::Expr& index = flat_index(*node.buffer, node.indices);
  const auto load = [&](const ir::Expr& mask) {
    Value* value = node.type.is_scalar() ? load_one(state, place, emit_expr(state, index))
                                         : load_vector(state, place, index, mask);
    return from_memory(state, node.type, value);
  };
  const ir::Expr* condition = uniform(state, node.mask);
  if (condition == nullptr) return load(node.mask);
  Value* zero = llvm::Constant::getNullValue(register_type(state.module, node.type));
  return emit_guarded(state, emit_expr(state, *condition), zero, [&] { return load({}); });
}

void emit_prefetch(FunctionState& state, const ir::Load& node) {
  if (!node.type.is_scalar()) return;
  constexpr std::uint32_t kRead = 0, kKeepClose = 3, kData = 1;
  llvm::IRBuilder<>& b = state.builder;
  const Place place = place_of(state, node.buffer, node.type);
  Value* index = emit_expr(state, flat_index(*node.buffer, node.indices));
  Value* address = b.CreateGEP(memory_type(state.module, node.type), place.first, index);
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                    {address, b.getInt32(kRead), b.getInt32(kKeepClose), b.getInt32(kData)});
}

void emit_store(FunctionState& state, const ir::Store& node) {
  const ir::Type type = node.value.type();
  const Place place = place_of(state, node.buffer, type);
  const ir::Expr& index = flat_index(*node.buffer, node.indices);
  const ir::Expr* condition = uniform(state, node.mask);
  llvm::BasicBlock* after = nullptr;
  if (condition != nullptr) {
    llvm::BasicBlock* store_block = state.new_block("store");
    after = state.new_block("store.end");
    state.builder.CreateCondBr(emit_expr(state, *condition), store_block, after);
    state.builder.SetInsertPoint(store_block);
  }
  Value* mask = condition != nullptr ? nullptr : mask_of(state, node.mask);
  Value* value = to_memory(state, type, emit_expr(state, node.value));
  if (type.is_scalar()) {
    store_one(state, place, emit_expr(state, index), value);
  } else {
    store_vector(state, place, index, value, mask);
  }
  if (after == nullptr) return;
  state.builder.CreateBr(after);
  state.builder.SetInsertPoint(after);
}

}  // namespace ferry::codegen
