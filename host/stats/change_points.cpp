#include "host/stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/quantity_text.h"
#include "host/stats/student_t.h"

namespace ferry::stats {

namespace {

// Indices of a range of the series.
struct Window {
  std::size_t begin, end;
  std::size_t size() const { return end - begin; }
};

struct Split {
  Window window;
  std::size_t index;
};

// A set of values from a sorted list, which knows the sum of the distances of its members to any value of the list:
// Fenwick trees of counts and sums by rank.
class DistanceSet {
 public:
  explicit DistanceSet(std::size_t ranks) : counts_(ranks + 1), sums_(ranks + 1) {}

  void add(std::size_t rank, double value) {
    ++count_;
    sum_ += value;
    for (std::size_t i = rank + 1; i < counts_.size(); i += i & (~i + 1)) {
      ++counts_[i];
      sums_[i] += value;
    }
  }
  double distances_to(std::size_t rank, double value) const {
    double below = 0, sum_below = 0;
    for (std::size_t i = rank + 1; i > 0; i -= i & (~i + 1)) {
      below += counts_[i];
      sum_below += sums_[i];
    }
    return below * value - sum_below + (sum_ - sum_below) - (count_ - below) * value;
  }

 private:
  double count_ = 0, sum_ = 0;
  std::vector<double> counts_, sums_;
};

// Returns for each index of the window the rank of its value among the window's.
std::vector<std::size_t> ranks_of(std::span<const double> window) {
  std::vector<std::size_t> order(window.size()), ranks(window.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return window[a] < window[b]; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

// Returns for each index the sum of the distances between all pairs of values before it.
std::vector<double> sums_within(std::span<const double> window, const std::vector<std::size_t>& ranks) {
  DistanceSet set(window.size());
  std::vector<double> within(window.size() + 1, 0.0);
  for (std::size_t i = 0; i < window.size(); ++i) {
    within[i + 1] = within[i] + set.distances_to(ranks[i], window[i]);
    set.add(ranks[i], window[i]);
  }
  return within;
}

// Returns the index that divides the window best. It has at least kLeastSegment values on each side.
std::size_t best_split(std::span<const double> series, const Window& range) {
  const std::span<const double> window = series.subspan(range.begin, range.size());
  const std::vector<double> reversed(window.rbegin(), window.rend());
  const std::vector<double> left = sums_within(window, ranks_of(window));
  const std::vector<double> right = sums_within(reversed, ranks_of(reversed));
  const std::size_t size = window.size();
  std::size_t best = kLeastSegment;
  double most = -1;
  for (std::size_t i = kLeastSegment; i + kLeastSegment <= size; ++i) {
    const auto m = static_cast<double>(i), n = static_cast<double>(size - i);
    const double within_left = left[i], within_right = right[size - i];
    const double across = left[size] - within_left - within_right;
    const double energy = 2 * across / (m * n) - 2 * within_left / (m * (m - 1)) - 2 * within_right / (n * (n - 1));
    const double rating = m * n / (m + n) * energy;
    if (rating > most) {
      most = rating;
      best = i;
    }
  }
  return range.begin + best;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squares_around(std::span<const double> values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

// Returns the two-sided p-value of the difference of both means. The variance is common to both sides: with an estimate
// for each, three values that happen to be close together would often differ "significantly" from many.
double p_value(std::span<const double> series, const Split& split) {
  const std::span<const double> before = series.subspan(split.window.begin, split.index - split.window.begin);
  const std::span<const double> after = series.subspan(split.index, split.window.end - split.index);
  const double mean_before = mean_of(before), mean_after = mean_of(after);
  const double difference = std::abs(mean_after - mean_before);
  const auto m = static_cast<double>(before.size()), n = static_cast<double>(after.size());
  const double squares = squares_around(before, mean_before) + squares_around(after, mean_after);
  const double error = std::sqrt(squares / (m + n - 2) * (1 / m + 1 / n));
  // Sums of values around 1 (change_points() scales them) are rounded by about this much.
  constexpr double kRounding = 1e-13;
  if (difference <= kRounding) return 1;
  if (error <= kRounding * difference) return 0;
  return 2 * student_t_cdf(-difference / error, m + n - 2);
}

// Returns the windows to search for changes in a segment, the narrowest first.
std::vector<Window> windows_of(const Window& segment) {
  std::vector<Window> windows;
  for (auto exact = static_cast<double>(segment.size()); exact >= 2 * kLeastSegment; exact /= std::sqrt(2)) {
    const auto length = static_cast<std::size_t>(exact);
    const std::size_t last = segment.end - length;
    for (std::size_t begin = segment.begin; begin < last; begin += length / 2)
      windows.push_back({begin, begin + length});
    windows.push_back({last, segment.end});
  }
  std::stable_sort(windows.begin(), windows.end(),
                   [](const Window& a, const Window& b) { return a.size() < b.size(); });
  return windows;
}

class Search {
 public:
  Search(std::vector<double> series, double level) : series_(std::move(series)), level_(level) {}

  std::vector<Split> find() {
    for (const Window& window : windows_of({0, series_.size()})) {
      tried_ += static_cast<double>(window.size() - 2 * kLeastSegment + 1);
    }
    // A change that no window has for itself may be alone in one between the changes that are found already.
    constexpr int kMostRounds = 10;
    for (int round = 0; round < kMostRounds; ++round) {
      const std::vector<Split> more = search_between();
      if (more.empty()) break;
      found_.insert(found_.end(), more.begin(), more.end());
      std::ranges::sort(found_, {}, &Split::index);
    }
    remove_weak();
    return found_;
  }

  // The window from the change before to the one after.
  Window around(std::size_t i) const {
    return {i == 0 ? 0 : found_[i - 1].index, i + 1 == found_.size() ? series_.size() : found_[i + 1].index};
  }

  // Of a found change: between its neighbours, or in the window that showed it, as far as that has no other change.
  // What is short may be no change by itself, but would hide one beside it.
  double p_of_found(std::size_t i) const {
    const Split& split = found_[i];
    const Window all = around(i);
    const Window own{std::max(all.begin, split.window.begin), std::min(all.end, split.window.end)};
    const double p = p_of({all, split.index});
    if (split.index < own.begin + kLeastSegment || split.index + kLeastSegment > own.end) return p;
    return std::min(p, p_of({own, split.index}));
  }

 private:
  double p_of(const Split& split) const { return std::min(p_value(series_, split) * tried_, 1.0); }

  std::vector<Split> search_between() const {
    std::vector<Split> all;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= found_.size(); ++i) {
      const std::size_t end = i == found_.size() ? series_.size() : found_[i].index;
      const std::vector<Split> more = search({begin, end});
      all.insert(all.end(), more.begin(), more.end());
      begin = end;
    }
    return all;
  }

  std::vector<Split> search(const Window& segment) const {
    std::vector<Split> found;  // sorted by index
    for (const Window& window : windows_of(segment)) {
      if (contains_one(found, window)) continue;
      const Split split{window, best_split(series_, window)};
      if (p_of(split) > level_) continue;
      found.insert(std::ranges::upper_bound(found, split.index, {}, &Split::index), split);
    }
    return found;
  }

  static bool contains_one(const std::vector<Split>& found, const Window& window) {
    const auto next = std::ranges::upper_bound(found, window.begin, {}, &Split::index);
    return next != found.end() && next->index < window.end;
  }

  // Moves every change to its best place, and removes the weakest until all are clear.
  void remove_weak() {
    for (std::size_t i = 0; i < found_.size(); ++i) found_[i].index = best_split(series_, around(i));
    std::vector<double> p;
    for (std::size_t i = 0; i < found_.size(); ++i) p.push_back(p_of_found(i));
    while (!found_.empty()) {
      const std::size_t i = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
      if (p[i] <= level_) return;
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(i));
      p.erase(p.begin() + static_cast<std::ptrdiff_t>(i));
      for (const std::size_t near : {i - 1, i}) {
        if (near < found_.size()) p[near] = p_of_found(near);
      }
    }
  }

  std::vector<double> series_;
  double level_;
  double tried_ = 0;          // number of splits
  std::vector<Split> found_;  // sorted by index, each with the window that showed it
};

Status check(std::span<const double> values, double level) {
  if (!(level > 0 && level < 1)) {
    return {ErrorCode::invalid_argument, "expected a level between 0 and 1, got " + number_text(level)};
  }
  if (values.size() > kMostForChangePoints) {
    return {ErrorCode::invalid_argument, "expected at most " + std::to_string(kMostForChangePoints) + " values, got " +
                                             std::to_string(values.size())};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return {ErrorCode::invalid_argument,
              "expected finite values, got " + number_text(values[i]) + " at index " + std::to_string(i)};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<ChangePoint>> change_points(std::span<const double> values, double level) {
  FERRY_TRY(check(values, level));
  if (values.size() < 2 * kLeastSegment) return std::vector<ChangePoint>();
  // Nothing overflows, and equal values become exactly 0, if the first one is subtracted and the largest is 1.
  double scale = 0;
  for (const double value : values) scale = std::max(scale, std::abs(value));
  if (scale == 0) return std::vector<ChangePoint>();
  std::vector<double> series;
  series.reserve(values.size());
  for (const double value : values) series.push_back(value / scale - values.front() / scale);
  Search search(series, level);
  std::vector<ChangePoint> changes;
  const std::vector<Split> found = search.find();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::span<const double> all(series);
    const Window window = search.around(i);
    const auto mean = [&](std::size_t begin, std::size_t end) {
      return (mean_of(all.subspan(begin, end - begin)) + values.front() / scale) * scale;
    };
    changes.push_back(
        {found[i].index, mean(window.begin, found[i].index), mean(found[i].index, window.end), search.p_of_found(i)});
  }
  return changes;
}

}  // namespace ferry::stats
