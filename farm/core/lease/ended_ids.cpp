#include "farm/core/lease/ended_ids.h"

namespace ferry::farm {

void EndedIds::add(LeaseId id, std::uint32_t holder) {
  if (!holders_.emplace(id, holder).second) return;
  order_.push_back(id);
  if (order_.size() <= kMost) return;
  holders_.erase(order_.front());
  order_.pop_front();
}

bool EndedIds::is_of_other(LeaseId id, std::uint32_t holder) const {
  const auto found = holders_.find(id);
  return found != holders_.end() && found->second != holder;
}

}  // namespace ferry::farm
