// The columns that hold lists, as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "farm/core/selector/selector.h"

namespace ferry::farm {

// Fails with invalid_argument if a text is not UTF-8.
Result<std::string> description_text(const BoardDescription& description);
// Fails with device_error if the text is damaged.
Result<BoardDescription> parse_description(const std::string& text);

// Each as the function above.
Result<std::string> tags_text(const std::map<std::string, std::string>& tags);
Result<std::map<std::string, std::string>> parse_tags(const std::string& text);

// An array of the terms of each selector. Terms stay in their order, and the limit on the length of a selector's text
// does not apply to them together: the canonical text of a selector may be longer than the one that it was parsed from.
Result<std::string> slots_text(const std::vector<Selector>& slots);
Result<std::vector<Selector>> parse_slots(const std::string& text);

}  // namespace ferry::farm
