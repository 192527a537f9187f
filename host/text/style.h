// Colours on a terminal, and its width.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace ferry::text {

enum class UseColor : std::uint8_t { automatic, always, never };
enum class Color : std::uint8_t { red, green, yellow };

// Decides for everything that this process prints later. Automatic, the default: on a terminal, unless NO_COLOR is set
// to anything (no-color.org) or TERM is "dumb".
void use_color(UseColor when);
bool has_color(FILE* stream);

// Returns the text, in this colour if the stream has colours.
std::string painted(FILE* stream, Color color, const std::string& text);

// Number of columns of the terminal on standard output; 0 if it is none.
std::size_t terminal_width();

// Breaks lines at spaces so that they have at most `width` columns where a space allows it; 0: as they are.
std::string wrapped(const std::string& text, std::size_t width);

// Print "ferry: ..." on standard error, after everything that was printed on standard output before. The text may quote
// a file, an argument or another program.
void print_error(const std::string& text);
void print_note(const std::string& text);

}  // namespace ferry::text
