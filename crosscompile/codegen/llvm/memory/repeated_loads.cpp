#include "crosscompile/codegen/llvm/memory/repeated_loads.h"

#include "crosscompile/codegen/llvm/expr/expressions.h"
#include "crosscompile/codegen/llvm/expr/pieces.h"
#include "crosscompile/codegen/llvm/expr/types.h"
#include "crosscompile/codegen/llvm/memory/index_base.h"
#include "crosscompile/codegen/llvm/memory/memory.h"
#include "crosscompile/ir/extern_call.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/visitor.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace ferry::codegen {
namespace {

using llvm::Value;

constexpr std::int64_t kRegisterBytes = 16, kHalfRegister = 8;

std::int64_t group_bytes(const ir::Load& node, const Repeated& repeat) {
  return repeat.group * static_cast<std::int64_t>(dtype_bytes(node.type.code));
}

// Whether lanes of a register are broadcast, or are factors of others, as on NEON.
bool multiplies_by_lanes(const Target& target) {
  return target.capabilities.neon_pairs || target.capabilities.neon_pairs_32bit;
}

// A load, and how far its group is from the base that it shares with others.
struct RepeatedMember {
  const ir::Load* load;
  std::int64_t offset;
};

// Whether instructions multiply by lanes of this size, as they are in memory.
bool may_be_lane(const ir::Load& node) {
  return node.type.is_scalar() && !node.mask.defined() && node.indices.size() == 1 && dtype_bytes(node.type.code) >= 4;
}

// Loads of groups of one size that differ only in the offset.
struct Family {
  analysis::Polynomial base;
  const ir::Buffer* buffer;
  std::int64_t group;
  std::vector<RepeatedMember> members;
};

// Collects the factors of dots, and the elements that are broadcast, which every execution of a statement loads.
class RepeatedLoads : public ir::Visitor {
 public:
  explicit RepeatedLoads(const Target& target) : multiplies_by_elements_(target.capabilities.neon_pairs) {}
  std::vector<Family> families;

 protected:
  using Visitor::visit_node;
  void visit_node(const ir::Load& node) override {
    if (node.mask.defined() || node.indices.size() != 1) return;
    const auto repeat = repeated(node.indices[0]);
    if (repeat && is_one_number(node, *repeat)) note(node, *repeat);
  }
  void visit_node(const ir::Broadcast& node) override {
    const auto* load = node.value.as<ir::Load>();
    if (multiplies_by_elements_ && load != nullptr && may_be_lane(*load)) return note(*load, {load->indices[0], 1});
    Visitor::visit_node(node);
  }
  void visit_node(const ir::IfThenElse&) override {}
  void visit_node(const ir::Let&) override {}
  void visit_node(const ir::Call& node) override {
    if (ir::addressed(node) == nullptr) Visitor::visit_node(node);
  }

 private:
  void note(const ir::Load& node, const Repeated& repeat) {
    const std::optional<IndexBase> index = split_index(atoms_, repeat.first);
    if (!index) return;
    for (Family& family : families)
      if (family.buffer == node.buffer.get() && family.group == repeat.group && family.base == index->base)
        return family.members.push_back({&node, index->offset});
    families.push_back({index->base, node.buffer.get(), repeat.group, {{&node, index->offset}}});
  }

