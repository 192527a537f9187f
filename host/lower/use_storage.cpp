#include "host/lower/use_storage.h"

#include <vector>

namespace ferry::lower {

UseStorage::UseStorage(const Nests& nests) {
  for (const Nest& nest : nests)
    for (std::size_t i = 0; i < nest.storage.size(); ++i) storage_[nest.stage->outputs[i].get()] = &nest.storage[i];
  for (const Nest& nest : nests)
    if (nest.stage->sequence != nullptr) storage_[nest.stage->sequence->self.get()] = &nest.storage[0];
}

Expr UseStorage::mutate_node(const ir::Load& node, const Expr& self) {
  const auto found = storage_.find(node.buffer.get());
  if (found == storage_.end()) return Mutator::mutate_node(node, self);
  std::vector<Expr> point;
  for (const Expr& index : node.indices) point.push_back(mutate(index));
  return ir::Load::make(found->second->buffer, found->second->indices(point));
}

}  // namespace ferry::lower
