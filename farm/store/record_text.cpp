#include "farm/store/record_text.h"

#include <nlohmann/json.hpp>

namespace ferry::farm {
namespace {

using Json = nlohmann::json;

Result<std::string> dump(const Json& json) {
  try {
    return json.dump();
  } catch (const Json::exception&) {
    return Status(ErrorCode::invalid_argument, "expected UTF-8, got other bytes");
  }
}

Status damaged_text(const std::string& what) { return {ErrorCode::device_error, "the database is damaged: " + what}; }

}  // namespace

Result<std::string> description_text(const BoardDescription& description) {
  Json devices = Json::array();
  for (const BoardDevice& device : description.devices) devices.push_back({device.kind, device.arch});
  return dump({{"name", description.name},
               {"model", description.model},
               {"arch", description.arch},
               {"cpu", description.cpu},
               {"memory_bytes", description.memory_bytes},
               {"cores", description.cores},
               {"features", description.features},
               {"devices", std::move(devices)},
               {"tags", description.tags}});
}

Result<BoardDescription> parse_description(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    BoardDescription description;
    json.at("name").get_to(description.name);
    json.at("model").get_to(description.model);
    json.at("arch").get_to(description.arch);
    json.at("cpu").get_to(description.cpu);
    json.at("memory_bytes").get_to(description.memory_bytes);
    json.at("cores").get_to(description.cores);
    json.at("features").get_to(description.features);
    for (const Json& device : json.at("devices"))
      description.devices.push_back({device.at(0).get<std::string>(), device.at(1).get<std::string>()});
    json.at("tags").get_to(description.tags);
    return description;
  } catch (const Json::exception& error) {
    return damaged_text(std::string("the description of a board: ") + error.what());
  }
}

Result<std::string> tags_text(const std::map<std::string, std::string>& tags) { return dump(Json(tags)); }

Result<std::map<std::string, std::string>> parse_tags(const std::string& text) {
  try {
    return Json::parse(text).get<std::map<std::string, std::string>>();
  } catch (const Json::exception& error) {
    return damaged_text(std::string("the tags of a board: ") + error.what());
  }
}

Result<std::string> slots_text(const std::vector<Selector>& slots) {
  Json json = Json::array();
  for (const Selector& selector : slots) {
    Json terms = Json::array();
    for (const Term& term : selector.terms) terms.push_back(to_text(term));
    json.push_back(std::move(terms));
  }
  return dump(json);
}

Result<std::vector<Selector>> parse_slots(const std::string& text) {
  try {
    std::vector<Selector> slots;
    for (const Json& terms : Json::parse(text)) {
      Selector& selector = slots.emplace_back();
      for (const Json& term : terms) {
        const Result<Selector> parsed = parse_selector(term.get<std::string>());
        if (!parsed.is_ok()) return damaged_text("the selector of a request: " + parsed.status().message());
        selector.terms.push_back(parsed.value().terms.front());
      }
    }
    return slots;
  } catch (const Json::exception& error) {
    return damaged_text(std::string("the selectors of a request: ") + error.what());
  }
}

}  // namespace ferry::farm
