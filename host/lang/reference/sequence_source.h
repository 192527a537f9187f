// The elements of a stage that is computed in order along one axis.
#pragma once

#include "host/lang/reference/reference_source.h"
#include "host/lang/stage.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

class SequenceSource : public ComputedSource {
 public:
  SequenceSource(const Tensor& tensor, const CallValues& call, const FindSource& find);

  std::span<const std::int64_t> extents() const override { return extents_; }
  // Elements depend on others, so their errors are followed even where they turn out to be 0.
  bool exact() const override { return false; }
  void fetch(const std::uint64_t* positions, const std::int64_t* mask, std::size_t n, Lanes& out) override;
  void compute(const std::uint64_t* positions, std::size_t n, Element* out) override;
  std::uint64_t elements() const override { return elements_.size(); }
  std::uint64_t points() const override { return points_; }

 private:
  // Computes the elements of the first `steps` steps of the sequence.
  void run_to(std::int64_t steps);
  void load_before();
  // Stores the values of these points of the axes.
  void store(const std::uint64_t* points, std::size_t n, const Element* values);

  DType type_;
  std::string name_;
  std::vector<std::int64_t> extents_;  // the tensor's
  std::vector<Element> elements_;
  std::uint64_t points_ = 1;

  const Sequence& sequence_;
  std::vector<std::int64_t> axes_;  // the extents of the stage's axes
  std::int64_t steps_ = 0;          // how many have been computed
  bool is_loaded_ = false, is_running_ = false;
  std::unique_ptr<StageSource> values_;
  // A scatter: where it stores.
  LaneProgram place_;
  std::vector<Lanes*> place_axes_;
  std::vector<const Lanes*> place_indices_;
  ElementSource* before_ = nullptr;
};

}  // namespace ferry::lang
