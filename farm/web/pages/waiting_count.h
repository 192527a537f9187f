// How many waiting requests a board could serve.
#pragma once

#include <string>
#include <vector>

#include "farm/core/selector/selector.h"
#include "farm/protocol/queries.h"

namespace ferry::farm::http {

class WaitingCount {
 public:
  explicit WaitingCount(const wire::QueuePage& queue);
  // "3", or "100+" where the queue goes on after the page.
  std::string of(const wire::DeviceListing& board) const;

 private:
  std::vector<std::vector<Selector>> requests_;  // a selector for each slot
  bool has_more_ = false;
};

}  // namespace ferry::farm::http
