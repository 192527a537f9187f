#include "farm/core/lease/claims.h"

#include <string_view>
#include <utility>

namespace ferry::farm {

std::vector<std::string> remove_foreign_names(const Boards& boards, const Board& board, BoardDescription& description) {
  const auto is_foreign = [&](const std::string& word) {
    const Board* const owner = boards.find(std::string_view(word));
    return owner != nullptr && owner->index != board.index;
  };
  std::vector<std::string> removed;
  if (is_foreign(description.model)) removed.push_back(std::exchange(description.model, {}));
  std::erase_if(description.tags, [&](const auto& tag) {
    if (!is_foreign(tag.first)) return false;
    removed.push_back(tag.first);
    return true;
  });
  return removed;
}

}  // namespace ferry::farm
