// Proposes points of a space one after the other, and learns from the times that they took.
//
// The first proposal is the default, and the next ones are its neighbours, which differ from it in one knob. If there
// is a cost model, those that it prefers follow after a fixed number of proposals, whenever they are known: the search
// waits for them there, so how long ranking takes does not matter. Then these alternate with the neighbours of the best
// point so far; every third proposal is bred from two of the best points with a mutation, and every twelfth is drawn
// anywhere in the space. Points that the model finds far worse than the best come last. The same seed and the same
// times lead to the same proposals.
#pragma once

#include "host/stats/random.h"
#include "host/tune/search/modelled_points.h"
#include "host/tune/search/searcher.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ferry::tune {

std::string knob_name(const PointKnob& knob);
// Returns "C: tile=4x2; C: order=rows_outside".
std::string text_of(const PointValues& values);

// Returns the values of all knobs of a point.
PointValues values_of(const SpacePoint& point);

class Search final : public Searcher {
 public:
  Search(SpaceAt space, std::uint64_t seed, TakeModelled take_modelled = {})
      : space_(std::move(space)), random_(seed), take_modelled_(std::move(take_modelled)) {}

  std::optional<SpacePoint> next() override;
  void report(const SpacePoint& point, const PointResult& result) override;
  // While it waits for the model.
  bool is_thinking() override { return is_waiting_; }

  // Returns how many points were proposed or reported.
  std::size_t known() const { return seen_.size(); }

 private:
  struct Ranked {
    double seconds;
    SpacePoint point;
  };

  std::optional<SpacePoint> unseen(const PointValues& values);
  std::optional<SpacePoint> left_over();
  // Returns false if the model's points are due, but not known yet.
  bool has_modelled();
  std::optional<SpacePoint> next_modelled();
  // Returns the point unless the model finds it far worse than the best: it is kept for the end then.
  std::optional<SpacePoint> unless_far(std::optional<SpacePoint> point);
  // Returns a point for this turn, or nothing if the turn has none; `attempt` counts what was known in this turn.
  std::optional<SpacePoint> proposal(int attempt);
  std::optional<SpacePoint> next_point();
  void list_neighbours(const SpacePoint& center);
  std::optional<SpacePoint> next_neighbour();
  PointValues bred_values();
  std::optional<SpacePoint> bred();
  std::optional<SpacePoint> drawn();

  SpaceAt space_;
  stats::Random random_;
  std::set<std::vector<std::string>> seen_;  // by their values in order
  std::vector<PointValues> points_;          // the values of those that were seen
  std::size_t expanded_ = 0;                 // all neighbours of the first ones were seen
  std::set<PointValues> tried_;              // what has been resolved to a point
  std::vector<Ranked> best_;                 // the best points, the fastest first
  std::deque<PointValues> neighbours_;       // the best point's, still to be proposed
  std::uint64_t proposed_ = 0;
  std::uint64_t first_modelled_ = 1;  // the number of proposals before the first of the model's
  TakeModelled take_modelled_;        // until it has returned them
  bool is_waiting_ = false;           // for that
  Costs costs_{{}};
  std::uint64_t before_model_ = 0;        // turns
  std::deque<ModelledPoint> modelled_;    // what the model prefers, still to be proposed
  std::vector<ModelledPoint> postponed_;  // far worse by the model
  double least_cost_ = 0;                 // among modelled_; 0: the model knows none
  std::uint64_t turn_ = 0;
};

}  // namespace ferry::tune
