// Hears at once when a tracker of a shared database takes the right to schedule or gives it up. This is a hint and no
// more: trackers also ask the database every second, so one that hears nothing is late by that second at most.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::farm {

class ChangeWatch {
 public:
  // Calls `on_change` on a thread of its own, also when nothing has changed: after its connection was made anew, for
  // example, because then something may have been missed.
  ChangeWatch(std::string uri, std::function<void()> on_change);
  ~ChangeWatch();
  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;

 private:
  void loop();
  // Returns when the connection is lost or this object ends.
  Status listen();
  // Waits for input. Returns false as soon as this object ends.
  bool wait(int socket) const;

  const std::string uri_;
  const std::function<void()> on_change_;
  Descriptor end_;  // readable: this object ends
  std::thread thread_;
};

}  // namespace ferry::farm
