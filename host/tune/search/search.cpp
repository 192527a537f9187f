#include "host/tune/search/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace ferry::tune {

namespace {

// So many of the best points may become parents.
constexpr std::size_t kParents = 8;
// A search of a space that is nearly used up finds known points; after so many in a row it takes what is left in order.
constexpr int kMostKnown = 200;
constexpr std::uint64_t kBredEvery = 3, kDrawnEvery = 12;
// The default and so many others do without the model: they are built and run while it ranks. It takes about as long as
// a build to rank so many points.
constexpr std::uint64_t kMostBeforeModel = 7, kRankedMeanwhile = 64;
// Then its first points come before all others, and points that cost more than the cheapest by this factor after all
// others.
constexpr std::uint64_t kModelledFirst = 8;
constexpr double kFar = 2;
// The cheapest of so many children is tried.
constexpr int kChildren = 4;

// Returns the candidates beside the chosen one, the nearest first.
std::vector<std::size_t> others_of(const PointKnob& knob) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < knob.candidates.size(); ++i)
    if (i != knob.chosen && !knob.is_held) others.push_back(i);
  const auto distance = [&](std::size_t i) { return i > knob.chosen ? i - knob.chosen : knob.chosen - i; };
  if (knob.has_numbers) std::ranges::stable_sort(others, {}, distance);
  return others;
}

}  // namespace

std::string knob_name(const PointKnob& knob) { return knob.stage + "." + knob.name; }

PointValues values_of(const SpacePoint& point) {
  PointValues values;
  for (const PointKnob& knob : point.knobs) values[knob_name(knob)] = knob.candidates[knob.chosen];
  return values;
}

std::string text_of(const PointValues& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    const std::size_t dot = name.rfind('.');
    text += (text.empty() ? "" : "; ") + name.substr(0, dot) + ": " + name.substr(dot + 1) + "=" + value;
  }
  return text;
}

std::optional<SpacePoint> Search::unseen(const PointValues& values) {
  if (!tried_.insert(values).second) return std::nullopt;
  std::optional<SpacePoint> point = space_(values);
  if (!point || !seen_.insert(values_in_order(*point)).second) return std::nullopt;
  points_.push_back(values_of(*point));
  return point;
}

// Returns a neighbour of any point that was seen: from one to the next, all points of the space come in turn.
std::optional<SpacePoint> Search::left_over() {
  for (; expanded_ < points_.size(); ++expanded_) {
    const PointValues center = points_[expanded_];
    const std::optional<SpacePoint> there = space_(center);
    if (!there) continue;
    for (const PointKnob& knob : there->knobs) {
      PointValues values = center;
      for (const std::string& candidate : choices_of(knob)) {
        values[knob_name(knob)] = candidate;
        if (auto point = unseen(values)) return point;
      }
    }
  }
  return std::nullopt;
}

// Knob by knob in turn, so that a knob with many candidates does not keep the others waiting.
void Search::list_neighbours(const SpacePoint& center) {
  neighbours_.clear();
  const PointValues values = values_of(center);
  std::vector<std::vector<std::size_t>> others;
  std::size_t most = 0;
  for (const PointKnob& knob : center.knobs) most = std::max(most, others.emplace_back(others_of(knob)).size());
  for (std::size_t round = 0; round < most; ++round) {
    for (std::size_t k = 0; k < center.knobs.size(); ++k) {
      if (round >= others[k].size()) continue;
      PointValues& neighbour = neighbours_.emplace_back(values);
      neighbour[knob_name(center.knobs[k])] = center.knobs[k].candidates[others[k][round]];
    }
  }
}

std::optional<SpacePoint> Search::next_neighbour() {
  while (!neighbours_.empty()) {
    const PointValues values = std::move(neighbours_.front());
    neighbours_.pop_front();
    if (auto point = unless_far(unseen(values))) return point;
  }
  return std::nullopt;
}

PointValues Search::bred_values() {
  // The better of two is the more likely parent.
  const auto parent = [&]() -> const SpacePoint& {
    return best_[std::min(random_.below(best_.size()), random_.below(best_.size()))].point;
  };
  PointValues values = values_of(parent());
  const SpacePoint& other = parent();
  for (const PointKnob& knob : other.knobs)
    if (random_.below(2) == 0) values[knob_name(knob)] = knob.candidates[knob.chosen];
  if (other.knobs.empty()) return values;
  const PointKnob& mutated = other.knobs[random_.below(other.knobs.size())];
  const std::span choices = choices_of(mutated);
  values[knob_name(mutated)] = choices[random_.below(choices.size())];
  return values;
}