  const bool multiplies_by_elements_;  // 32-bit ARM's fused multiply-add takes no lane
  analysis::Atoms atoms_;
};

// Divides the elements from the first group to the last one into registers. The last register is moved back so that it
// ends with them, as long as groups are whole lanes of it.
void share(FunctionState& state, Family& family) {
  const auto bytes = static_cast<std::int64_t>(dtype_bytes(family.buffer->dtype));
  std::ranges::stable_sort(family.members, {}, &RepeatedMember::offset);
  const std::int64_t end = family.members.back().offset + family.group;
  for (std::size_t i = 0; i < family.members.size();) {
    const std::int64_t first = family.members[i].offset;
    const std::int64_t rest = (end - first) * bytes;
    if (end - family.members.front().offset < kHalfRegister / bytes) return;
    const bool fits = (end - family.members.front().offset) * bytes >= kRegisterBytes;
    const std::int64_t elements = (fits && rest > kHalfRegister ? kRegisterBytes : kHalfRegister) / bytes;
    const std::int64_t start = std::min(first, end - elements);
    std::size_t last = i;
    while (last < family.members.size() && family.members[last].offset + family.group <= start + elements) ++last;
    const bool is_alone = family.members[last - 1].offset == first;
    for (; i < last; ++i) {
      const std::int64_t before = family.members[i].offset - start;
      if (!is_alone && before % family.group == 0) state.repeated_loads[family.members[i].load] = {before, elements};
    }
  }
}

Value* first_index(FunctionState& state, const Repeated& repeat) {
  return repeat.first.defined() ? emit_index(state, repeat.first) : state.builder.getInt64(0);
}

// Returns the group as one number of this type, a lane of a register that it shares; null if it shares none.
Value* load_shared(FunctionState& state, const Access& access, const Repeated& repeat, const ir::Load& node,
                   llvm::Type* number) {
  llvm::IRBuilder<>& b = state.builder;
  const auto shared = state.repeated_loads.find(&node);
  if (shared == state.repeated_loads.end()) return nullptr;
  const auto [before, elements] = shared->second;
  const Access all{access.buffer, access.first, access.type.with_lanes(static_cast<std::uint32_t>(elements))};
  Value* start = b.CreateSub(first_index(state, repeat), b.getInt64(static_cast<std::uint64_t>(before)));
  auto* lanes = llvm::FixedVectorType::get(number, static_cast<unsigned>(elements / repeat.group));
  Value* loaded = b.CreateBitCast(load_consecutive(state, all, start, nullptr), lanes);
  return b.CreateExtractElement(loaded, static_cast<std::uint64_t>(before / repeat.group));
}

// Repeats a group for all lanes of the type. NEON multiplies by a lane of a register, but LLVM finds that in a splat of
// one register alone.
Value* splat(FunctionState& state, Value* whole, const Repeated& repeat, const ir::Type& type) {
  const auto group = static_cast<std::uint32_t>(repeat.group);
  const std::int64_t bytes = repeat.group * static_cast<std::int64_t>(dtype_bytes(type.code));
  const auto in_register = static_cast<std::uint32_t>(kRegisterBytes / bytes) * group;
  const bool is_wider = multiplies_by_lanes(state.module.target) && type.lanes > in_register;
  const ir::Type part = type.with_lanes(is_wider ? in_register : type.lanes);
  Value* all = state.builder.CreateVectorSplat(part.lanes / group, whole);
  all = state.builder.CreateBitCast(all, memory_type(state.module, part));
  const llvm::SmallVector<Value*, 4> parts((type.lanes + part.lanes - 1) / part.lanes, all);
  return joined(state, parts, type.lanes);
}

}  // namespace

std::optional<Repeated> repeated(const ir::Expr& index) {
  const auto* sum = index.as<ir::Binary>();
  if (sum == nullptr) return std::nullopt;
  if (sum->op == ir::BinaryOp::add) {
    const bool swapped = sum->left.as<ir::Broadcast>() != nullptr;
    const auto* first = (swapped ? sum->left : sum->right).as<ir::Broadcast>();
    auto rest = repeated(swapped ? sum->right : sum->left);
    if (first == nullptr || !rest.has_value() || rest->first.defined()) return std::nullopt;
    return Repeated{first->value, rest->group};
  }
  const auto* ramp = sum->left.as<ir::Ramp>();
  const std::int64_t* group = ir::as_int(sum->right);
  if (sum->op != ir::BinaryOp::mod || ramp == nullptr || group == nullptr || *group <= 0) return std::nullopt;
  if (!ir::is_constant(ramp->base, 0) || !ir::is_constant(ramp->stride, 1)) return std::nullopt;
  return index.type().lanes % *group == 0 ? std::optional(Repeated{{}, *group}) : std::nullopt;
}

bool is_one_number(const ir::Load& node, const Repeated& repeat) {
  const std::int64_t bytes = group_bytes(node, repeat);
  return repeat.group > 1 && (bytes == 2 || bytes == 4 || bytes == 8);
}

Value* load_repeated(FunctionState& state, const Access& access, const Repeated& repeat, const ir::Load& node) {
  llvm::IRBuilder<>& b = state.builder;
  const auto group = static_cast<std::uint32_t>(repeat.group);
  llvm::Type* number = b.getIntNTy(static_cast<unsigned>(group_bytes(node, repeat)) * 8);
  Value* whole = load_shared(state, access, repeat, node, number);
  if (whole == nullptr) {
    const Access one{access.buffer, access.first, access.type.with_lanes(group)};
    whole = b.CreateBitCast(load_consecutive(state, one, first_index(state, repeat), nullptr), number);
  }
  return splat(state, whole, repeat, access.type);
}

Value* load_broadcast(FunctionState& state, const ir::Broadcast& node) {
  const auto* load = node.value.as<ir::Load>();
  if (load == nullptr || !state.repeated_loads.contains(load)) return nullptr;
  const ir::Expr& index = load->indices[0];
  const Access access = access_to(state, load->buffer, load->type);
  Value* element = load_shared(state, access, {index, 1}, *load, memory_type(state.module, load->type));
  return from_memory(state, node.type, splat(state, element, {index, 1}, node.type));
}

void find_repeated_loads(FunctionState& state, std::span<const ir::Stmt> statements, std::size_t count) {
  state.repeated_loads.clear();
  // Other vector units broadcast elements from memory at no cost.
  if (!multiplies_by_lanes(state.module.target)) return;
  RepeatedLoads loads(state.module.target);
  for (const ir::Stmt& stmt : statements.first(count))
    if (const auto* store = stmt.as<ir::Store>(); store != nullptr && !store->mask.defined()) loads.visit(store->value);
  for (Family& family : loads.families) share(state, family);
}

}  // namespace ferry::codegen
