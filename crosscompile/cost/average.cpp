#include "crosscompile/cost/average.h"

#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ferry::cost {

using ir::BinaryOp;

namespace {

constexpr double kMostSamples = 1024;

// How many values of each loop are taken: of large products the longest loops are sampled.
std::vector<double> samples_of(std::span<const Iterated> loops) {
  std::vector<double> counts;
  double combinations = 1;
  for (const Iterated& loop : loops) {
    counts.push_back(std::max(1.0, std::floor(loop.extent)));
    combinations *= counts.back();
  }
  while (combinations > kMostSamples) {
    const auto longest = std::ranges::max_element(counts);
    if (*longest <= 1) break;
    combinations /= *longest;
    *longest = std::max(1.0, std::min(std::floor(*longest / 2), std::floor(kMostSamples / combinations)));
    combinations *= *longest;
  }
  return counts;
}

// Calls visit(values) for combinations of values of these loops, in their order, until it returns false.
template <class Visit>
void for_each_sample(std::span<const Iterated> loops, const Visit& visit) {
  const std::vector<double> counts = samples_of(loops);
  std::vector<double> at(loops.size(), 0), values(loops.size());
  while (true) {
    for (std::size_t i = 0; i < loops.size(); ++i)
      values[i] = loops[i].min +
                  (counts[i] + 1 > loops[i].extent ? at[i] : std::floor((at[i] + 0.5) * loops[i].extent / counts[i]));
    if (!visit(values)) return;
    std::size_t i = 0;
    while (i < loops.size() && ++at[i] >= counts[i]) at[i++] = 0;
    if (i == loops.size()) return;
  }
}

// Returns the innermost loop of each variable of the expression.
std::vector<Iterated> used_loops(const ir::Expr& expr, std::span<const Iterated> loops) {
  std::vector<Iterated> used;
  for (const ir::Expr& var : ir::free_vars(expr)) {
    const auto loop = std::find_if(loops.rbegin(), loops.rend(), [&](const auto& one) { return one.var == var.get(); });
    if (loop != loops.rend()) used.push_back(*loop);
  }
  return used;
}

Values named(std::span<const Iterated> loops, const std::vector<double>& values) {
  Values result;
  for (std::size_t i = 0; i < loops.size(); ++i) result[loops[i].var] = values[i];
  return result;
}

// A condition that a sum is at least 0, over loops in their order.
struct LinearCondition {
  std::vector<double> coefficients;
  double constant = 0;
};

// Appends the parts of a condition that is a conjunction of comparisons of linear forms. Returns false for any other.
bool add_linear(const ir::Expr& condition, std::span<const Iterated> loops, const Variables& variables,
                std::vector<LinearCondition>& parts) {
  const auto* binary = condition.as<ir::Binary>();
  if (binary == nullptr) return false;
  if (binary->op == BinaryOp::logical_and)
    return add_linear(binary->left, loops, variables, parts) && add_linear(binary->right, loops, variables, parts);
  const bool is_less = binary->op == BinaryOp::lt || binary->op == BinaryOp::le;
  const bool is_greater = binary->op == BinaryOp::gt || binary->op == BinaryOp::ge;
  if ((!is_less && !is_greater) || !binary->left.type().is_int()) return false;
  LinearIndex difference = linear_index(is_less ? binary->right : binary->left, variables);
  difference.add(linear_index(is_less ? binary->left : binary->right, variables), -1);
  if (!difference.is_exact) return false;
  LinearCondition part{{}, difference.constant};
  if (binary->op == BinaryOp::lt || binary->op == BinaryOp::gt) part.constant -= 1;
  std::size_t found = 0;
  for (const Iterated& loop : loops) {
    part.coefficients.push_back(difference.coefficient(loop.var));
    found += part.coefficients.back() != 0 ? 1 : 0;
  }
  if (found != difference.terms.size()) return false;
  parts.push_back(std::move(part));
  return true;
}

// Returns the least and the greatest sum of a condition over all iterations.
std::pair<double, double> range_of(const LinearCondition& part, std::span<const Iterated> loops) {
  double least = part.constant, most = part.constant;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const double first = part.coefficients[i] * loops[i].min;
    const double last = part.coefficients[i] * (loops[i].min + std::max(0.0, loops[i].extent - 1));
    least += std::min(first, last);
    most += std::max(first, last);
  }
  return {least, most};
}

