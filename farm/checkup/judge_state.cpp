#include "farm/checkup/judge_state.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

using Json = nlohmann::json;

constexpr int kStateVersion = 1;
constexpr HealthMetric kMetrics[] = {HealthMetric::compute, HealthMetric::memory, HealthMetric::ping};

Json json_of(const HealthEnvironment& environment) {
  return {{"kernel", environment.kernel}, {"governor", environment.governor}, {"firmware", environment.firmware}};
}

struct Damaged {
  std::string what;
};

void expect(bool condition, const char* what) {
  if (!condition) throw Damaged{what};
}

HealthEnvironment environment_of(const Json& json) {
  HealthEnvironment environment;
  for (const auto& [name, text] :
       {std::pair("kernel", &environment.kernel), std::pair("governor", &environment.governor),
        std::pair("firmware", &environment.firmware)}) {
    json.at(name).get_to(*text);
    expect(text->size() <= kMaxEnvironmentText, "short texts of an environment");
  }
  return environment;
}

HealthTimes times_of_json(const Json& json, bool may_be_zero) {
  expect(json.is_array() && json.size() == kHealthMetrics, "a time of each job");
  HealthTimes times{};
  for (std::size_t m = 0; m < kHealthMetrics; ++m) {
    json.at(m).get_to(times[m]);
    expect(std::isfinite(times[m]) && (may_be_zero ? times[m] >= 0 : times[m] > 0), "positive times");
  }
  return times;
}

HealthBaseline baseline_of_json(const Json& json) {
  return {environment_of(json.at("environment")), times_of_json(json.at("median"), false),
          times_of_json(json.at("deviation"), true)};
}

HealthKnowledge knowledge_of(const Json& json) {
  expect(json.at("version").get<int>() == kStateVersion, "version 1");
  HealthKnowledge knowledge;
  expect(json.at("baselines").size() <= kMaxBaselines, "a limited number of baselines");
  for (const Json& one : json.at("baselines")) knowledge.baselines.push_back(baseline_of_json(one));
  const Json& learned = json.at("learned");
  knowledge.learned.environment = environment_of(learned.at("environment"));
  const Json& sessions = learned.at("sessions");
  expect(sessions.size() < kBaselineChecks * kHealthSessions && sessions.size() % kHealthSessions == 0,
         "the sessions of less than a baseline's checks");
  for (const Json& session : sessions) knowledge.learned.sessions.push_back(times_of_json(session, false));
  if (const Json& unconfirmed = json.at("unconfirmed"); !unconfirmed.is_null()) {
    const auto name = unconfirmed.at("job").get<std::string>();
    const auto* metric = std::ranges::find(kMetrics, name, [](HealthMetric m) { return health_metric_name(m); });
    expect(metric != std::end(kMetrics), "the name of a job");
    knowledge.unconfirmed = {environment_of(unconfirmed.at("environment")), *metric,
                             unconfirmed.at("is_slower").get<bool>()};
  }
  return knowledge;
}

}  // namespace

std::string knowledge_text(const HealthKnowledge& knowledge) {
  Json baselines = Json::array(), unconfirmed;
  for (const HealthBaseline& one : knowledge.baselines)
    baselines.push_back(
        {{"environment", json_of(one.environment)}, {"median", one.median}, {"deviation", one.deviation}});
  if (knowledge.unconfirmed)
    unconfirmed = {{"environment", json_of(knowledge.unconfirmed->environment)},
                   {"job", health_metric_name(knowledge.unconfirmed->metric)},
                   {"is_slower", knowledge.unconfirmed->is_slower}};
  const Json json = {
      {"version", kStateVersion},
      {"baselines", std::move(baselines)},
      {"learned", {{"environment", json_of(knowledge.learned.environment)}, {"sessions", knowledge.learned.sessions}}},
      {"unconfirmed", std::move(unconfirmed)}};
  return json.dump();
}

Result<HealthKnowledge> parse_knowledge(const std::string& text) {
  std::string why;
  try {
    return knowledge_of(Json::parse(text));
  } catch (const Json::exception& error) {
    why = printable(error.what());
  } catch (const Damaged& damaged) {
    why = "expected " + damaged.what;
  }
  return Status(ErrorCode::device_error, "what is known of a board's health is damaged: " + why);
}

}  // namespace ferry::farm
