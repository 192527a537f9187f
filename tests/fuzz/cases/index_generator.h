// Generates random indices into tensors, whose extents grow to contain them.
#pragma once

#include "tests/fuzz/cases/random.h"
#include "tests/fuzz/cases/size.h"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace ferry::fuzz {

class IndexGenerator {
 public:
  // Generates indices for a statement with these axes. Those of `inputs` that hold integers may be used as indices
  // themselves.
  IndexGenerator(Random& random, const std::vector<NamedAxis>& axes, std::deque<Tensor>& inputs)
      : random_(random), axes_(axes), inputs_(inputs) {}

  // Returns an index. `guard` receives the condition under which the index may be used, if it needs one; at most one
  // index of an element does.
  std::string index(Size& extent, std::size_t dimension, std::string& guard);

 private:
  std::string random_size();
  // Returns an element of an input modulo a number; empty if no input is suitable.
  std::string gathered(Size& extent, const NamedAxis& axis);

  Random& random_;
  const std::vector<NamedAxis>& axes_;
  std::deque<Tensor>& inputs_;
};

}  // namespace ferry::fuzz
