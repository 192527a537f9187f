#include "host/measure/baseline.h"

#include <nlohmann/json.hpp>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "module/manifest.h"

namespace ferry::bench {

namespace {

using Json = nlohmann::json;

BaselineResult result_of(const Json& json) {
  BaselineResult result;
  result.function = json.at("function").get<std::string>();
  result.device = json.at("device").get<std::string>();
  for (const auto& [name, size] : json.at("sizes").items()) result.sizes[name] = size.get<std::int64_t>();
  if (json.contains("knobs"))
    for (const auto& [name, value] : json.at("knobs").items()) result.knobs[name] = value.get<std::string>();
  // Earlier versions did not say more than the state of the caches.
  const Json method = json.value("method", Json::object());
  result.method.cache = method.value("cache", json.value("cache", result.method.cache));
  result.method.inputs = method.value("inputs", result.method.inputs);
  result.method.isolation = method.value("isolation", result.method.isolation);
  result.median = json.at("median_seconds").get<double>();
  result.interval = stats::median_interval({});
  const Json& interval = json.at("interval_95_seconds");
  // Earlier versions printed the range of samples that were too few.
  const bool has_too_few = json.contains("seconds") && json.at("seconds").size() < stats::kLeastForInterval;
  if (!interval.is_null() && !has_too_few)
    result.interval = {interval.at(0).get<double>(), interval.at(1).get<double>()};
  return result;
}

}  // namespace

std::vector<BaselineResult> parse_baseline(const std::string& text, const std::string& name) {
  std::vector<BaselineResult> results;
  const auto refuse = [&](const std::string& got) -> void {
    throw UsageError(name + ": expected what 'ferry bench --json' printed, got " + got);
  };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) refuse("a text that is no JSON");
  if (!json.is_object() || !json.contains("results")) refuse("JSON without results");
  try {
    for (const Json& one : json.at("results")) results.push_back(result_of(one));
  } catch (const Json::exception&) {
    refuse("a result without its function, device, sizes or times");
  }
  for (const BaselineResult& result : results)
    if (!(result.median > 0) || (result.interval.is_known() && !(result.interval.low > 0))) refuse("a time of 0");
  return results;
}

const BaselineResult* find(const std::vector<BaselineResult>& baseline, const Measurement& measurement) {
  const std::map<std::string, std::int64_t> sizes(measurement.function.sizes.begin(), measurement.function.sizes.end());
  const BaselineResult* found = nullptr;
  bool several = false;
  for (const BaselineResult& result : baseline) {
    if (result.function != measurement.function.name || result.sizes != sizes || result.knobs != measurement.knobs)
      continue;
    if (result.device == measurement.device) return &result;
    several = found != nullptr;
    found = &result;
  }
  return several ? nullptr : found;
}

std::string why_incomparable(const BaselineResult& baseline, const Measurement& measurement) {
  if (const std::string why = measurement.impossible(); !why.empty()) return "impossible: " + why;
  if (baseline.method.is_comparable(measurement.method)) return {};
  return "expected a time of the same method (" + to_text(measurement.method) + "), got one with " +
         to_text(baseline.method);
}

Change change_from(const BaselineResult& baseline, const Measurement& measurement) {
  const stats::Interval now = measurement.interval();
  return {baseline.median, measurement.timing.median() / baseline.median, now.low / baseline.interval.high,
          now.high / baseline.interval.low};
}

std::string to_text(const Change& change) {
  const std::string ratio = number_text(change.ratio) + " times the baseline's " + seconds_text(change.baseline);
  if (!change.is_known())
    return ratio + ", which says nothing: one of both has fewer than " + std::to_string(stats::kLeastForInterval) +
           " samples";
  const char* verdict = change.is_slower() ? "slower" : change.is_faster() ? "faster" : "no difference that shows";
  return ratio + " [" + number_text(change.low) + ", " + number_text(change.high) + "]: " + verdict;
}

}  // namespace ferry::bench
