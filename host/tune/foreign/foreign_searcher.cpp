#include "host/tune/foreign/foreign_searcher.h"

#include "base/printable.h"
#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/tune/search/search.h"

#include <string_view>
#include <utility>

namespace ferry::tune {

namespace {

constexpr const char* kSchema = "ferry.search/1";
// Limits of what a program may ask for: points in a line, points that wait to be tried, and a value's bytes.
constexpr std::size_t kMostInLine = 4096, kMostWaiting = 65'536, kMostValueBytes = 256;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorCode::invalid_argument, what); }

nlohmann::ordered_json space_json(const SpacePoint& space) {
  nlohmann::ordered_json knobs = nlohmann::ordered_json::array();
  for (const PointKnob& knob : space.knobs)
    knobs.push_back({{"name", knob_name(knob)},
                     {"candidates", choices_of(knob)},
                     {"default", knob.candidates.at(knob.default_index)},
                     {"is_ordered", knob.has_numbers}});
  return {{"points", space.points}, {"knobs", knobs}};
}

// Returns the text of a value, which a program may write as a number or a truth value too.
std::string value_of(const std::string& knob, const nlohmann::ordered_json& value) {
  std::string text;
  if (value.is_string())
    text = value.get<std::string>();
  else if (value.is_number_integer() || value.is_boolean())
    text = value.dump();
  else
    refuse("expected a text as the value of " + printable(knob));
  if (text.size() > kMostValueBytes || knob.size() > kMostValueBytes)
    refuse("expected names and values of at most " + std::to_string(kMostValueBytes) + " bytes");
  return text;
}

}  // namespace

ForeignSearcher::ForeignSearcher(const std::string& command, const SearchTask& task,
                                 const std::optional<KnownBest>& best, SpaceAt space)
    : space_(std::move(space)), program_(command) {
  const std::optional<SpacePoint> start = space_({});
  if (!start) throw Error(ErrorCode::internal, "ForeignSearcher: expected a space");
  points_.push_back(*start);
  known_[values_in_order(*start)];
  Json hello = {{"schema", kSchema},
                {"task",
                 {{"function", task.function},
                  {"sizes", task.sizes},
                  {"fixed", task.fixed},
                  {"arch", task.arch},
                  {"cpu", task.cpu},
                  {"threads", task.threads}}},
                {"space", space_json(*start)},
                {"best", nullptr}};
  if (best) hello["best"] = {{"point", values_of(best->point)}, {"share_of_default", best->share_of_default}};
  program_.send(hello.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void ForeignSearcher::start(std::function<void()> on_points) {
  on_points_ = std::move(on_points);
  program_.start([this](std::string_view line) { take_line(line); }, on_points_);
}

std::optional<SpacePoint> ForeignSearcher::next() {
  const std::lock_guard lock(mutex_);
  if (points_.empty()) return std::nullopt;
  SpacePoint point = std::move(points_.front());
  points_.pop_front();
  return point;
}

void ForeignSearcher::report(const SpacePoint& point, const PointResult& result) {
  std::vector<Json> waiting;
  bool is_default = false;
  {
    const std::lock_guard lock(mutex_);
    Known& known = known_[values_in_order(point)];
    if (!result.seconds && result.failure.empty()) return;
    known.result = result;
    waiting = std::exchange(known.waiting, {});
    waiting_ -= waiting.size();
    is_default = !has_default_ && result.seconds && waiting.empty();
    for (const PointKnob& knob : point.knobs) is_default = is_default && knob.chosen == knob.default_index;
    has_default_ = has_default_ || is_default;
  }
  if (is_default) answer(Json::object(), result, &point);
  for (const Json& named : waiting) answer(named, result, &point);
}

bool ForeignSearcher::is_thinking() {
  {
    const std::lock_guard lock(mutex_);
    if (!points_.empty()) return true;
  }
  return !program_.has_ended();
}

std::string ForeignSearcher::failure() {
  const std::string failure = program_.failure();
  return failure.empty() ? "" : "the searcher: " + failure;
}

void ForeignSearcher::take_line(std::string_view line) {
  const Json message = Json::parse(line, nullptr, false);
  if (!message.is_object() || !message.contains("points") || !message["points"].is_array())
    refuse("expected {\"points\":[...]}, got " + printable(line.substr(0, kMostValueBytes)));
  const Json& points = message["points"];
  if (points.size() > kMostInLine)
    refuse("expected at most " + count_text(kMostInLine) + " points in a line, got " + count_text(points.size()));
  for (const Json& point : points) take_point(point);
  on_points_();
}

void ForeignSearcher::take_point(const Json& named) {
  if (!named.is_object()) refuse("expected points such as {\"C.tile\":\"4x2\"}");
  PointValues values;
  for (const auto& [knob, value] : named.items()) values[knob] = value_of(knob, value);
  const std::optional<SpacePoint> point = space_(values);
  if (!point) return answer(named, {{}, "refused"}, nullptr);
  std::optional<PointResult> result;
  {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = known_.try_emplace(values_in_order(*point));
    result = known->second.result;
    if (!result) {
      known->second.waiting.push_back(named);
      ++waiting_;
    }
    if (is_new) points_.push_back(*point);
    if (waiting_ > kMostWaiting)
      refuse("expected at most " + count_text(kMostWaiting) + " points that wait to be tried");
  }
  if (result) answer(named, *result, &*point);
}

void ForeignSearcher::answer(const Json& named, const PointResult& result, const SpacePoint* point) {
  Json json = {{"point", named}};
  if (result.seconds)
    json["seconds"] = *result.seconds;
  else
    json["failed"] = result.failure;
  if (point != nullptr) json["values"] = values_of(*point);
  program_.send(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace ferry::tune