std::optional<SpacePoint> Search::bred() {
  if (best_.empty()) return std::nullopt;
  if (!costs_.is_known()) return unseen(bred_values());
  std::optional<PointValues> cheapest;
  double least = 0;
  for (int child = 0; child < kChildren; ++child) {
    PointValues values = bred_values();
    if (tried_.contains(values)) continue;
    const std::optional<SpacePoint> point = space_(values);
    if (!point || seen_.contains(values_in_order(*point))) continue;
    const std::optional<double> cost = costs_.of(*point);
    if (cheapest && (!cost || *cost >= least)) continue;
    least = cost.value_or(HUGE_VAL);
    cheapest = std::move(values);
  }
  return cheapest ? unseen(*cheapest) : std::nullopt;
}

// Draws one knob after the other, because what is chosen decides which others there are.
std::optional<SpacePoint> Search::drawn() {
  PointValues values;
  std::optional<SpacePoint> point = space_(values);
  for (std::size_t k = 0; point && k < point->knobs.size(); ++k) {
    const PointKnob& knob = point->knobs[k];
    const std::span choices = choices_of(knob);
    values[knob_name(knob)] = choices[random_.below(choices.size())];
    point = space_(values);
  }
  return point ? unseen(values) : std::nullopt;
}

bool Search::has_modelled() {
  if (!take_modelled_ || proposed_ < first_modelled_) return true;
  std::optional<Modelled> modelled = take_modelled_();
  is_waiting_ = !modelled;
  if (is_waiting_) return false;
  take_modelled_ = {};
  if (modelled->points.empty()) return true;
  costs_ = std::move(modelled->costs);
  before_model_ = turn_;
  // Points of the same cost are often the same code, so of those that come first only one is taken.
  std::vector<ModelledPoint> others;
  for (ModelledPoint& point : modelled->points) {
    if (modelled_.empty()) least_cost_ = point.cost;
    if (point.cost > kFar * least_cost_) break;
    const bool is_alike = !modelled_.empty() && modelled_.back().cost == point.cost;
    if (is_alike || modelled_.size() >= kModelledFirst)
      others.push_back(std::move(point));
    else
      modelled_.push_back(std::move(point));
  }
  std::ranges::move(others, std::back_inserter(modelled_));
  return true;
}

std::optional<SpacePoint> Search::next_modelled() {
  while (!modelled_.empty()) {
    const PointValues values = values_of(modelled_.front().point);
    modelled_.pop_front();
    if (auto point = unseen(values)) return point;
  }
  return std::nullopt;
}

std::optional<SpacePoint> Search::unless_far(std::optional<SpacePoint> point) {
  if (!point || least_cost_ == 0) return point;
  const std::optional<double> cost = costs_.of(*point);
  if (!cost || *cost <= kFar * least_cost_) return point;
  postponed_.push_back({*cost, *std::move(point)});
  return std::nullopt;
}

std::optional<SpacePoint> Search::proposal(int attempt) {
  if (turn_ <= before_model_ + kModelledFirst)
    if (auto point = next_modelled()) return point;
  if (turn_ % kDrawnEvery == 0) return unless_far(drawn());
  if (turn_ % kBredEvery == 0) return unless_far(bred());
  if (turn_ % 2 == 0)
    if (auto point = next_modelled()) return point;
  if (auto point = next_neighbour()) return point;
  return unless_far(attempt % 2 == 0 ? bred() : drawn());
}

std::optional<SpacePoint> Search::next() {
  if (!has_modelled()) return std::nullopt;
  std::optional<SpacePoint> point = next_point();
  if (!point) return point;
  ++proposed_;
  point->decided.reset();
  return point;
}

std::optional<SpacePoint> Search::next_point() {
  if (proposed_ == 0) {
    if (auto first = unseen({})) {
      list_neighbours(*first);
      first_modelled_ = 1 + std::min(first->points / kRankedMeanwhile, kMostBeforeModel);
      return first;
    }
  }
  ++turn_;
  for (int known = 0; known < kMostKnown; ++known) {
    if (auto point = proposal(known)) return point;
    ++turn_;
  }
  for (auto point = left_over(); point; point = left_over())
    if (auto near = unless_far(std::move(point))) return near;
  if (postponed_.empty()) return std::nullopt;
  std::ranges::stable_sort(postponed_, std::greater(), &ModelledPoint::cost);
  SpacePoint point = std::move(postponed_.back().point);
  postponed_.pop_back();
  return point;
}

void Search::report(const SpacePoint& point, const PointResult& result) {
  const std::optional<double>& seconds = result.seconds;
  if (seen_.insert(values_in_order(point)).second) points_.push_back(values_of(point));
  if (!seconds) return;
  const auto place = std::ranges::upper_bound(best_, *seconds, {}, &Ranked::seconds);
  const bool is_best = place == best_.begin();
  best_.insert(place, {*seconds, point});
  if (best_.size() > kParents) best_.pop_back();
  if (is_best) list_neighbours(point);
}

}  // namespace ferry::tune
