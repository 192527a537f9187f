// What a board must not say of itself. A word in a selector matches the names, models and tags of boards, so a board
// whose model or tag is the name of another one would be handed out in its place.
#pragma once

#include <string>
#include <vector>

#include "farm/core/lease/boards.h"

namespace ferry::farm {

// Removes the model and the tags of `description`, which is that of `board`, that are names of other boards, and
// returns them.
std::vector<std::string> remove_foreign_names(const Boards& boards, const Board& board, BoardDescription& description);

}  // namespace ferry::farm
