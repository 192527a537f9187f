// The page of one board.
#pragma once

#include <string>

#include "base/status.h"
#include "farm/web/pages/page.h"

namespace ferry::farm::http {

struct BoardView {
  wire::DeviceListing board;
  wire::QueuePage queue;
  Result<wire::HealthPage> health;
  Result<wire::SessionPage> sessions;
  Result<wire::HistoryPage> leases;  // leases that have ended
};

std::string write_board_page(const Viewer& viewer, const BoardView& view);

}  // namespace ferry::farm::http
