// The request of a client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "farm/core/lease/ids.h"
#include "farm/core/schedule/clock.h"
#include "farm/core/selector/selector.h"

namespace ferry::farm {

enum class LeaseKind : std::uint8_t {
  attached,  // ends with the client's connection
  reserved,  // ends at its time or when it is released
};

struct Request {
  LeaseId id{};
  std::string holder;
  std::vector<Selector> slots;  // a board for each
  std::uint32_t priority = 0;   // 0 to 100
  Duration length{};            // the lease's
  Duration wait{};              // for how long at most to wait for it
  LeaseKind kind = LeaseKind::attached;
  bool is_health_check = false;  // may also get boards whose state is unknown or suspect
  std::string job = {};          // what it is for, in its client's words

  FERRY_FIELDS((id), (holder), (slots), (priority), (length), (wait), (kind), (is_health_check), (job));
};

}  // namespace ferry::farm
