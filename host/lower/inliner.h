// Replaces reads of inlined stages by their values.
#pragma once

#include "crosscompile/ir/mutator.h"

#include <unordered_map>
#include <vector>

namespace ferry::lower {

class Inliner : public ir::Mutator {
 public:
  // From now on reads of `buffer` become `value` with the axes replaced by the indices. Stages inlined earlier must
  // already be inlined in `value`.
  void inline_as(const ir::BufferRef& buffer, std::vector<ir::Axis> axes, ir::Expr value);

 protected:
  ir::Expr mutate_node(const ir::Load& node, const ir::Expr& self) override;
  using ir::Mutator::mutate_node;

 private:
  struct Inlined {
    std::vector<ir::Axis> axes;
    ir::Expr value;
  };
  std::unordered_map<const ir::Buffer*, Inlined> inlined_;
};

}  // namespace ferry::lower
