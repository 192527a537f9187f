#include "host/lang/reference/tuple_reduction.h"

#include "crosscompile/ir/error.h"

#include <algorithm>

namespace ferry::lang {
namespace {

void copy_lanes(const Lanes& from, Lanes& to, std::size_t n) {
  std::copy_n(from.real.begin(), n, to.real.begin());
  std::copy_n(from.integer.begin(), n, to.integer.begin());
  if (from.exact) {
    std::fill_n(to.error.begin(), n, 0.0);
  } else {
    std::copy_n(from.error.begin(), n, to.error.begin());
  }
}

}  // namespace

TupleReduction::TupleReduction(const ir::Reducer& reducer, const std::string& name, std::vector<const Lanes*> starts,
                               std::vector<const Lanes*> terms)
    : starts_(std::move(starts)), terms_(std::move(terms)) {
  for (const Expr& identity : reducer.identity) {
    Element element;
    if (const auto* integer = identity.as<ir::IntImm>()) {
      element.integer = integer->value;
    } else {
      element.real = identity.as<ir::FloatImm>()->value;
    }
    identity_.push_back(element);
  }
  next_.resize(identity_.size());
  std::vector<bool> exact;
  for (std::size_t i = 0; i < terms_.size(); ++i)
    exact.push_back(terms_[i]->exact && (starts_.empty() || starts_[i]->exact));
  // A component that one combination rounds enters the next one rounded, so this repeats until nothing changes.
  for (bool settled = false; !settled;) {
    build(reducer, name, exact);
    settled = true;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (!exact[i] || combined_[i]->exact) continue;
      exact[i] = false;
      settled = false;
    }
  }
}

void TupleReduction::build(const ir::Reducer& reducer, const std::string& name, const std::vector<bool>& exact) {
  program_ = std::make_unique<LaneProgram>(
      name, [](const ir::BufferRef&) -> ElementSource& { throw InternalError("a reducer reads no tensor"); });
  left_.clear();
  right_.clear();
  combined_.clear();
  for (std::size_t i = 0; i < exact.size(); ++i) {
    left_.push_back(&program_->bind(reducer.left[i]));
    left_.back()->exact = exact[i];
    right_.push_back(&program_->bind(reducer.right[i]));
    right_.back()->exact = terms_[i]->exact;
  }
  for (const Expr& part : reducer.combine) combined_.push_back(&program_->add(part));
}

void TupleReduction::start(std::size_t n) {
  for (std::size_t i = 0; i < left_.size(); ++i) {
    if (!starts_.empty()) {
      copy_lanes(*starts_[i], *left_[i], n);
      continue;
    }
    std::fill_n(left_[i]->real.begin(), n, identity_[i].real);
    std::fill_n(left_[i]->integer.begin(), n, identity_[i].integer);
    std::fill_n(left_[i]->error.begin(), n, 0.0);
  }
}

void TupleReduction::add(const Lanes* condition, std::size_t n) {
  for (std::size_t i = 0; i < right_.size(); ++i) copy_lanes(*terms_[i], *right_[i], n);
  program_->run(n);
  for (std::size_t lane = 0; lane < n; ++lane) {
    if (condition != nullptr && condition->integer[lane] == 0) continue;
    // A combined value may be an operand itself, so all are read before any is overwritten.
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const Lanes& part = *combined_[i];
      next_[i] = {part.real[lane], part.integer[lane], part.exact ? 0 : part.error[lane]};
    }
    for (std::size_t i = 0; i < left_.size(); ++i) {
      left_[i]->real[lane] = next_[i].real;
      left_[i]->integer[lane] = next_[i].integer;
      left_[i]->error[lane] = next_[i].error;
    }
  }
}

Element TupleReduction::result(std::size_t component, std::size_t lane) const {
  const Lanes& lanes = *left_[component];
  return {lanes.real[lane], lanes.integer[lane], lanes.exact ? 0 : lanes.error[lane]};
}

}  // namespace ferry::lang
