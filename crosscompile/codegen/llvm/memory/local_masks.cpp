#include "crosscompile/codegen/llvm/memory/local_masks.h"

#include <algorithm>

#include "crosscompile/ir/visitor.h"

namespace ferry::codegen {
namespace {

using llvm::Value;

// Finds the last lane of all vectors at constant places in a buffer.
struct LastLane : ir::Visitor {
  explicit LastLane(const ir::Buffer& of) : buffer(of) {}

  const ir::Buffer& buffer;
  std::uint64_t elements = 0;

  using ir::Visitor::visit_node;
  void visit_node(const ir::Load& node) override {
    note(*node.buffer, node.indices);
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Store& node) override {
    note(*node.buffer, node.indices);
    ir::Visitor::visit_node(node);
  }

  void note(const ir::Buffer& accessed, const std::vector<ir::Expr>& indices) {
    if (&accessed != &buffer || indices.size() != 1) return;
    const auto* ramp = indices[0].as<ir::Ramp>();
    const std::int64_t* base = ramp == nullptr ? nullptr : ir::as_int(ramp->base);
    const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
    if (base == nullptr || stride == nullptr || *base < 0 || *stride != 1) return;
    elements = std::max(elements, static_cast<std::uint64_t>(*base) + indices[0].type().lanes);
  }
};

}  // namespace

std::uint64_t elements_of_whole_vectors(const ir::Allocate& node, std::uint64_t elements) {
  LastLane last(*node.buffer);
  last.visit(node.body);
  // A vector that begins behind the array is in code that does not run.
  constexpr std::uint64_t kMostLanes = 64;
  return std::clamp(last.elements, elements, elements + kMostLanes);
}

bool has_all_lanes(const FunctionState& state, const Access& access, const ir::Expr& base) {
  const auto found = state.local_elements.find(access.buffer);
  const std::int64_t* first = ir::as_int(base);
  return found != state.local_elements.end() && first != nullptr && *first >= 0 &&
         static_cast<std::uint64_t>(*first) + access.type.lanes <= found->second;
}

Value* load_selected(FunctionState& state, const Access& access, Value* index, Value* mask) {
  Value* loaded = load_consecutive(state, access, index, nullptr);
  return state.builder.CreateSelect(mask, loaded, llvm::Constant::getNullValue(loaded->getType()));
}

void store_selected(FunctionState& state, const Access& access, Value* index, Value* value, Value* mask) {
  Value* before = load_consecutive(state, access, index, nullptr);
  store_one(state, access, index, state.builder.CreateSelect(mask, value, before));
}

}  // namespace ferry::codegen
