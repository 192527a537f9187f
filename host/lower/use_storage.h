// Reads of a stage's results as reads of the memory that holds them.
#pragma once

#include "crosscompile/ir/mutator.h"
#include "host/lower/nest.h"

#include <unordered_map>

namespace ferry::lower {

// Replaces reads of tensors by reads of their storage.
class UseStorage : public ir::Mutator {
 public:
  explicit UseStorage(const Nests& nests);

 protected:
  Expr mutate_node(const ir::Load& node, const Expr& self) override;
  using Mutator::mutate_node;

 private:
  std::unordered_map<const ir::Buffer*, const Storage*> storage_;
};

}  // namespace ferry::lower
