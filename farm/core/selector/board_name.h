// Names of boards. They stand in selectors, commands, files and pages, and are harmless in all of them.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace ferry::farm {

inline constexpr std::size_t kMaxBoardName = 64;

// Fails with invalid_argument unless the name has letters, digits, '-', '_' and '.' alone, the first a letter or digit,
// and selectors have no other meaning for it.
Status check_board_name(std::string_view name);

}  // namespace ferry::farm
