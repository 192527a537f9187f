// Finds out on which loops values of straight-line code depend: how many copies of them there are, in how many vectors,
// and how often they are computed.
#pragma once

#include "crosscompile/cost/nest.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <span>

namespace ferry::cost {

// Bits of a step's replicas, and of the loops around it.
struct Depends {
  std::uint64_t replicas = 0, loops = 0;
  Depends operator|(const Depends& other) const { return {replicas | other.replicas, loops | other.loops}; }
};

// The bit of a replica or of a loop.
std::uint64_t depends_bit(std::size_t number);

// A step in the loops around it, the outermost first.
class StepPlace {
 public:
  StepPlace(const Step& step, std::span<const LoopNest* const> path, const Target& target)
      : step_(step), path_(path), target_(target) {}

  const Step& step() const { return step_; }
  Depends depends_of(const LinearIndex& index) const;
  // Returns how many copies unrolled loops make of a value.
  double copies(const Depends& depends) const;
  bool is_vector(const Depends& depends) const;
  // Returns in how many vectors the lanes of a value are, with elements of so many bytes; 1 for a scalar.
  double vectors(const Depends& depends, double bytes) const;
  // Returns in which part of the iterations a value is computed that does not depend on the innermost loops.
  double hoisted(const Depends& depends) const;
  // Returns how often it is computed in them: the step's share, and more where single lanes take the place of a vector.
  double runs(const Depends& depends, double bytes) const;
  // Whether the statement has lanes.
  bool has_lanes() const;
  // Whether the innermost loop changes nothing.
  bool is_invariant(const Depends& depends) const;

 private:
  const Step& step_;
  std::span<const LoopNest* const> path_;
  const Target& target_;
};

}  // namespace ferry::cost
