// The boards that match each selector in use. They are kept up to date as boards change, because matching thousands of
// boards takes longer than a scheduler may think about a request.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "farm/core/schedule/board_set.h"
#include "farm/core/selector/selector.h"

namespace ferry::farm {

struct Pool {
  Selector selector;
  BoardSet boards;
};

class Boards;

class Pools {
 public:
  std::shared_ptr<const Pool> get(const Selector& selector, const Boards& boards);
  // The description of a board has changed, or the board is new.
  void update(std::uint32_t board, const BoardDescription& description);

 private:
  // Pools that no request uses are kept up to this number, for the next request with the same selector.
  static constexpr std::size_t kMostUnused = 256;

  std::map<std::string, std::shared_ptr<Pool>> pools_;  // by canonical text
};

}  // namespace ferry::farm
