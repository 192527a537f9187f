// Combines tuples with a user's reducer for the reference evaluator: for many elements at once, one term after the
// other.
#pragma once

#include "host/lang/reference/reference_source.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

class TupleReduction {
 public:
  // `starts` and `terms` are the lanes that will hold the initial values (empty: the identity) and the values to
  // combine.
  TupleReduction(const ir::Reducer& reducer, const std::string& name, std::vector<const Lanes*> starts,
                 std::vector<const Lanes*> terms);

  bool exact(std::size_t component) const { return left_[component]->exact; }
  // Initialises the first n lanes from `starts`.
  void start(std::size_t n);
  // Combines `terms` into the result in lanes where the condition (null: always true) holds.
  void add(const Lanes* condition, std::size_t n);
  Element result(std::size_t component, std::size_t lane) const;

 private:
  void build(const ir::Reducer& reducer, const std::string& name, const std::vector<bool>& exact);

  std::vector<const Lanes*> starts_, terms_;
  std::unique_ptr<LaneProgram> program_;
  std::vector<Lanes*> left_, right_;
  std::vector<const Lanes*> combined_;
  std::vector<Element> identity_, next_;
};

}  // namespace ferry::lang
