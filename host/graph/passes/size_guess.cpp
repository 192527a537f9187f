#include "host/graph/passes/size_guess.h"

#include <algorithm>
#include <utility>

namespace ferry::graph {
namespace {

constexpr std::int64_t kUnknown = 16, kBatch = 1, kImageSide = 224;

}  // namespace

SizeGuess::SizeGuess(const Graph& graph, std::map<std::string, std::int64_t> expected) : numbers_(std::move(expected)) {
  const auto add = [&](const Size& size, std::int64_t number) {
    // Only a size that is a symbol by itself tells its number.
    const std::vector<std::string> symbols = size.symbols();
    if (symbols.size() == 1 && size == Size::symbol(symbols[0])) numbers_.emplace(symbols[0], number);
  };
  for (const TensorId input : graph.inputs) {
    const Shape& shape = graph.tensor(input).shape;
    if (shape.size() != 4 || !shape[1].constant()) continue;
    add(shape[2], kImageSide);
    add(shape[3], kImageSide);
    add(shape[0], kBatch);
  }
}

std::int64_t SizeGuess::number(const Size& size) const {
  if (const std::optional<std::int64_t> constant = size.constant()) return std::max<std::int64_t>(*constant, 1);
  const std::vector<std::string> names = size.symbols();
  std::vector<std::int64_t> values;
  for (const std::string& name : names) {
    const auto known = numbers_.find(name);
    values.push_back(known == numbers_.end() ? kUnknown : known->second);
  }
  const Result<std::int64_t> value = evaluate(to_manifest(size, names), values);
  return value.is_ok() ? std::max<std::int64_t>(value.value(), 1) : 1;
}

}  // namespace ferry::graph
