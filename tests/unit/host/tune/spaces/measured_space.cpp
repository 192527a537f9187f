#include "tests/unit/host/tune/spaces/measured_space.h"

#include "ferry/lang/text.h"
#include "host/autoschedule/decide_at.h"
#include "host/lower/lower.h"
#include "tests/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace ferry::test {

namespace {

// The device's own limit (host/tune/runner/running_trial.cpp).
constexpr double kHopeless = 1.3;

std::string text_of_file(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const lang::Program& named(const std::vector<lang::Program>& programs, const std::string& name) {
  return *std::ranges::find(programs, name, &lang::Program::name);
}

std::vector<std::size_t> numbers_of(const SpacePoint& point) {
  std::vector<std::size_t> numbers;
  for (const PointKnob& knob : point.knobs) numbers.push_back(knob.chosen);
  return numbers;
}

}  // namespace

MeasuredSpace::MeasuredSpace(const std::string& file) : name_(std::filesystem::path(file).stem()) {
  std::istringstream lines(text_of_file(file));
  std::string line;
  std::getline(lines, line);
  const nlohmann::json header = nlohmann::json::parse(line);
  lang::FixedSizes sizes;
  for (const auto& [size, value] : header.at("sizes").items()) sizes[size] = value.get<std::int64_t>();
  const std::string kernels = FERRY_SOURCE_DIR "/bench/tune/kernels.tc";
  program_ = named(lang::parse(text_of_file(kernels), kernels, false, sizes), header.at("function"));
  target_ = resolve_target("llvm -mtriple=x86_64-linux-gnu -mcpu=" + header.at("cpu").get<std::string>() +
                           " -l1-bytes=" + std::to_string(header.at("l1_bytes").get<int>()) +
                           " -l2-bytes=" + std::to_string(header.at("l2_bytes").get<int>()));
  for (const auto& knob : header.at("knobs")) {
    const std::string name = knob.at("name");
    PointKnob& added = knobs_.emplace_back();
    added.stage = name.substr(0, name.rfind('.'));
    added.name = name.substr(name.rfind('.') + 1);
    added.candidates = knob.at("candidates").get<std::vector<std::string>>();
    added.chosen = added.default_index = knob.at("default");
    added.has_numbers = knob.at("is_ordered");
  }
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::vector<std::size_t> point(knobs_.size());
    for (std::size_t& candidate : point) words >> candidate;
    std::string time;
    words >> time;
    if (time.starts_with('-')) continue;
    const bool is_first_look = time.starts_with('~');
    times_[point] = {std::stod(time.substr(is_first_look ? 1 : 0)), is_first_look};
  }
}

SpacePoint MeasuredSpace::at(const std::vector<std::size_t>& candidates) const {
  SpacePoint point{.text = {}, .knobs = knobs_, .points = times_.size(), .schedule = {}};
  for (std::size_t k = 0; k < knobs_.size(); ++k) point.knobs[k].chosen = candidates[k];
  return point;
}

tune::SpaceAt MeasuredSpace::function() const {
  return [this](const tune::PointValues& values) -> std::optional<SpacePoint> {
    std::vector<std::size_t> candidates;
    for (const PointKnob& knob : knobs_) {
      const auto value = values.find(knob.stage + "." + knob.name);
      if (value == values.end()) {
        candidates.push_back(knob.default_index);
        continue;
      }
      const auto candidate = std::ranges::find(knob.candidates, value->second);
      if (candidate == knob.candidates.end()) return std::nullopt;
      candidates.push_back(static_cast<std::size_t>(candidate - knob.candidates.begin()));
    }
    return at(candidates);
  };
}

std::optional<MeasuredTime> MeasuredSpace::time_of(const SpacePoint& point) const {
  const auto time = times_.find(numbers_of(point));
  return time == times_.end() ? std::nullopt : std::optional(time->second);
}

tune::PointResult MeasuredSpace::answer(const SpacePoint& point, double best_seconds) const {
  const std::optional<MeasuredTime> time = time_of(point);
  if (!time) return {{}, "crashed"};
  if (best_seconds > 0 && time->seconds > kHopeless * best_seconds) return {{}, "too_slow"};
  return {time->seconds, {}};
}

double MeasuredSpace::default_seconds() const {
  std::vector<std::size_t> candidates;
  for (const PointKnob& knob : knobs_) candidates.push_back(knob.default_index);
  return times_.at(candidates).seconds;
}

std::vector<double> MeasuredSpace::sorted_seconds() const {
  std::vector<double> seconds;
  for (const auto& [point, time] : times_) seconds.push_back(time.seconds);
  std::ranges::sort(seconds);
  return seconds;
}

autoschedule::DecidedSchedule MeasuredSpace::schedule_at(const std::vector<std::size_t>& candidates) const {
  std::vector<autoschedule::NamedValue> values;
  for (std::size_t k = 0; k < knobs_.size(); ++k)
    values.push_back({knobs_[k].stage, knobs_[k].name, knobs_[k].candidates[candidates[k]]});
  return autoschedule::decide_at(program_, target_, {}, values, name_);
}

cost::Estimate MeasuredSpace::estimate_at(const std::vector<std::size_t>& candidates) const {
  const autoschedule::DecidedSchedule decided = schedule_at(candidates);
  const std::vector<ir::Function> lowered =
      lower::lower_module(std::span(&program_, 1), std::span(&decided.schedule, 1));
  return cost::estimate(lowered.front(), target_);
}

tune::PointCost MeasuredSpace::costs() const {
  if (costs_.empty())
    for (const auto& [point, time] : times_) costs_[point] = estimate_at(point).cycles;
  return [this](const SpacePoint& point) -> std::optional<double> {
    const auto cost = costs_.find(numbers_of(point));
    return cost == costs_.end() ? std::nullopt : std::optional(cost->second);
  };
}

const std::vector<MeasuredSpace>& measured_spaces() {
  static const std::vector<MeasuredSpace> spaces = [] {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(FERRY_SOURCE_DIR "/tests/unit/host/tune/spaces"))
      if (entry.path().extension() == ".space") files.push_back(entry.path());
    std::ranges::sort(files);
    return std::vector<MeasuredSpace>(files.begin(), files.end());
  }();
  return spaces;
}

}  // namespace ferry::test
