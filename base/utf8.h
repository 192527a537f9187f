// UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferry {

// Returns the length of the first character of the text and sets its code point; returns 0 if it is not valid.
// Requires that the text is not empty.
std::size_t decode_utf8(std::string_view text, std::uint32_t& code);

bool is_utf8(std::string_view text);

}  // namespace ferry
