// Leases that have ended, and the log of what people did to the farm. Both are read by pages, newest first: the next
// page starts before the last entry of the one before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "farm/core/lease/records.h"

namespace ferry::farm {

inline constexpr std::size_t kMaxPage = 1000;

// A request that is over, with or without a lease.
struct EndedLease {
  Request request;
  Time submitted;
  std::optional<Time> start;     // nothing: it never got boards
  std::vector<LeasePart> parts;  // one for each slot
  Time ended;
  EndReason reason = EndReason::released;
  std::string text;

  FERRY_FIELDS((request, fields::kNested), (submitted), (start, fields::Column{"starts"}), (ended), (reason), (text));
};

struct HistoryPosition {
  Time ended;
  LeaseId id{};
};

struct HistoryQuery {
  std::optional<BoardId> board = {};
  std::optional<std::string> holder = {};
  std::optional<Time> from = {};
  std::optional<Time> until = {};              // excluded
  std::optional<HistoryPosition> before = {};  // the last of the page before
  std::size_t limit = kMaxPage;                // at most kMaxPage
};

struct AuditEntry {
  Time at;
  std::string actor;   // the label of a credential, or where an unknown one came from
  std::string action;  // "retire", for example
  std::optional<BoardId> board = {};
  std::string text;

  FERRY_FIELDS((at), (actor), (action), (board), (text));
};

// Numbers increase in the order in which entries were added.
struct NumberedAuditEntry {
  std::uint64_t number = 0;
  AuditEntry entry;

  FERRY_FIELDS((number), (entry, fields::kNested));
};

struct AuditQuery {
  std::optional<BoardId> board = {};
  std::optional<std::string> actor = {};
  std::optional<Time> from = {};
  std::optional<Time> until = {};            // excluded
  std::optional<std::uint64_t> before = {};  // the number of the last entry of the page before
  std::size_t limit = kMaxPage;              // at most kMaxPage
};

}  // namespace ferry::farm
