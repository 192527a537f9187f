// Lists the boards, the leases, and the requests that wait, and sums them up.
#pragma once

#include <string>

#include "farm/api/farm.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/answer.h"
#include "farm/tracker/board_registry.h"

namespace ferry::farm {

class Listings {
 public:
  // Both must outlive this object.
  Listings(const ActiveScheduler& scheduler, const BoardRegistry& boards) : scheduler_(scheduler), boards_(boards) {}
  Listings(const Listings&) = delete;
  Listings& operator=(const Listings&) = delete;

  // All require that the tracker schedules.
#define FERRY_ANSWER(tag, request, reply, name, directions) \
  void answer(const Caller& caller, const wire::request& query, const Answer<wire::reply>& then) const;
  FERRY_FARM_LISTINGS(FERRY_ANSWER)
#undef FERRY_ANSWER
  // One board; not_found if there is none.
  Result<wire::DeviceListing> find_board(const std::string& name) const;

 private:
  wire::DeviceListing listing_of(const BoardView& board) const;

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
};

}  // namespace ferry::farm
