// The health checks of a board and the sessions that have ended on it. Both are read by pages, newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "farm/core/lease/ids.h"
#include "farm/core/schedule/clock.h"
#include "farm/protocol/lease/lease_terms.h"
#include "farm/store/history.h"

namespace ferry::farm {

// The measurements of a health check with one job.
struct HealthEntry {
  BoardId board{};
  Time at;
  std::string job;                         // "compute", for example
  std::uint64_t picoseconds = 0;           // the median; 0: it failed
  std::uint64_t baseline_picoseconds = 0;  // 0: there is none yet
  std::string verdict;                     // "passed", for example
  std::optional<std::int32_t> millidegrees = {};
  std::string text;  // for people

  FERRY_FIELDS((board), (at), (job), (picoseconds), (baseline_picoseconds), (verdict), (millidegrees), (text));
};

struct SessionEntry {
  BoardId board{};
  Time ended;
  Duration length{};
  LeaseId lease{};
  // Empty: not known. Then it is that of the lease with this epoch on the board, if that has ended already.
  std::string holder;
  std::string client;   // what it said of itself
  std::string failure;  // at most kMaxFailureBytes; empty: its client ended it
  lease::Epoch epoch = 0;

  FERRY_FIELDS((board), (ended, fields::Column{"at"}), (length), (lease), (holder), (client), (failure));
};

// Numbers increase in the order in which entries were added.
struct NumberedHealthEntry {
  std::uint64_t number = 0;
  HealthEntry entry;

  FERRY_FIELDS((number), (entry, fields::kNested));
};
struct NumberedSessionEntry {
  std::uint64_t number = 0;
  SessionEntry entry;

  FERRY_FIELDS((number), (entry, fields::kNested));
};

struct NumberedQuery {
  std::optional<BoardId> board = {};
  std::optional<std::uint64_t> before = {};  // the number of the last entry of the page before
  std::size_t limit = kMaxPage;              // at most kMaxPage
};

// A text that the store keeps for a board and does not read.
struct HealthState {
  BoardId board{};
  std::string state;

  FERRY_FIELDS((board), (state));
};

}  // namespace ferry::farm
