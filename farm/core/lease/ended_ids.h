// Whose the requests were that have ended lately. Clients choose the ids of their requests, and what is kept of a lease
// after its end, such as its relays and the reports of its sessions, names it by its id: nobody else uses that again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "farm/core/lease/ids.h"

namespace ferry::farm {

class EndedIds {
 public:
  // `holder` is his number in State::holders.
  void add(LeaseId id, std::uint32_t holder);
  // Whether it was the id of a request of somebody else.
  bool is_of_other(LeaseId id, std::uint32_t holder) const;

  // The oldest are forgotten.
  static constexpr std::size_t kMost = 65'536;

 private:
  std::unordered_map<LeaseId, std::uint32_t> holders_;
  std::deque<LeaseId> order_;
};

}  // namespace ferry::farm
