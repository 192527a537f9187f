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

Json to_json(const auto& value) { return value; }
Json to_json(const Hash& hash) { return to_hex(hash); }
Json to_json(const PerSide<double>& amounts) { return amounts.both; }
Json to_json(Verdict verdict) { return name_of(verdict); }
Json to_json(const std::vector<Hash>& hashes) {
  Json list = Json::array();
  for (const Hash& hash : hashes) list.push_back(to_hex(hash));
  return list;
}
Json to_json(const Change& change) {
  Json list = Json::array();
  // JSON has no infinity.
  for (const double value : {change.ratio, change.low, change.high})
    list.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
  return list;
}

Json to_json(const bench::Method& method) {
  return {{"inputs", method.inputs}, {"cache", method.cache}, {"isolation", method.isolation}, {"seed", method.seed}};
}

template <HasFields T>
Json to_json(const T& record);

// The visitor that makes an object of a record's fields.
struct ObjectWriter {
  Json& object;

  void operator()(std::string_view name, const auto& field) const { object[std::string(name)] = to_json(field); }
  void operator()(std::string_view, const auto& field, StoredAs named) const { (*this)(named.name, field); }
  void operator()(std::string_view name, const std::string& text, LeftOutIfEmpty) const {
    if (!text.empty()) (*this)(name, text);
  }
  void operator()(std::string_view name, const auto& field, AddedLater) const { (*this)(name, field); }
};
template <HasFields T>
Json to_json(const T& record) {
  Json object = Json::object();
  T::visit_fields(record, ObjectWriter{object});
  return object;
}

void read(const Json& json, std::string& text) { text = json.get<std::string>(); }
void read(const Json& json, std::int64_t& time) { time = whole_number_of(json, 0, kLatest); }
void read(const Json& json, double& amount) { amount = amount_of(json); }
void read(const Json& json, PerSide<double>& amounts) {
  for (std::size_t i = 0; i < 2; ++i) read(json.at(i), amounts.both[i]);
}
void read(const Json& json, Hash& hash) {
  if (!parse_hex(json.get<std::string>(), hash)) {
    throw std::invalid_argument("expected 64 hexadecimal digits, got \"" + json.get<std::string>() + "\"");
  }
}
void read(const Json& json, std::vector<Hash>& hashes) {
  for (const Json& hash : json) read(hash, hashes.emplace_back());
}
void read(const Json& json, Verdict& verdict) {
  const std::string name = json.get<std::string>();
  for (int i = 0; i <= static_cast<int>(Verdict::interrupted); ++i) {
    verdict = static_cast<Verdict>(i);
    if (name == name_of(verdict)) return;
  }
  throw std::invalid_argument("expected a verdict, got \"" + name + "\"");
}
void read(const Json& json, Change& change) {
  double* const values[] = {&change.ratio, &change.low, &change.high};
  for (std::size_t i = 0; i < 3; ++i)
    *values[i] = json.at(i).is_null() ? std::numeric_limits<double>::infinity() : amount_of(json.at(i));
}

void read(const Json& json, bench::Method& method) {
  read(json.at("inputs"), method.inputs);
  read(json.at("cache"), method.cache);
  read(json.at("isolation"), method.isolation);
  method.seed = json.at("seed").get<std::uint64_t>();
}

template <HasFields T>
void read(const Json& json, T& record);

struct ObjectReader {
  const Json& object;

  void operator()(std::string_view name, auto& field) const { read(object.at(std::string(name)), field); }
  void operator()(std::string_view, auto& field, StoredAs named) const { (*this)(named.name, field); }
  void operator()(std::string_view name, std::string& text, LeftOutIfEmpty) const {
    if (object.contains(std::string(name))) (*this)(name, text);
  }
  void operator()(std::string_view name, auto& field, AddedLater) const {
    if (object.contains(std::string(name))) (*this)(name, field);
  }
};
template <HasFields T>
void read(const Json& json, T& record) {
  T::visit_fields(record, ObjectReader{json});
}

// Labels and names may be any bytes that a user has typed.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class T>
Result<T> parse(std::string_view text, T (*read)(const Json&)) {
  try {
    return read(parse_limited_json(text));
  } catch (const std::exception& error) {  // from nlohmann's parser and accessors and the functions above
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
    CaseTarget key;
    StoredModule module;
    read(entry, key);
    read(entry, module);
    if (!baseline.emplace(key, std::move(module)).second) {
      throw std::invalid_argument("expected each case once for a target, got " + key.name + " for " + key.target +
                                  " again");
    }
  }
  return baseline;
}

HistoryEntry read_entry(const Json& json) {
  HistoryEntry entry;
  read(json, entry);
  return entry;
}

}  // namespace

std::string baseline_text(const Baseline& baseline) {
  Json cases = Json::array();
  for (const auto& [key, module] : baseline) {
    Json entry = to_json(key);
    entry.update(to_json(module));
    cases.push_back(std::move(entry));
  }
  return Json{{"format", kFormat}, {"cases", std::move(cases)}}.dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<Baseline> parse_baseline(std::string_view text) { return parse<Baseline>(text, read_baseline); }

std::string history_line(const HistoryEntry& entry) { return text_of(to_json(entry)); }

Result<HistoryEntry> parse_history_line(std::string_view line) { return parse<HistoryEntry>(line, read_entry); }

bool HistoryEntry::operator==(const HistoryEntry& other) const { return history_line(*this) == history_line(other); }

}  // namespace ferry::gate
