// The scheduler of a tracker, which has one only while it schedules.
#pragma once

#include <memory>
#include <utility>

#include "farm/tracker/scheduler.h"

namespace ferry::farm {

class ActiveScheduler {
 public:
  ActiveScheduler() = default;
  ActiveScheduler(const ActiveScheduler&) = delete;
  ActiveScheduler& operator=(const ActiveScheduler&) = delete;

  // Whether the tracker schedules. What follows but handle() and begin() requires that.
  explicit operator bool() const { return scheduler_ != nullptr; }
  Scheduler* operator->() const { return scheduler_.get(); }
  const LeaseMachine& machine() const { return scheduler_->machine(); }
  Time now() const { return scheduler_->now(); }

  // An event that happens while the tracker stands by is dropped.
  void handle(const Event& event) const {
    if (scheduler_) scheduler_->handle(event);
  }

  void begin(std::unique_ptr<Scheduler> scheduler) { scheduler_ = std::move(scheduler); }
  // Returns the scheduler because it may be what calls this, and must live until it has returned.
  std::unique_ptr<Scheduler> end() { return std::move(scheduler_); }

 private:
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace ferry::farm
