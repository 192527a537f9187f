#include "host/tune/finalists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMost = 3;
constexpr int kRounds = 3;
constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns false for a point that cannot be built any more.
bool build(Finalist& finalist, Builder& builder) {
  if (finalist.module != nullptr) return true;
  BuildResult built = builder.build(values_in_order(finalist.point));
  auto* module = std::get_if<ModuleBytes>(&built);
  if (module == nullptr) return false;
  finalist.module = std::make_shared<const ModuleBytes>(std::move(*module));
  return true;
}

}  // namespace

void Finalists::add(Finalist one) {
  for (Finalist& other : all_) {
    if (values_in_order(other.point) != values_in_order(one.point)) continue;
    if (other.module == nullptr) other.module = one.module;
    return;
  }
  all_.insert(std::ranges::upper_bound(all_, one.log_share, {}, &Finalist::log_share), std::move(one));
  if (all_.size() > kMost) all_.pop_back();
}

std::optional<double> Finalists::rank(Builder& builder, Runner& runner, const ModuleBytes& default_module,
                                      std::optional<Clock::time_point> until) {
  std::erase_if(all_, [&](Finalist& finalist) { return !build(finalist, builder); });
  if (all_.empty()) return std::nullopt;
  const auto keep_least = [&](const ModuleBytes& module, double& least) {
    least = std::min(least, runner.time_again(module).value_or(kNever));
  };
  double by_default = kNever;
  std::vector<double> least(all_.size(), kNever);
  Clock::duration last{};
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    if (until && round > 0 && start + last > *until) break;
    keep_least(default_module, by_default);
    for (std::size_t f = 0; f < all_.size(); ++f) keep_least(*all_[f].module, least[f]);
    last = Clock::now() - start;
  }
  for (std::size_t f = 0; f < all_.size(); ++f) all_[f].log_share = std::log(least[f] / by_default);
  std::erase_if(all_, [](const Finalist& finalist) { return !std::isfinite(finalist.log_share); });
  std::ranges::stable_sort(all_, {}, &Finalist::log_share);
  return std::isfinite(by_default) ? std::optional(by_default) : std::nullopt;
}

const Finalist* Finalists::best() const {
  return all_.empty() || all_.front().log_share >= 0 ? nullptr : &all_.front();
}

}  // namespace ferry::tune
