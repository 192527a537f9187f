// How the reference evaluator combines tuples with a user's reducer: for many elements at once, one term after the
// other.
#pragma once

#include "host/lang/reference_source.h"

#include <memory>
#include <string>
#include <vector>

namespace ferry::lang {

class TupleReduction {
 public:
  // `starts` and `terms` are the lanes that will hold the values to start from (empty: the identity) and to combine.
  TupleReduction(const ir::Reducer& reducer, const std::string& name, std::vector<const Lanes*> starts,
                 std::vector<const Lanes*> terms);

  bool exact(std::size_t component) const { return left_[component]->exact; }
  // The first n lanes start from what `starts` holds.
  void start(std::size_t n);
  // Joins what `terms` holds, where the condition (null: always) holds.
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
