#include "crosscompile/cost/depends.h"

#include <algorithm>
#include <cmath>

namespace ferry::cost {

namespace {

// Half of the lanes of a vector at the end of a row are there, on average.
constexpr double kLanesInPart = 0.5;

}  // namespace

std::uint64_t depends_bit(std::size_t number) { return std::uint64_t{1} << std::min<std::size_t>(number, 63); }

Depends StepPlace::depends_of(const LinearIndex& index) const {
  Depends depends;
  for (const LinearTerm& term : index.terms) {
    for (std::size_t r = 0; r < step_.replicas.size(); ++r)
      if (step_.replicas[r].var == term.var) depends.replicas |= depends_bit(r);
    for (std::size_t l = 0; l < path_.size(); ++l)
      if (path_[l]->var == term.var) depends.loops |= depends_bit(l);
  }
  return depends;
}

double StepPlace::copies(const Depends& depends) const {
  double product = 1;
  for (std::size_t r = 0; r < step_.replicas.size(); ++r)
    if ((depends.replicas & depends_bit(r)) != 0 && !step_.replicas[r].is_vector) product *= step_.replicas[r].extent;
  return product;
}

bool StepPlace::is_vector(const Depends& depends) const {
  for (std::size_t r = 0; r < step_.replicas.size(); ++r)
    if ((depends.replicas & depends_bit(r)) != 0 && step_.replicas[r].is_vector && step_.replicas[r].extent > 1)
      return true;
  return false;
}

double StepPlace::vectors(const Depends& depends, double bytes) const {
  double lanes = 1;
  for (std::size_t r = 0; r < step_.replicas.size(); ++r)
    if ((depends.replicas & depends_bit(r)) != 0 && step_.replicas[r].is_vector) lanes *= step_.replicas[r].extent;
  return lanes == 1 ? 1 : std::ceil(lanes * bytes * 8 / target_.vector_bits);
}

double StepPlace::hoisted(const Depends& depends) const {
  double share = 1;
  for (std::size_t l = path_.size(); l-- > 1 && (depends.loops & depends_bit(l)) == 0;)
    share /= std::max(1.0, path_[l]->extent);
  return share;
}

double StepPlace::runs(const Depends& depends, double bytes) const {
  if (!is_vector(depends) || target_.capabilities.masks) return step_.share;
  const double lanes = target_.vector_bits / 8 / bytes;
  return step_.share + step_.partial_share * std::max(0.0, lanes * kLanesInPart - 1);
}

bool StepPlace::has_lanes() const {
  return std::ranges::any_of(step_.replicas, [](const Replica& one) { return one.is_vector && one.extent > 1; });
}

bool StepPlace::is_invariant(const Depends& depends) const {
  return path_.back()->var != nullptr && (depends.loops & depends_bit(path_.size() - 1)) == 0;
}

}  // namespace ferry::cost
