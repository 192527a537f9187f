// Text from elsewhere, made safe to show. Names, messages and prints that come from a client, a server, a kernel or a
// file may hold what moves a terminal's cursor, sets its title, or looks like a line that this program wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ferry {

// What becomes of the strings of a message while it is decoded.
enum class Strings : std::uint8_t { as_sent, printable };

// As one line: every control character, line feed and tab included, every character that changes the direction of what
// follows it or breaks a line, and every byte that is no UTF-8 becomes a sequence such as \n or \x1b. All else stays
// as it is; a backslash too, so the result is for people and cannot be turned back.
std::string printable(std::string_view text);

// The same with line feeds and tabs kept: for what may have several lines.
std::string printable_lines(std::string_view text);

}  // namespace ferry
