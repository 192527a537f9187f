#include "farm/core/lease/pools.h"

#include "farm/core/lease/boards.h"

namespace ferry::farm {

std::shared_ptr<const Pool> Pools::get(const Selector& selector, const Boards& boards) {
  const std::string text = to_text(selector);
  if (const auto found = pools_.find(text); found != pools_.end()) return found->second;
  if (pools_.size() >= kMostUnused)
    std::erase_if(pools_, [](const auto& entry) { return entry.second.use_count() == 1; });
  auto pool = std::make_shared<Pool>(Pool{selector, {}});
  for (std::uint32_t board = 0; board < boards.size(); ++board)
    if (matches(selector, boards.at(board).record.description)) pool->boards.set(board);
  pools_.emplace(text, pool);
  return pool;
}

void Pools::update(std::uint32_t board, const BoardDescription& description) {
  for (const auto& [text, pool] : pools_) pool->boards.set(board, matches(pool->selector, description));
}

}  // namespace ferry::farm
