#include "farm/core/selector/board_name.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/printable.h"
#include "farm/core/selector/selector_names.h"

namespace ferry::farm {
namespace {

bool is_letter_or_digit(char one) {
  return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9');
}

bool may_stand_in_name(char one) { return is_letter_or_digit(one) || one == '-' || one == '_' || one == '.'; }

}  // namespace

Status check_board_name(std::string_view name) {
  const bool fits = !name.empty() && name.size() <= kMaxBoardName && std::ranges::all_of(name, may_stand_in_name);
  if (std::ranges::find(kDeviceKinds, name) != kDeviceKinds.end())
    return {ErrorCode::invalid_argument, "a board's name: expected another word than '" + std::string(name) +
                                             "', which selects boards that have such a device"};
  if (fits && is_letter_or_digit(name.front())) return {};
  return {ErrorCode::invalid_argument,
          format("a board's name: expected at most %zu letters, digits, '-', '_' and '.', the first a letter or digit, "
                 "got '%s'",
                 kMaxBoardName, printable(name.substr(0, kMaxBoardName)).c_str())};
}

}  // namespace ferry::farm
