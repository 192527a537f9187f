// The places of cases on the HTML page.
#pragma once

#include <cstddef>
#include <string>

namespace ferry::gate {

// Takes the index of the result in the report, because names may be anything.
inline std::string anchor_of(std::size_t index) { return "case-" + std::to_string(index + 1); }

}  // namespace ferry::gate
