#include "crosscompile/passes/gpu/reduction_tree.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/shuffle.h"
#include "crosscompile/passes/loops/fresh_copy.h"
#include "ferry/operators.h"

#include <algorithm>
#include <bit>

namespace ferry::passes {
namespace {

using namespace ir;

class Redirection : public Mutator {
 public:
  std::unordered_map<const Buffer*, const Element*> elements;

 protected:
  using Mutator::mutate_node;
  Expr mutate_node(const Load& node, const Expr& self) override {
    const auto found = elements.find(node.buffer.get());
    return found == elements.end() ? Mutator::mutate_node(node, self) : found->second->load();
  }
  Stmt mutate_node(const Store& node, const Stmt& self) override {
    const auto found = elements.find(node.buffer.get());
    if (found == elements.end()) return Mutator::mutate_node(node, self);
    return Store::make(found->second->buffer, found->second->indices, mutate(node.value));
  }
};

BufferRef like(const Buffer& buffer, const std::string& ending, Scope scope, std::vector<Expr> shape) {
  auto made = std::make_shared<Buffer>();
  made->name = buffer.name + ending;
  made->dtype = buffer.dtype;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

std::int64_t power_of_two_from(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(number)));
}

bool is_power_of_two(std::int64_t number) { return std::has_single_bit(static_cast<std::uint64_t>(number)); }

std::int64_t log2(std::int64_t power_of_two) { return std::countr_zero(static_cast<std::uint64_t>(power_of_two)); }

Stmt copies(const Elements& to, const Elements& from) {
  std::vector<Stmt> stores;
  for (std::size_t i = 0; i < to.size(); ++i)
    stores.push_back(Store::make(to[i].buffer, to[i].indices, from[i].load()));
  return Block::make(std::move(stores));
}

// One array per component, with `columns` elements per group.
struct Arrays {
  std::vector<BufferRef> buffers;
  const ThreadGroup& group;

  Arrays(const ThreadGroup& of, const Elements& own, const std::string& ending, std::int64_t columns) : group(of) {
    std::vector<Expr> shape = {Expr(columns)};
    if (group.groups > 1) shape.insert(shape.begin(), Expr(group.groups));
    for (const Element& element : own) buffers.push_back(like(*element.buffer, ending, Scope::shared, shape));
  }
  Elements at(const Expr& column) const {
    std::vector<Expr> indices = {column};
    if (group.groups > 1) indices.insert(indices.begin(), group.group);
    Elements elements;
    for (const BufferRef& buffer : buffers) elements.push_back({buffer, indices});
    return elements;
  }
};

// Combines over `width` threads, a power of two, whose numbers start at a multiple of it; afterwards each thread has
// the result. With a limit, only threads below it contribute, and only the first thread has the result.
Stmt butterfly(const Combiner& combiner, const Elements& own, const Elements& other, std::int64_t width,
               const Expr& number, std::int64_t limit = 0) {
  const Expr halving = Var::make("halving");
  const Expr distance = Expr(width / 2) >> halving;
  std::vector<Stmt> body;
  for (std::size_t i = 0; i < own.size(); ++i)
    body.push_back(make_shuffle_xor(other[i].buffer, other[i].indices, own[i].load(), distance));
  Stmt both = combiner.apply(own, other);
  if (limit != 0) both = If::make(number + distance < Expr(limit), std::move(both));
  body.push_back(std::move(both));
  return For::make(halving, Expr(0), Expr(log2(width)), ForKind::unrolled, Block::make(std::move(body)));
}

}  // namespace

Stmt Combiner::apply(const Elements& left, const Elements& right) const {
  Redirection redirection;
  for (std::size_t i = 0; i < left.size(); ++i) {
    redirection.elements[into_[i]] = &left[i];
    redirection.elements[from_[i]] = &right[i];
  }
  return fresh_copy(redirection.mutate(body_));
}

CombineSteps shuffle_steps(const Combiner& combiner, const ThreadGroup& group, const Elements& own) {
  CombineSteps result;
  result.result = own;
  if (group.size == 1) return result;
  Elements other;
  for (const Element& element : own) {
    result.local.push_back(like(*element.buffer, "_other", Scope::local, {}));
    other.push_back({result.local.back(), {}});
  }
  const bool is_whole = group.size <= kWarp ? is_power_of_two(group.size) : group.size % kWarp == 0;
  const std::int64_t width = std::min(kWarp, power_of_two_from(group.size));
  result.steps.push_back(butterfly(combiner, own, other, width, group.member, is_whole ? 0 : group.size));
  if (is_whole && group.size <= kWarp) return result;

  const std::int64_t warps = (group.size + kWarp - 1) / kWarp;
  const Arrays of_warps(group, own, "_warps", warps);
  result.shared = of_warps.buffers;
  result.steps.push_back(
      If::make(group.member % Expr(kWarp) == Expr(0), copies(of_warps.at(group.member / Expr(kWarp)), own)));
  // Across the warps, the partners of the last warp's threads exist only where its threads make up whole groups.
  if (warps > 1 && is_power_of_two(warps) && group.size % warps == 0) {
    result.steps.push_back(copies(own, of_warps.at(group.member % Expr(warps))));
    result.steps.push_back(butterfly(combiner, own, other, warps, group.member));
  } else {
    result.steps.push_back(copies(own, of_warps.at(Expr(0))));
    const Expr warp = Var::make("warp");
    result.steps.push_back(
        For::make(warp, Expr(1), Expr(warps - 1), ForKind::serial, combiner.apply(own, of_warps.at(warp))));
  }
  return result;
}

CombineSteps tree_steps(const Combiner& combiner, const ThreadGroup& group, const Elements& own) {
  CombineSteps result;
  result.result = own;
  if (group.size == 1) return result;
  const Arrays all(group, own, "_all", group.size);
  result.shared = all.buffers;
  result.steps.push_back(copies(all.at(group.member), own));
  const std::int64_t half = power_of_two_from(group.size) / 2;
  const Expr halving = Var::make("halving");
  const Expr distance = Expr(half) >> halving;
  Expr has_partner = group.member < distance;
  if (half * 2 != group.size) has_partner = has_partner && group.member + distance < Expr(group.size);
  result.steps.push_back(
      For::make(halving, Expr(0), Expr(log2(half) + 1), ForKind::unrolled,
                If::make(has_partner, combiner.apply(all.at(group.member), all.at(group.member + distance)))));
  result.result = all.at(Expr(0));
  return result;
}

}  // namespace ferry::passes
