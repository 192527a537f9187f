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

// Returns the first characters of a valid text, as many as fit into this many bytes.
std::string_view utf8_prefix(std::string_view text, std::size_t most);

}  // namespace ferry
