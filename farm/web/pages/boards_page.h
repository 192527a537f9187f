// The page of all boards.
#pragma once

#include <string>

#include "farm/web/pages/page.h"

namespace ferry::farm::http {

struct BoardsView {
  std::string selector;  // as the viewer typed it; empty: all boards
  wire::DevicePage boards;
  wire::QueuePage queue;
  std::string failure;  // why the selector is refused; empty: it is not
};

std::string write_boards_page(const Viewer& viewer, const BoardsView& view);

}  // namespace ferry::farm::http
