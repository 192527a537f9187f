// The memory that the supervisor shares with its sessions: a page or two each, and between them memory that nobody may
// touch. A kernel that runs over the end of a tensor meets that first, from either side.
#pragma once

#include <cstddef>
#include <vector>

#include "device-runtime/handlers/activity.h"
#include "rpc/base/status.h"

namespace ferry::device {

class ActivityPages;

// One session's; given back at the end.
class ActivityPage {
 public:
  ActivityPage(ActivityPage&& other) noexcept;
  ActivityPage& operator=(ActivityPage&&) = delete;
  ~ActivityPage();

  Activity& activity() const;
  // In the session's own process: unmaps what is shared with others. False when the system refuses.
  bool keep_alone() const;

 private:
  friend class ActivityPages;
  ActivityPage(ActivityPages& pages, std::size_t place) : pages_(&pages), place_(place) {}

  ActivityPages* pages_;
  std::size_t place_;
};

// Outlives the pages that it has given out.
class ActivityPages {
 public:
  explicit ActivityPages(std::size_t count);
  ActivityPages(const ActivityPages&) = delete;
  ActivityPages& operator=(const ActivityPages&) = delete;
  ~ActivityPages();

  // Fresh memory, which no earlier session can reach; resource_exhausted when all are given out or the system has none.
  Result<ActivityPage> take();

 private:
  friend class ActivityPage;
  char* page(std::size_t place) const { return base_ + guard_ + place * (body_ + guard_); }

  std::size_t guard_;
  std::size_t body_;
  std::size_t bytes_;
  char* base_;               // null when the system has no memory
  std::vector<char> taken_;  // 0 or 1; flags of one bit each take more code
};

}  // namespace ferry::device
