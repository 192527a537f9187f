// Prepares a tracker to schedule: takes over what the database keeps, and makes room for connections.
#pragma once

#include <cstddef>
#include <vector>

#include "farm/store/store.h"

namespace ferry::farm {

// Everything with which a tracker begins to schedule.
struct Takeover {
  TrackerTerm term{};
  Snapshot snapshot;
  std::vector<Credential> credentials;
  std::vector<HealthState> health;
  Time now;
};

// Takes the term. Fails with busy while another tracker of the database schedules.
Result<Takeover> take_over(Store& store);

// Raises the limit of open files as far as the system allows, and returns how many connections fit beside so many
// handshakes.
std::size_t allow_connections(std::size_t wanted, std::size_t handshakes);

}  // namespace ferry::farm
