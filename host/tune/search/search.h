// Proposes points of a space one after the other, and learns from the times that they took.
//
// The first proposal is the default, and the next ones are those that a cost model prefers, if there is one. Then these
// alternate with the neighbours of the best point so far, which differ from it in one knob; every third proposal is
// bred from two of the best points with a mutation, and every twelfth is drawn anywhere in the space. Points that the
// model finds far worse than the best come last. The same seed and the same times lead to the same proposals.
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
  Search(SpaceAt space, std::uint64_t seed, PointCost cost = {})
      : space_(std::move(space)), random_(seed), costs_(std::move(cost)) {}

  std::optional<SpacePoint> next() override;
  void report(const SpacePoint& point, const PointResult& result) override;

  // Returns how many points were proposed or reported.
  std::size_t known() const { return seen_.size(); }

 private:
  struct Ranked {
    double seconds;
    SpacePoint point;
  };

  std::optional<SpacePoint> unseen(const PointValues& values);
  std::optional<SpacePoint> left_over();
  void list_modelled();
  std::optional<SpacePoint> next_modelled();
  // Returns the point unless the model finds it far worse than the best: it is kept for the end then.
  std::optional<SpacePoint> unless_far(std::optional<SpacePoint> point);
  // Returns a point for this turn, or nothing if the turn has none; `attempt` counts what was known in this turn.
  std::optional<SpacePoint> proposal(int attempt);
  void list_neighbours();
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
  Costs costs_;
  bool has_modelled_ = false;
  std::deque<ModelledPoint> modelled_;    // what the model prefers, still to be proposed
  std::vector<ModelledPoint> postponed_;  // far worse by the model
  double least_cost_ = 0;                 // among modelled_; 0: the model knows none
  std::uint64_t turn_ = 0;
};

}  // namespace ferry::tune
