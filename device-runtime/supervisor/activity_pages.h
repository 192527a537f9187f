// The memory that the supervisor shares with its sessions: one or two pages per session, with inaccessible memory
// between them. A kernel that writes beyond a tensor, from either side, hits the inaccessible memory first.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "device-runtime/session/state/activity.h"

namespace ferry::device {

class ActivityPages;

// The page of one session; returned to the pool by the destructor.
class ActivityPage {
 public:
  ActivityPage(ActivityPage&& other) noexcept;
  ActivityPage& operator=(ActivityPage&&) = delete;
  ~ActivityPage();

  Activity& activity() const;
  // In the session's own process: unmaps the pages of all other sessions. Returns false if the system refuses.
  bool keep_alone() const;
  // In a process that is no session: unmaps all pages. Returns false if the system refuses.
  bool forget() const;

 private:
  friend class ActivityPages;
  ActivityPage(ActivityPages& pages, std::size_t place) : pages_(&pages), place_(place) {}

  ActivityPages* pages_;
  std::size_t place_;
};

// Must outlive the pages that it has handed out.
class ActivityPages {
 public:
  explicit ActivityPages(std::size_t count);
  ActivityPages(const ActivityPages&) = delete;
  ActivityPages& operator=(const ActivityPages&) = delete;
  ~ActivityPages();

  // Returns fresh memory that no earlier session can access; fails with resource_exhausted if all pages are in use or
  // the system has no memory.
  Result<ActivityPage> take();

 private:
  friend class ActivityPage;
  char* page(std::size_t place) const { return base_ + guard_ + place * (body_ + guard_); }

  std::size_t guard_;
  std::size_t body_;
  std::size_t bytes_;
  char* base_;               // null if the system had no memory
  std::vector<char> taken_;  // 0 or 1; vector<bool> would need more code
};

}  // namespace ferry::device
