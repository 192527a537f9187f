// Lists ended leases, sessions, health checks, and what people did, all of which the database keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "farm/api/farm.h"
#include "farm/tracker/answer.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/database.h"

namespace ferry::farm {

class PastListings {
 public:
  // Both must outlive this object.
  PastListings(const BoardRegistry& boards, Database& database) : boards_(boards), database_(database) {}
  PastListings(const PastListings&) = delete;
  PastListings& operator=(const PastListings&) = delete;

  // Say no to roles that may not ask this.
#define FERRY_ANSWER(tag, request, reply, name, directions) \
  void answer(const Caller& caller, const wire::request& query, const Answer<wire::reply>& then);
  FERRY_FARM_PAST_LISTINGS(FERRY_ANSWER)
#undef FERRY_ANSWER

 private:
  wire::HistoryListing listing_of(const EndedLease& lease) const;
  // Nothing for an empty name; fails with not_found for a board that the farm does not have.
  Result<std::optional<BoardId>> find_filter(const std::string& name) const;
  Result<NumberedQuery> numbered_query(const std::string& board, std::uint64_t before, std::size_t limit) const;

  const BoardRegistry& boards_;
  Database& database_;
};

}  // namespace ferry::farm
