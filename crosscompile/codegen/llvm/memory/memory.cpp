#include "crosscompile/codegen/llvm/memory/memory.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/local_masks.h"
#include "crosscompile/codegen/llvm/memory/repeated_loads.h"
#include "crosscompile/codegen/llvm/memory/strided.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

const ir::Expr& flat_index(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices) {
  if (indices.size() == 1) return indices[0];
  throw InternalError("'" + buffer.name + "' is indexed by " + std::to_string(indices.size()) +
                      " expressions; flatten must stand before code generation");
}

// Returns the low bits of a sum or product, which need only those of its operands. Constants and everything else are
// truncated.
Value* emit_low_bits(FunctionState& state, const ir::Expr& index, llvm::Type* type) {
  llvm::IRBuilder<>& b = state.builder;
  if (const auto* node = index.as<ir::Binary>();
      node != nullptr &&
      (node->op == ir::BinaryOp::add || node->op == ir::BinaryOp::sub || node->op == ir::BinaryOp::mul)) {
    Value* left = emit_low_bits(state, node->left, type);
    Value* right = emit_low_bits(state, node->right, type);
    if (node->op == ir::BinaryOp::add) return b.CreateAdd(left, right);
    return node->op == ir::BinaryOp::sub ? b.CreateSub(left, right) : b.CreateMul(left, right);
  }
  return b.CreateTrunc(emit_expr(state, index), type);
}

// Returns the node's own mask combined with that of the enclosing IfThenElse. Null: every lane.
Value* mask_of(FunctionState& state, const ir::Expr& mask) {
  if (!mask.defined()) return state.lane_mask;
  Value* own = emit_expr(state, mask);
  return state.lane_mask == nullptr ? own : state.builder.CreateAnd(own, state.lane_mask);
}

// Returns a condition that holds in all lanes or in none, if the mask is one.
const ir::Expr* uniform(const FunctionState& state, const ir::Expr& mask) {
  if (!mask.defined() || state.lane_mask != nullptr) return nullptr;
  if (mask.type().is_scalar()) return &mask;
  const auto* broadcast = mask.as<ir::Broadcast>();
  return broadcast == nullptr ? nullptr : &broadcast->value;
}

// Returns the range that the load shares with others, or null.
const InterleavedRange* interleaved_range(const FunctionState& state, const ir::Load& node) {
  const auto found = state.interleaved_loads.find(&node);
  return found == state.interleaved_loads.end() ? nullptr : &found->second;
}

Value* load_vector(FunctionState& state, const Access& access, const ir::Load& node, const ir::Expr& mask) {
  const ir::Expr& index = node.indices[0];
  llvm::IRBuilder<>& b = state.builder;
  if (const auto* broadcast = index.as<ir::Broadcast>(); broadcast != nullptr && !mask.defined()) {
    if (state.lane_mask == nullptr) {
      return b.CreateVectorSplat(access.type.lanes, load_one(state, access, emit_index(state, broadcast->value)));
    }
  }
  Value* lanes = mask_of(state, mask);
  const auto* ramp = index.as<ir::Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
  if (stride != nullptr && *stride == 1 && lanes != nullptr && has_all_lanes(state, access, ramp->base))
    return load_selected(state, access, emit_index(state, ramp->base), lanes);
  if (stride != nullptr && *stride == 1) return load_consecutive(state, access, emit_index(state, ramp->base), lanes);
  if (stride != nullptr && lanes == nullptr)
    return load_strided(state, access, emit_index(state, ramp->base), *stride, interleaved_range(state, node));
  if (const auto repeat = repeated(index); repeat.has_value() && lanes == nullptr && is_one_number(node, *repeat))
    return load_repeated(state, access, *repeat, node);
  return gather(state, access, emit_expr(state, index), lanes);
}

void store_vector(FunctionState& state, const Access& access, const ir::Expr& index, Value* value, Value* mask) {
  const auto* ramp = index.as<ir::Ramp>();
  const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
  if (stride != nullptr && *stride == 1 && mask != nullptr && has_all_lanes(state, access, ramp->base)) {
    store_selected(state, access, emit_index(state, ramp->base), value, mask);
  } else if (stride != nullptr && *stride == 1) {
    store_consecutive(state, access, emit_index(state, ramp->base), value, mask);
  } else if (stride != nullptr && *stride != 0 && mask == nullptr) {
    store_strided(state, access, emit_index(state, ramp->base), *stride, value);
  } else {
    scatter(state, access, emit_expr(state, index), value, mask);
  }
}

}  // namespace

Access access_to(FunctionState& state, const ir::BufferRef& buffer, ir::Type type) {
  const auto found = state.buffers.find(buffer.get());
  if (found == state.buffers.end()) throw InternalError("'" + buffer->name + "' is used where it does not exist");
  return {buffer.get(), found->second, type};
}

Value* emit_index(FunctionState& state, const ir::Expr& index) {
  llvm::Type* type = state.module.module.getDataLayout().getIndexType(state.module.context, 0);
  if (type->getIntegerBitWidth() >= 64) return emit_expr(state, index);
  return state.builder.CreateSExt(emit_low_bits(state, index, type), state.builder.getInt64Ty());
}

Value* emit_load(FunctionState& state, const ir::Load& node) {
  const Access access = access_to(state, node.buffer, node.type);
  const ir::Expr& index = flat_index(*node.buffer, node.indices);
  const auto load = [&](const ir::Expr& mask) {
    Value* value = node.type.is_scalar() ? load_one(state, access, emit_index(state, index))
                                         : load_vector(state, access, node, mask);
    return from_memory(state, node.type, value);
  };
  const ir::Expr* condition = uniform(state, node.mask);
  if (condition == nullptr) return load(node.mask);
  Value* zero = llvm::Constant::getNullValue(register_type(state.module, node.type));
  return emit_guarded(state, emit_expr(state, *condition), zero, [&] { return load({}); });
}

Value* emit_address(FunctionState& state, const ir::Load& node) {
  const Access access = access_to(state, node.buffer, node.type);
  Value* index = emit_index(state, flat_index(*node.buffer, node.indices));
  return state.builder.CreateGEP(memory_type(state.module, node.type), access.first, index);
}

void emit_prefetch(FunctionState& state, const ir::Load& node) {
  if (!node.type.is_scalar() || state.module.is_nvptx()) return;
  constexpr std::uint32_t kRead = 0, kKeepClose = 3, kData = 1;
  llvm::IRBuilder<>& b = state.builder;
  Value* address = emit_address(state, node);
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                    {address, b.getInt32(kRead), b.getInt32(kKeepClose), b.getInt32(kData)});
}

void emit_store(FunctionState& state, const ir::Store& node) {
  const llvm::DebugLoc around = state.builder.getCurrentDebugLocation();
  state.builder.SetCurrentDebugLocation(state.module.lines.of_store(state.source, *node.buffer, state.function));
  const ir::Type type = node.value.type();
  const Access access = access_to(state, node.buffer, type);
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
    store_one(state, access, emit_index(state, index), value);
  } else {
    store_vector(state, access, index, value, mask);
  }
  if (after != nullptr) {
    state.builder.CreateBr(after);
    state.builder.SetInsertPoint(after);
  }
  state.builder.SetCurrentDebugLocation(around);
}

}  // namespace ferry::codegen
