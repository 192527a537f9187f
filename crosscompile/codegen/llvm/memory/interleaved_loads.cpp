#include "crosscompile/codegen/llvm/memory/interleaved_loads.h"

#include "crosscompile/codegen/llvm/memory/index_base.h"
#include "crosscompile/codegen/llvm/memory/strided.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace ferry::codegen {
namespace {

// A load of lanes `stride` elements apart, the lowest of which is `offset` elements after the group's base.
struct Member {
  const ir::Load* load;
  std::int64_t offset;
};

// Loads that differ only in the offset.
struct Group {
  analysis::Polynomial base;
  const ir::Buffer* buffer;
  std::int64_t stride;  // positive
  std::uint32_t lanes;
  std::vector<Member> members;
};

// Collects the loads that every execution of a statement performs. The body of a let is left out, since its variable
// has a value only there, and so are indices that depend on memory, which may change between statements.
class CertainLoads : public ir::Visitor {
 public:
  std::vector<Group> groups;

 protected:
  void visit_node(const ir::Load& node) override {
    if (node.mask.defined()) return;
    note(node);
    Visitor::visit_node(node);
  }
  void visit_node(const ir::IfThenElse& node) override { visit(node.condition); }
  void visit_node(const ir::Let& node) override { visit(node.value); }
  void visit_node(const ir::Call& node) override {
    if (ir::addressed(node) == nullptr) Visitor::visit_node(node);
  }
  using Visitor::visit_node;

 private:
  void note(const ir::Load& node) {
    const auto* ramp = node.indices.size() == 1 ? node.indices[0].as<ir::Ramp>() : nullptr;
    const std::int64_t* stride = ramp == nullptr ? nullptr : ir::as_int(ramp->stride);
    if (stride == nullptr || *stride < -kMaxShuffledStride || *stride > kMaxShuffledStride) return;
    const std::int64_t apart = *stride < 0 ? -*stride : *stride;
    const std::optional<IndexBase> index = split_index(atoms_, ramp->base);
    if (apart < 2 || !index) return;
    const std::uint32_t lanes = node.type.lanes;
    const std::int64_t lowest = index->offset + (*stride < 0 ? *stride * (std::int64_t{lanes} - 1) : 0);
    for (Group& group : groups) {
      if (group.buffer != node.buffer.get() || group.stride != apart || group.lanes != lanes) continue;
      if (group.base == index->base) return group.members.push_back({&node, lowest});
    }
    groups.push_back({index->base, node.buffer.get(), apart, lanes, {{&node, lowest}}});
  }

  analysis::Atoms atoms_;
};

// Members whose offsets differ by less than the stride have interleaved lanes: they share a range.
void share(FunctionState& state, Group& group) {
  std::stable_sort(group.members.begin(), group.members.end(),
                   [](const Member& a, const Member& b) { return a.offset < b.offset; });
  for (auto first = group.members.begin(), end = first; first != group.members.end(); first = end) {
    end = std::find_if(first, group.members.end(),
                       [&](const Member& member) { return member.offset - first->offset >= group.stride; });
    const std::int64_t width = std::prev(end)->offset - first->offset;
    if (width == 0) continue;
    const std::int64_t elements = width + group.stride * (std::int64_t{group.lanes} - 1) + 1;
    for (auto member = first; member != end; ++member)
      state.interleaved_loads[member->load] = {member->offset - first->offset, elements};
  }
}

}  // namespace

std::size_t find_interleaved_loads(FunctionState& state, std::span<const ir::Stmt> statements) {
  state.interleaved_loads.clear();
  CertainLoads loads;
  std::size_t count = 0;
  for (; count < statements.size(); ++count) {
    const auto* store = statements[count].as<ir::Store>();
    if (store == nullptr) break;
    // A masked store computes its value only where the mask holds.
    if (!store->mask.defined()) loads.visit(store->value);
  }
  for (Group& group : loads.groups) share(state, group);
  return count;
}

}  // namespace ferry::codegen
