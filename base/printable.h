// Makes text from elsewhere safe to show. Names, messages and prints from a client, a server, a kernel or a file may
// contain characters that move a terminal's cursor, set its title or imitate output of this program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ferry {

// The treatment of the strings of a message while it is decoded.
enum class Strings : std::uint8_t { as_sent, printable };

// Returns the text as one line. An escape sequence such as \n or \x1b replaces every control character, line feed and
// tab included, every character that changes the direction of what follows it or breaks a line, and every byte that is
// not valid UTF-8. All else is unchanged, backslashes too, so the result is for people and cannot be converted back.
std::string printable(std::string_view text);

// Like printable(), but keeps line feeds and tabs, for text that may have several lines.
std::string printable_lines(std::string_view text);

}  // namespace ferry
