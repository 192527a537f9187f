// The numbers that estimates take for open sizes.
#pragma once

#include "host/graph/graph.h"

#include <cstdint>
#include <map>
#include <string>

namespace ferry::graph {

// Sizes that calls are expected to have, and guesses of all others.
class SizeGuess {
 public:
  SizeGuess() = default;  // knows of none
  // Takes the height and width of an input that is an image, [N, C, H, W], for 224, and its batch for 1.
  SizeGuess(const Graph& graph, std::map<std::string, std::int64_t> expected);

  // Returns the size with the numbers of its symbols, at least 1: 16 for those of which nothing is known.
  std::int64_t number(const Size& size) const;
  double operator()(const Size& size) const { return static_cast<double>(number(size)); }

 private:
  std::map<std::string, std::int64_t> numbers_;
};

}  // namespace ferry::graph
