// Random indices into tensors that grow as far as these go.
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
  // Of a statement with these axes. Of `inputs`, those that hold integers may become indices themselves.
  IndexGenerator(Random& random, const std::vector<NamedAxis>& axes, std::deque<Tensor>& inputs)
      : random_(random), axes_(axes), inputs_(inputs) {}

  // `guard` gets the condition under which the index may be used, where it needs one; at most one index of an element
  // does.
  std::string index(Size& extent, std::size_t dimension, std::string& guard);

 private:
  std::string random_size();
  // An element of an input, modulo a number; empty when no input suits.
  std::string gathered(Size& extent, const NamedAxis& axis);

  Random& random_;
  const std::vector<NamedAxis>& axes_;
  std::deque<Tensor>& inputs_;
};

}  // namespace ferry::fuzz