// Leaves out what holds in all iterations, and then loops that the others do not depend on. Returns false if there are
// no iterations in which all hold.
bool keep_undecided(std::vector<LinearCondition>& parts, std::vector<Iterated>& loops) {
  for (const LinearCondition& part : parts)
    if (range_of(part, loops).second < 0) return false;
  std::erase_if(parts, [&](const LinearCondition& part) { return range_of(part, loops).first >= 0; });
  for (std::size_t i = loops.size(); i-- > 0;) {
    const auto is_used = [i](const LinearCondition& part) { return part.coefficients[i] != 0; };
    if (std::ranges::any_of(parts, is_used)) continue;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
    for (LinearCondition& part : parts)
      part.coefficients.erase(part.coefficients.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

// Counts in how many samples a condition holds for any lane, and for some only. holds(values) takes values of all
// loops, the lanes' among them; nothing if it is not known.
template <class Holds>
Share share_by(std::span<const Iterated> loops, const Holds& holds) {
  // The first and the last lane tell, because conditions compare lanes with ends of tensors.
  std::vector<Iterated> others(loops.begin(), loops.end());
  bool has_lanes = false;
  for (Iterated& loop : others) {
    if (!loop.is_lane) continue;
    has_lanes = true;
    loop.extent = 1;
  }
  double any = 0, partial = 0, count = 0;
  bool is_known = true;
  for_each_sample(others, [&](const std::vector<double>& values) {
    std::optional<bool> last = false;
    const std::optional<bool> first = holds(values);
    if (has_lanes) {
      std::vector<double> ends = values;
      for (std::size_t i = 0; i < loops.size(); ++i)
        if (loops[i].is_lane) ends[i] += loops[i].extent - 1;
      last = holds(ends);
    }
    is_known = first && last;
    if (!is_known) return false;
    any += *first || *last ? 1 : 0;
    partial += has_lanes && *first != *last ? 1 : 0;
    ++count;
    return true;
  });
  return is_known ? Share{any / count, partial / count} : Share{};
}

}  // namespace

std::optional<double> average(const ir::Expr& expr, std::span<const Iterated> loops) {
  if (const auto* number = expr.as<ir::IntImm>()) return static_cast<double>(number->value);
  const std::vector<Iterated> used = used_loops(expr, loops);
  double sum = 0, count = 0;
  bool is_known = true;
  for_each_sample(used, [&](const std::vector<double>& values) {
    const std::optional<double> value = value_at(expr, named(used, values));
    is_known = is_known && value;
    if (value) sum += *value;
    ++count;
    return is_known;
  });
  return is_known ? std::optional(sum / count) : std::nullopt;
}

Share share_of(const ir::Expr& condition, std::span<const Iterated> loops, const Variables& variables) {
  std::vector<Iterated> used = used_loops(condition, loops);
  std::vector<LinearCondition> parts;
  if (add_linear(condition, used, variables, parts)) {
    if (!keep_undecided(parts, used)) return {0, 0};
    if (parts.empty()) return {};
    return share_by(used, [&](const std::vector<double>& values) -> std::optional<bool> {
      return std::ranges::all_of(parts, [&](const LinearCondition& part) {
        double sum = part.constant;
        for (std::size_t i = 0; i < values.size(); ++i) sum += part.coefficients[i] * values[i];
        return sum >= 0;
      });
    });
  }
  return share_by(used, [&](const std::vector<double>& values) -> std::optional<bool> {
    const std::optional<double> value = value_at(condition, named(used, values));
    return value ? std::optional(*value != 0) : std::nullopt;
  });
}

}  // namespace ferry::cost
