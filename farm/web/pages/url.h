// URLs as they are written into links and as they arrive in requests.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferry::farm::http {

// Parameters of a query or of a form, decoded, in their order.
using Parameters = std::vector<std::pair<std::string, std::string>>;

// Escapes all but letters, digits and "-._~".
std::string percent_encode(std::string_view text);
// Returns nothing if an escape is incomplete or stands for a zero byte. In queries and forms '+' is a space.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space);

// Returns "PATH?NAME=VALUE&...", without the parameters whose values are empty. The path is a literal.
std::string link(std::string_view path,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

// Parses "NAME=VALUE&...". Returns nothing for an invalid escape or more than `limit` parameters.
std::optional<Parameters> parse_parameters(std::string_view text, std::size_t limit);
// Returns the first value of a name, empty if there is none.
const std::string& parameter(const Parameters& parameters, std::string_view name);

// Parses a decimal number that fits; nothing otherwise.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace ferry::farm::http
