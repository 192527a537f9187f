#include "host/gate/store/json_limits.h"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferry::gate {

namespace {

constexpr std::size_t kDeepest = 16, kMostKeys = 64;

[[noreturn]] void refuse_json(const std::string& why) { throw std::invalid_argument(why); }

}  // namespace

nlohmann::ordered_json parse_limited_json(std::string_view text) {
  using Event = nlohmann::ordered_json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // those of the objects and lists that are open
  return nlohmann::ordered_json::parse(text, [&](int, Event event, nlohmann::ordered_json& value) {
    switch (event) {
      case Event::object_start:
      case Event::array_start:
        keys.emplace_back();
        if (keys.size() > kDeepest) {
          refuse_json("expected at most " + std::to_string(kDeepest) + " levels of values, got more");
        }
        break;
      case Event::object_end:
      case Event::array_end: keys.pop_back(); break;
      case Event::key: {
        const auto& key = value.get_ref<const std::string&>();
        if (!keys.back().insert(key).second) refuse_json("expected each key once, got \"" + key + "\" again");
        if (keys.back().size() > kMostKeys) {
          refuse_json("expected at most " + std::to_string(kMostKeys) + " keys, got more");
        }
        break;
      }
      case Event::value: break;
    }
    return true;
  });
}

std::int64_t whole_number_of(const nlohmann::ordered_json& json, std::int64_t least, std::int64_t most) {
  // get() would convert a fraction, and wrap a number that is too large.
  const bool fits = json.is_number_integer() &&
                    (!json.is_number_unsigned() || json.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  if (!fits || json.get<std::int64_t>() < least || json.get<std::int64_t>() > most) {
    refuse_json("expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
                json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  return json.get<std::int64_t>();
}

double amount_of(const nlohmann::ordered_json& json) {
  if (!json.is_number() || !(json.get<double>() >= 0)) {
    refuse_json("expected a number of at least 0, got " +
                json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  return json.get<double>();
}

}  // namespace ferry::gate
