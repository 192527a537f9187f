// Reads JSON that anyone may have written.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace ferry::gate {

// Both throw an exception of the standard library or of nlohmann's that says what is wrong.

// Refuses keys that stand twice in an object, more than 64 keys, and values more than 16 levels deep.
nlohmann::ordered_json parse_limited_json(std::string_view text);

std::int64_t whole_number_of(const nlohmann::ordered_json& json, std::int64_t least, std::int64_t most);
// Accepts finite numbers of at least 0.
double amount_of(const nlohmann::ordered_json& json);

}  // namespace ferry::gate
