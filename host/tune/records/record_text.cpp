#include "host/tune/records/record_text.h"

#include "base/fields.h"
#include "base/hex.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

namespace ferry::tune {

namespace {

using Json = nlohmann::ordered_json;

// Versions that do not know of algorithms skip the records that have one.
constexpr const char *kSchema = "ferry.tune/1", *kSchemaWithAlgorithm = "ferry.tune/2";
// Parts of the environment: the place.
constexpr const char *kNetwork = "network", *kGraph = "network_graph";
constexpr Word<Outcome> kOutcomes[] = {{"measured", Outcome::measured}, {"refused", Outcome::refused},
                                       {"crashed", Outcome::crashed},   {"hung", Outcome::hung},
                                       {"wrong", Outcome::wrong},       {"too_slow", Outcome::too_slow}};

template <class T>
void set(Json& json, const char* name, const T& value) {
  if (value != T()) json[name] = value;
}

void set_hash(Json& json, const char* name, const Hash& hash) {
  if (hash != Hash{}) json[name] = to_hex(hash);
}

void set_time(Json& json, const std::string& prefix, const std::optional<MeasuredTime>& time) {
  if (!time) return;
  json[prefix + "seconds"] = time->seconds;
  json[prefix + "interval_95_seconds"] = {time->low, time->high};
}

// The following throw what nlohmann throws, or std::runtime_error.

template <class T>
void get(const Json& json, const char* name, T& value) {
  if (const auto found = json.find(name); found != json.end()) found->get_to(value);
}

template <class T>
void get_count(const Json& json, const char* name, T& value) {
  const auto found = json.find(name);
  if (found == json.end()) return;
  if (!found->is_number_unsigned() || found->get<std::uint64_t>() > std::numeric_limits<T>::max())
    throw std::runtime_error(std::string("expected a whole number as ") + name);
  value = found->get<T>();
}

void get_hash(const Json& json, const char* name, Hash& hash) {
  const auto found = json.find(name);
  if (found != json.end() && !parse_hex(found->get<std::string>(), std::span(hash)))
    throw std::runtime_error(std::string("expected a hash as ") + name);
}

std::optional<MeasuredTime> time_in(const Json& json, const std::string& prefix) {
  const auto seconds = json.find(prefix + "seconds");
  if (seconds == json.end()) return std::nullopt;
  const auto interval = json.at(prefix + "interval_95_seconds").get<std::vector<double>>();
  if (interval.size() != 2) throw std::runtime_error("expected the two ends of an interval");
  const MeasuredTime time{seconds->get<double>(), interval[0], interval[1]};
  if (!(time.low > 0 && time.low <= time.seconds && time.seconds <= time.high && std::isfinite(time.high)))
    throw std::runtime_error("expected a time of more than 0 s inside its interval");
  return time;
}

Outcome outcome_named(const std::string& text) {
  for (const Word<Outcome>& word : kOutcomes)
    if (word.text == text) return word.value;
  throw std::runtime_error("expected an outcome");
}

Json json_of(const TuneRecord& record) {
  Json json = {{"schema", record.algorithm.empty() ? kSchema : kSchemaWithAlgorithm},
               {"program", to_hex(record.key.program)}};
  if (record.key.schedule) json["schedule"] = to_hex(*record.key.schedule);
  json["arch"] = record.key.device.arch;
  set(json, "cpu", record.key.device.cpu);
  set(json, "features", record.key.device.features);
  set(json, "threads", record.key.device.threads);
  set(json, "function", record.function);
  set(json, "sizes", record.sizes);
  set(json, "fixed", record.fixed);
  set(json, "device", record.device);
  set(json, "l1_bytes", record.l1_bytes);
  set(json, "l2_bytes", record.l2_bytes);
  json["outcome"] = word_of(kOutcomes, record.outcome);
  set(json, "reason", record.reason);
  set(json, "algorithm", record.algorithm);
  set(json, "point", record.point);
  set(json, "values", record.values);
  set(json, "directives", record.directives);
  set_hash(json, "code", record.code);
  set_time(json, "", record.time);
  set(json, "confirmed", record.confirmed);
  set_hash(json, "default_code", record.default_code);
  set_time(json, "default_", record.default_time);
  set(json, "version", record.version);
  set(json, "environment", record.environment);
  set(json, "time", record.unix_ms);
  return json;
}

TuneRecord record_of(const Json& json) {
  TuneRecord record;
  get(json, "algorithm", record.algorithm);
  const char* const schema = record.algorithm.empty() ? kSchema : kSchemaWithAlgorithm;
  if (json.at("schema") != schema) throw std::runtime_error(std::string("expected the schema ") + schema);
  if (!json.contains("program")) throw std::runtime_error("expected a program");
  get_hash(json, "program", record.key.program);
  if (json.contains("schedule")) get_hash(json, "schedule", record.key.schedule.emplace());
  json.at("arch").get_to(record.key.device.arch);
  get(json, "cpu", record.key.device.cpu);
  get(json, "features", record.key.device.features);
  get_count(json, "threads", record.key.device.threads);
  get(json, "function", record.function);
  get(json, "sizes", record.sizes);
  get(json, "fixed", record.fixed);
  get(json, "device", record.device);
  get_count(json, "l1_bytes", record.l1_bytes);
  get_count(json, "l2_bytes", record.l2_bytes);
  record.outcome = outcome_named(json.at("outcome").get<std::string>());
  get(json, "reason", record.reason);
  get(json, "point", record.point);
  get(json, "values", record.values);
  get(json, "directives", record.directives);
  get_hash(json, "code", record.code);
  record.time = time_in(json, "");
  get(json, "confirmed", record.confirmed);
  get_hash(json, "default_code", record.default_code);
  record.default_time = time_in(json, "default_");
  get(json, "version", record.version);
  get(json, "environment", record.environment);
  get(json, "time", record.unix_ms);
  if (record.time.has_value() != (record.outcome == Outcome::measured))
    throw std::runtime_error("expected a time exactly if the outcome is measured");
  return record;
}

}  // namespace

std::string outcome_name(Outcome outcome) { return std::string(word_of(kOutcomes, outcome)); }

Place place_of(const TuneRecord& record) {
  const auto value_of = [&](const char* name) {
    const auto found = record.environment.find(name);
    return found == record.environment.end() ? std::string() : found->second;
  };
  return {value_of(kNetwork), value_of(kGraph)};
}

void set_place(TuneRecord& record, const Place& place) {
  record.environment[kNetwork] = place.network;
  record.environment[kGraph] = place.graph;
}

std::optional<double> share_of_default(const TuneRecord& record) {
  if (!record.time || !record.default_time) return std::nullopt;
  return record.time->seconds / record.default_time->seconds;
}

bool is_faster_than_default(const TuneRecord& record) {
  return share_of_default(record) && std::max(record.time->seconds, record.time->high) < record.default_time->seconds;
}

Result<std::string> record_line(const TuneRecord& record) {
  std::string line = json_of(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (line.size() > kMaxRecordBytes)
    return Status(ErrorCode::invalid_argument, "expected a record of at most " + std::to_string(kMaxRecordBytes) +
                                                   " bytes, got " + std::to_string(line.size()));
  return line;
}

Result<TuneRecord> parse_record(std::string_view line) {
  if (line.size() > kMaxRecordBytes)
    return Status(ErrorCode::invalid_argument, "expected a record of at most " + std::to_string(kMaxRecordBytes) +
                                                   " bytes, got " + std::to_string(line.size()));
  try {
    return record_of(Json::parse(line));
  } catch (const std::exception& error) {
    return Status(ErrorCode::invalid_argument, error.what());
  }
}

}  // namespace ferry::tune
