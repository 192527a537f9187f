#include "host/lower/inliner.h"

#include "crosscompile/ir/substitute.h"

namespace ferry::lower {

using namespace ir;

void Inliner::inline_as(const BufferRef& buffer, std::vector<Axis> axes, Expr value) {
  inlined_[buffer.get()] = {std::move(axes), std::move(value)};
}

Expr Inliner::mutate_node(const Load& node, const Expr& self) {
  const auto found = inlined_.find(node.buffer.get());
  if (found == inlined_.end()) return Mutator::mutate_node(node, self);
  Substitution indices;
  for (std::size_t i = 0; i < node.indices.size(); ++i)
    indices[found->second.axes[i].var.get()] = mutate(node.indices[i]);
  return substitute(found->second.value, indices);
}

}  // namespace ferry::lower
