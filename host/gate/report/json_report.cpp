#include "host/gate/report/json_report.h"

#include <algorithm>
#include <cmath>

#include "host/gate/report/baseline_notes.h"
#include "host/text/json.h"

namespace ferry::gate {

namespace {

using text::Json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json side_json(const SideFacts& side) {
  const bool has_module = side.module != Hash{};
  return {{"module", has_module ? Json(to_hex(side.module)) : Json()},
          {"label", text_or_null(side.label)},
          {"code_bytes", side.code_bytes},
          {"data_bytes", side.data_bytes},
          {"seconds", side.seconds > 0 ? number(side.seconds) : Json()},
          {"holder", text_or_null(side.holder)}};
}

Json change_json(const Change& change) {
  return {{"ratio", number(change.ratio)}, {"low", number(change.low)}, {"high", number(change.high)}};
}

// Lists of numbers, one entry for each pair, take much less room than a list of objects.
Json pairs_json(const std::vector<Pair>& pairs) {
  Json layouts = Json::array(), orders = Json::array(), ratios = Json::array();
  PerSide<Json> seconds;
  for (Json& one : seconds.both) one = Json::array();
  for (const Pair& pair : pairs) {
    layouts.push_back(pair.layout);
    orders.push_back(pair.current_first);
    for (const Side side : kSides) seconds[side].push_back(number(pair.seconds[side]));
    ratios.push_back(number(pair.log_ratio));
  }
  return {{"layout", layouts},
          {"current_first", orders},
          {"baseline_seconds", seconds[Side::baseline]},
          {"current_seconds", seconds[Side::current]},
          {"log_ratio", ratios}};
}

Json course_json(const std::vector<Change>& course) {
  Json ratios = Json::array(), lows = Json::array(), highs = Json::array();
  for (const Change& change : course) {
    ratios.push_back(number(change.ratio));
    lows.push_back(number(change.low));
    highs.push_back(number(change.high));
  }
  return {{"ratio", ratios}, {"low", lows}, {"high", highs}};
}

Json instructions_json(const std::optional<Instructions>& instructions) {
  if (!instructions) return {};
  return {{"baseline", number(instructions->counts[Side::baseline])},
          {"current", number(instructions->counts[Side::current])},
          {"ratio", number(instructions->ratio())}};
}

Json environment_json(const Environment& environment) {
  return {{"board", environment.board},
          {"processor", environment.processor},
          {"kernel", environment.kernel},
          {"governor", text_or_null(environment.governor)}};
}

Json method_json(const bench::Method& method) {
  return {{"inputs", method.inputs}, {"cache", method.cache}, {"isolation", method.isolation}, {"seed", method.seed}};
}

Json case_json(const CaseResult& result) {
  return {{"name", result.name},
          {"board", result.board},
          {"verdict", name_of(result.verdict)},
          {"reason", text_or_null(result.reason)},
          {"inputs", text_or_null(result.inputs)},
          {"tolerance", number(result.tolerance)},
          {"by_instructions", result.by_instructions},
          {"change", result.pairs.empty() ? Json() : change_json(result.change)},
          {"instructions", instructions_json(result.instructions)},
          {"baseline", side_json(result.sides[Side::baseline])},
          {"current", side_json(result.sides[Side::current])},
          {"limits",
           {{"seconds", optional(result.limits.seconds)},
            {"bytes", optional(result.limits.bytes)},
            {"share_of_peak", optional(result.limits.share_of_peak)}}},
          {"share_of_peak", optional(result.share_of_peak)},
          {"environment", environment_json(result.environment)},
          {"method", method_json(result.method)},
          {"accepted", result.is_accepted},
          {"new_baseline", is_new(result.new_baseline)},
          {"tries", result.tries},
          {"warnings", result.warnings},
          {"pairs", pairs_json(result.pairs)},
          {"course", course_json(result.course)},
          {"diff",
           {{"source", text_or_null(result.diff.source)},
            {"operators", text_or_null(result.diff.operators)},
            {"schedule", text_or_null(result.diff.schedule)},
            {"loops", text_or_null(result.diff.loops)},
            {"assembly", text_or_null(result.diff.assembly)}}}};
}

}  // namespace

std::string json_report(const Report& report) {
  Json cases = Json::array();
  Json counts = Json::object();
  for (const CaseResult& result : report.cases) {
    cases.push_back(case_json(result));
    Json& count = counts[name_of(result.verdict)];
    count = count.is_null() ? 1 : count.get<int>() + 1;
  }
  return text::json_text({{"schema", kReportSchema},
                          {"version", report.version},
                          {"suite", report.suite},
                          {"baseline", report.baseline},
                          {"label", report.label},
                          {"started", report.started},
                          {"elapsed_seconds", number(report.elapsed_seconds)},
                          {"interrupted", report.is_interrupted},
                          {"update", report.is_update},
                          {"baseline_notes", baseline_notes(report)},
                          {"missing_cases", report.missing},
                          {"missing", report.missing_policy == MissingPolicy::allow ? "allow" : "fail"},
                          {"unknown", report.unknown == UnknownPolicy::pass ? "pass" : "fail"},
                          {"error_level", number(report.error_level)},
                          {"exit_code", exit_code(report)},
                          {"failure", report.failure ? Json(report.failure->message) : Json()},
                          {"counts", counts},
                          {"cases", cases}}) +
         "\n";
}

}  // namespace ferry::gate
