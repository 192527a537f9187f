// The state of a board as people see it.
#pragma once

#include <string>
#include <string_view>

namespace ferry::farm {

// "away" for a board that is not connected and could be handed out if it were: that it was good says little then.
inline std::string shown_state(std::string_view state, bool is_connected) {
  const bool is_usable = state == "good" || state == "unknown" || state == "suspect";
  return std::string(is_usable && !is_connected ? "away" : state);
}

}  // namespace ferry::farm
