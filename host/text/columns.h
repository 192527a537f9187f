// Tables, for people and for other programs.
#pragma once

#include <string>
#include <vector>

namespace ferry::text {

// The first row has the names of the columns. All rows have as many entries as the first.
using Rows = std::vector<std::vector<std::string>>;

// Returns lines with aligned columns. If they are wider than `width`, the widest columns become narrower and their
// entries go on in further lines; 0: as wide as they are.
std::string columns_text(const Rows& rows, std::size_t width = 0, const std::string& indent = "");

// Returns the rows without the columns in which every row but the first says nothing: it is empty or a dash there.
Rows without_blank_columns(const Rows& rows);

// Prints columns_text(), as wide as the terminal.
void print_columns(const Rows& rows, const std::string& indent = "");

// Returns comma-separated values (RFC 4180, with line feeds alone). Entries that need them have quotes.
std::string csv_text(const Rows& rows);

}  // namespace ferry::text
