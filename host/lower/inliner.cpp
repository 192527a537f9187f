#include "host/lower/inliner.h"

#include "crosscompile/ir/substitute.h"

namespace ferry::lower {

using namespace ir;

void Inliner::inline_as(const BufferRef& buffer, std::vector<Axis> axes, Expr value) {
  inlined_[buffer.get()] = {std::move(axes), std::move(value)};
}

void Inliner::store_as(const BufferRef& buffer, BufferRef storage) { storage_[buffer.get()] = std::move(storage); }

BufferRef Inliner::mutate_buffer(const BufferRef& buffer) {
  const auto found = storage_.find(buffer.get());
  return found == storage_.end() ? buffer : found->second;
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
