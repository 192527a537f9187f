#include "crosscompile/cost/traffic.h"

#include "crosscompile/cost/access.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ferry::cost {

namespace {

constexpr double kLine = 64, kPage = 4096, kLinesInRow = 2;
// A line that is stored is read before, and written back.
constexpr double kStoredLine = 2;
// The part of a cache that is there for a loop's own data.
constexpr double kUsable = 0.85;

// A dimension's positions that are accessed.
struct Span {
  double low = 0, high = 0;
  double combinations = 1, constants = 1;
};

struct Footprint {
  std::vector<Span> spans;
  std::vector<double> strides, extents;
  double element_bytes = 4;
  bool is_stored = false;
};
using Footprints = std::unordered_map<const ir::Buffer*, Footprint>;

// Lines and bytes of caches.
struct Total {
  Lines lines;
  double bytes = 0;
};

// A loop nest with what its steps access.
struct Accessed {
  const LoopNest* nest = nullptr;
  std::vector<Access> accesses;
  std::vector<Accessed> inner;
  // In all iterations of the loop, and in one of them, once they are known.
  std::optional<Total> whole = {}, one = {};
};

Accessed accessed_of(const LoopNest& nest, const Variables& variables) {
  Accessed accessed{&nest, {}, {}};
  for (const Step& step : nest.steps)
    for (Access& access : accesses_of(step, variables)) accessed.accesses.push_back(std::move(access));
  for (const auto& inner : nest.inner) accessed.inner.push_back(accessed_of(*inner, variables));
  return accessed;
}

using Varying = std::unordered_map<const ir::ExprNode*, double>;  // extents of loops

Span span_of(const LinearIndex& index, const Access& access, const Varying& varying) {
  Span span{index.constant, index.constant};
  const auto extend = [&](double coefficient, double extent) {
    const double length = coefficient * (extent - 1);
    (length < 0 ? span.low : span.high) += length;
    span.combinations *= extent;
  };
  for (const LinearTerm& term : index.terms) {
    if (term.coefficient == 0) continue;
    const auto loop = varying.find(term.var);
    if (loop != varying.end()) extend(term.coefficient, loop->second);
    for (const Replica& replica : *access.replicas)
      if (replica.var == term.var) extend(term.coefficient, replica.extent);
  }
  if (index.reads_memory) span.low = 0, span.high = kPage, span.combinations = kPage;
  return span;
}

void add(const Access& access, const Varying& varying, Footprints& footprints) {
  std::vector<Span> spans;
  for (const LinearIndex& index : access.indices) spans.push_back(span_of(index, access, varying));
  const auto [place, is_new] = footprints.try_emplace(access.buffer);
  Footprint& footprint = place->second;
  footprint.is_stored |= access.is_store;
  if (is_new) {
    footprint.spans = std::move(spans);
    footprint.strides = access.strides;
    footprint.extents = access.extents;
    footprint.element_bytes = access.element_bytes;
    return;
  }
  for (std::size_t d = 0; d < std::min(spans.size(), footprint.spans.size()); ++d) {
    Span& mine = footprint.spans[d];
    if (spans[d].low != mine.low || spans[d].high != mine.high) ++mine.constants;
    mine.low = std::min(mine.low, spans[d].low);
    mine.high = std::max(mine.high, spans[d].high);
    mine.combinations = std::max(mine.combinations, spans[d].combinations);
  }
}

void add_all(const Accessed& accessed, Varying& varying, Footprints& footprints) {
  for (const Access& access : accessed.accesses) add(access, varying, footprints);
  for (const Accessed& inner : accessed.inner) {
    varying[inner.nest->var] = inner.nest->extent;
    add_all(inner, varying, footprints);
    varying.erase(inner.nest->var);
  }
}

// The part of a tensor that a loop holds in a cache.
struct Held {
  double lines = 0;
  double row_lines = 1;  // neighbouring lines
  double bytes = 0;      // taken in the cache: more than the lines have if rows lie a power of two apart
};

Held held_of(const Footprint& footprint) {
  Held held;
  double run = footprint.element_bytes, rows = 1, widest_stride = 0;
  bool is_run = true;
  for (std::size_t d = footprint.spans.size(); d-- > 0;) {
    const Span& span = footprint.spans[d];
    const double range = std::min(span.high - span.low + 1, footprint.extents[d]);
    const double count = std::max(1.0, std::min(range, span.combinations * span.constants));
    const double bytes = footprint.strides[d] * footprint.element_bytes;
    if (is_run && bytes <= run + kLine) {
      // Positions close together share lines.
      run += (range - 1) * bytes;
    } else {
      rows *= count;
      if (count > 1) widest_stride = std::max(widest_stride, bytes);
      is_run = false;
    }
    if (count < footprint.extents[d]) is_run = is_run && bytes * footprint.extents[d] <= run + kLine;
  }
  held.row_lines = std::ceil(run / kLine);
  held.lines = rows * held.row_lines;
  // Rows whose distance has a large power of two as a factor compete for few sets of the first level, of a page a way.
  const double step = std::gcd(static_cast<std::int64_t>(widest_stride), static_cast<std::int64_t>(kPage));
  held.bytes = rows * std::max(held.row_lines * kLine, rows > 1 ? step : 0);
  return held;
}

Total total_of(const Footprints& footprints) {
  Total total;
  for (const auto& [buffer, footprint] : footprints) {
    const Held held = held_of(footprint);
    const double lines = held.lines * (footprint.is_stored ? kStoredLine : 1);
    (held.row_lines >= kLinesInRow ? total.lines.in_row : total.lines.lone) += lines;
    total.bytes += held.bytes;
  }
  return total;
}

const Total& total_of(Accessed& accessed, bool with_own_loop) {
  std::optional<Total>& known = with_own_loop ? accessed.whole : accessed.one;
  if (known) return *known;
  Varying varying;
  if (with_own_loop && accessed.nest->var != nullptr) varying[accessed.nest->var] = accessed.nest->extent;
  Footprints footprints;
  add_all(accessed, varying, footprints);
  known = total_of(footprints);
  return *known;
}

Lines lines_in(Accessed& accessed, double capacity) {
  const Total& whole = total_of(accessed, true);
  if (whole.bytes <= capacity || (accessed.inner.empty() && accessed.accesses.empty())) return whole.lines;
  if (total_of(accessed, false).bytes <= capacity || accessed.inner.empty()) return whole.lines;
  Lines each;
  Footprints own;
  for (const Access& access : accessed.accesses) add(access, {}, own);
  each = total_of(own).lines;
  for (Accessed& inner : accessed.inner) {
    const Lines lines = lines_in(inner, capacity);
    each.in_row += inner.nest->share * lines.in_row;
    each.lone += inner.nest->share * lines.lone;
  }
  const double times = accessed.nest->extent;
  return {times * each.in_row, times * each.lone};
}

}  // namespace

std::array<Lines, 2> lines_of(const FunctionNest& function, const Core& core) {
  Accessed accessed = accessed_of(function.body, function.variables);
  const double all = total_of(accessed, true).bytes;
  std::array<Lines, 2> lines;
  for (std::size_t level = 0; level < lines.size(); ++level) {
    const double capacity = kUsable * core.caches[level].bytes;
    if (all > capacity) lines[level] = lines_in(accessed, capacity);
  }
  return lines;
}

}  // namespace ferry::cost
