// The output of --json: one object with keys in insertion order.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

namespace ferry::text {

using Json = nlohmann::ordered_json;

// Returns the text with two spaces of indentation, a field of an object a line, and a list of plain values on one line
// if it fits into kJsonWidth; a longer list of numbers is filled up to that width, other lists have an entry a line.
// Invalid UTF-8 is replaced.
inline constexpr std::size_t kJsonWidth = 100;
std::string json_text(const Json& json);

// Prints this text and a final newline.
void print_json(const Json& json);

}  // namespace ferry::text
