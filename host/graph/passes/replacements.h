// Tensors that take the place of others while a pass walks over a graph.
#pragma once

#include "host/graph/graph.h"

#include <map>

namespace ferry::graph {

class Replacements {
 public:
  // From now on `id` stands for `by`, which is written before it.
  void replace(TensorId id, TensorId by) { by_[id] = (*this)(by); }
  TensorId operator()(TensorId id) const {
    const auto found = by_.find(id);
    return found == by_.end() ? id : found->second;
  }
  void apply(std::vector<TensorId>& ids) const {
    for (TensorId& id : ids) id = (*this)(id);
  }

 private:
  std::map<TensorId, TensorId> by_;
};

}  // namespace ferry::graph
