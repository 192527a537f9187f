#include "host/gate/store/store_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/hex.h"
#include "base/printable.h"
#include "host/gate/store/json_limits.h"

namespace ferry::gate {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::int64_t kLatest = 253'402'300'799;  // the end of the year 9999, in seconds since 1970
constexpr std::size_t kMostOfReason = 300;

// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : amount_of(json);
}

Hash hash_of(const Json& json) {
  Hash hash;
  if (!parse_hex(json.get<std::string>(), hash)) {
    throw std::invalid_argument("expected 64 hexadecimal digits, got \"" + json.get<std::string>() + "\"");
  }
  return hash;
}

Json to_json(const StoredModule& module) {
  Json blobs = Json::array();
  for (const Hash& blob : module.blobs) blobs.push_back(to_hex(blob));
  Json json = {{"module", to_hex(module.module)},
               {"identity", to_hex(module.identity)},
               {"blobs", std::move(blobs)},
               {"label", module.label},
               {"stored", module.stored}};
  if (!module.holder.empty()) json["holder"] = module.holder;
  return json;
}

StoredModule module_of(const Json& json) {
  StoredModule module;
  module.module = hash_of(json.at("module"));
  module.identity = hash_of(json.at("identity"));
  for (const Json& blob : json.at("blobs")) module.blobs.push_back(hash_of(blob));
  module.label = json.at("label").get<std::string>();
  module.stored = whole_number_of(json.at("stored"), 0, kLatest);
  if (json.contains("holder")) module.holder = json.at("holder").get<std::string>();
  return module;
}

// Labels and names may be any bytes that a user has typed.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class T>
Result<T> parse(std::string_view text, T (*read)(const Json&)) {
  try {
    return read(parse_limited_json(text));
  } catch (const std::exception& error) {  // of nlohmann's parser and accessors, and of the functions above
    std::string_view why = error.what();
    // "[json.exception.parse_error.101] " tells nobody more.
    if (why.starts_with("[json.exception.")) why.remove_prefix(why.find("] ") + 2);
    return Status(ErrorCode::invalid_argument, printable(why.substr(0, kMostOfReason)));  // it may quote the text
  }
}

Baseline read_baseline(const Json& json) {
  if (json.at("format") != kFormat) {
    throw std::invalid_argument("expected format " + std::to_string(kFormat) + ", got " + text_of(json.at("format")));
  }
  if (!json.at("cases").is_array()) throw std::invalid_argument("expected a list of cases");
  Baseline baseline;
  for (const Json& entry : json.at("cases")) {
    const CaseTarget key{entry.at("case").get<std::string>(), entry.at("target").get<std::string>()};
    if (!baseline.emplace(key, module_of(entry)).second) {
      throw std::invalid_argument("expected each case once for a target, got " + key.name + " for " + key.target +
                                  " again");
    }
  }
  return baseline;
}

Verdict verdict_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Verdict::interrupted); ++i) {
    if (name == name_of(static_cast<Verdict>(i))) return static_cast<Verdict>(i);
  }
  throw std::invalid_argument("expected a verdict, got \"" + name + "\"");
}

HistoryEntry read_entry(const Json& json) {
  HistoryEntry entry;
  entry.when = whole_number_of(json.at("when"), 0, kLatest);
  entry.name = json.at("case").get<std::string>();
  entry.target = json.at("target").get<std::string>();
  entry.label = json.at("label").get<std::string>();
  entry.verdict = verdict_of(json.at("verdict").get<std::string>());
  const Json& environment = json.at("environment");
  entry.environment = {environment.at("board").get<std::string>(), environment.at("processor").get<std::string>(),
                       environment.at("kernel").get<std::string>(), environment.at("governor").get<std::string>()};
  entry.module = module_of(json.at("module"));
  for (std::size_t side = 0; side < 2; ++side) entry.seconds[side] = amount_of(json.at("seconds").at(side));
  const Json& change = json.at("change");
  entry.change = {number_of(change.at(0)), number_of(change.at(1)), number_of(change.at(2))};
  entry.instructions = amount_of(json.at("instructions"));
  return entry;
}

}  // namespace

std::string baseline_text(const Baseline& baseline) {
  Json cases = Json::array();
  for (const auto& [key, module] : baseline) {
    Json entry = {{"case", key.name}, {"target", key.target}};
    entry.update(to_json(module));
    cases.push_back(std::move(entry));
  }
  return Json{{"format", kFormat}, {"cases", std::move(cases)}}.dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<Baseline> parse_baseline(std::string_view text) { return parse<Baseline>(text, read_baseline); }

std::string history_line(const HistoryEntry& entry) {
  const Environment& at = entry.environment;
  return text_of(
      {{"when", entry.when},
       {"case", entry.name},
       {"target", entry.target},
       {"label", entry.label},
       {"verdict", name_of(entry.verdict)},
       {"environment",
        {{"board", at.board}, {"processor", at.processor}, {"kernel", at.kernel}, {"governor", at.governor}}},
       {"module", to_json(entry.module)},
       {"seconds", {entry.seconds[0], entry.seconds[1]}},
       {"change", {number(entry.change.ratio), number(entry.change.low), number(entry.change.high)}},
       {"instructions", entry.instructions}});
}

Result<HistoryEntry> parse_history_line(std::string_view line) { return parse<HistoryEntry>(line, read_entry); }

bool HistoryEntry::operator==(const HistoryEntry& other) const { return history_line(*this) == history_line(other); }

}  // namespace ferry::gate
