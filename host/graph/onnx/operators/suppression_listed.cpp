// Suppression of few candidates. A detector gives almost all boxes of almost all classes scores below the threshold, so
// one pass over the scores finds the blocks of them that have candidates, and all else is computed on these alone.
#include <algorithm>
#include <optional>
#include <utility>

#include "host/graph/onnx/operators/suppression.h"

namespace ferry::graph::onnx {
namespace {

// Room for candidates, and for the blocks that contain some.
constexpr std::int64_t kListed = 512;
// Elements of a block, and of the smaller blocks inside of it.
constexpr std::int64_t kInner = 8;

class Listing {
 public:
  Listing(const NodeImport& node, const Detections& all, Value threshold)
      : node_(node), of_(node), all_(all), threshold_(std::move(threshold)) {}

  Listed run() {
    find_candidates();
    const Value line = of_.div(index_, of_.size(all_.count())), box = of_.modulo(index_, of_.size(all_.count()));
    const Value row = of_.add(of_.mul(of_.div(line, of_.size(all_.classes())), of_.size(all_.count())), box);
    const Value rows = of_.gather(of_.reshape(all_.rows, {all_.images() * all_.count(), 4}), row, 0);
    const Value same =
        both(of_.cast(line, DType::i32), [&](const Value& i, const Value& j) { return of_.equal(i, j); });
    const Value precedes = of_.logical_and(of_.logical_and(same, is_better()), as_row(of_, are_there_));
    const Boxes boxes = corners_of(of_, rows, {kListed}, all_.has_centers);
    const auto column = [&](const Value& one) { return as_column(of_, one); };
    const auto other = [&](const Value& one) { return as_row(of_, one); };
    const Value suppresses =
        of_.logical_and(precedes, overlap(of_, each_of(boxes, column), each_of(boxes, other), all_.overlap));
    const Value stay = remaining(node_, suppresses, are_there_, kListed);
    // Places among those of the class that stay.
    const Value before = of_.cast(of_.logical_and(precedes, as_row(of_, stay)), DType::i16);
    const Value rank = of_.cast(of_.reduce(Operator::reduce_sum, before, {1}, false), DType::i64);
    const Value most = of_.size(all_.most);
    const Value is_found = of_.logical_and(of_.logical_and(stay, are_few_), of_.less(rank, most));
    const Value to = of_.where(is_found, of_.add(of_.mul(line, most), rank), of_.number(rank, kNoIndex));
    const Size places = all_.images() * all_.classes() * all_.most;
    const auto moved = [&](const Value& values) {
      const Value empty = of_.filled({values.type.dtype, {places}}, 0);
      return of_.reshape(of_.scatter(empty, to, values, {0, ScatterMode::replace}),
                         {all_.images(), all_.classes(), all_.most});
    };
    return {are_few_, {moved(is_found), moved(box)}};
  }

 private:
  // Returns a function of entries i, the rows, and j.
  template <class Function>
  Value both(const Value& x, const Function& function) const {
    return function(as_column(of_, x), as_row(of_, x));
  }

  // Whether j has a greater score than i, or the same and stands in front of it.
  Value is_better() const {
    const Value at = of_.cast(of_.iota(kListed), DType::i32);
    const Value is_first = both(at, [&](const Value& i, const Value& j) { return of_.less(j, i); });
    return both(scores_, [&](const Value& i, const Value& j) {
      return of_.logical_or(of_.less(i, j), of_.logical_and(of_.equal(i, j), is_first));
    });
  }

  // Returns the places of the first elements that are true, and how many there are.
  std::pair<Value, Value> first_places(const Value& flags) const {
    const Value ones = of_.cast(flags, DType::i32);
    const Value rank = node_.add(Operator::cumulative_sum, {ones}, CumulativeAttributes{0, true, false});
    const Value to = of_.where(flags, rank, of_.number(rank, -0x1p31));
    const Value places = of_.scatter(of_.filled({DType::i64, {kListed}}, 0), to, of_.iota(flags.type.shape[0]),
                                     {0, ScatterMode::replace});
    return {places, of_.reduce(Operator::reduce_sum, ones, {0}, false)};
  }

  // Returns the blocks of scores [blocks, elements] that may have candidates, [kListed, elements], and which they are.
  // Rows behind the last one are below any threshold.
  std::pair<Value, Value> blocks_with_candidates(const Value& blocks) {
    const Value greatest = of_.reduce(Operator::reduce_max, blocks, {1}, false);
    const auto [places, count] = first_places(of_.logical_not(of_.less_equal(greatest, threshold_)));
    add_count(count);
    const Value is_there = as_column(of_, of_.less(of_.cast(of_.iota(kListed), DType::i32), count));
    return {of_.where(is_there, of_.gather(blocks, places, 0), of_.number(blocks, kLowestScore)), places};
  }
  void add_count(const Value& count) {
    const Value fits = of_.less_equal(count, static_cast<double>(kListed));
    are_few_ = counts_++ == 0 ? fits : of_.logical_and(are_few_, fits);
  }

  // Returns the scores as blocks whose number of elements is a multiple of kInner.
  Value in_blocks() const {
    const Value flat = of_.reshape(all_.scores, {element_count(all_.scores.type.shape)});
    const Size& count = flat.type.shape[0];
    for (const std::int64_t width : {64, 80, 72, 56, 48, 40, 96, 120, 32, 128}) {
      if (const std::optional<Size> number = divide_exactly(count, width)) return of_.reshape(flat, {*number, width});
    }
    constexpr std::int64_t kWidth = 64;
    const Size number = floor_divide(count + (kWidth - 1), kWidth);
    return of_.reshape(of_.pad(flat, 0, 0, number * kWidth - count, kLowestScore), {number, kWidth});
  }

  void find_candidates() {
    const Value outer = in_blocks();
    const std::int64_t width = *outer.type.shape[1].constant(), parts = width / kInner;
    const auto [blocks, block] = blocks_with_candidates(outer);
    const auto [inner, part] = blocks_with_candidates(of_.reshape(blocks, {kListed * parts, kInner}));
    const Value scores = of_.reshape(inner, {kListed * kInner});
    const auto [places, count] = first_places(of_.less(threshold_, scores));
    add_count(count);
    // In the list of small blocks, in that of large ones, and among all.
    const auto inside = [&](const Value& around, const Value& at, std::int64_t size) {
      const Value which = of_.gather(around, of_.div(at, static_cast<double>(size)), 0);
      return of_.add(of_.mul(which, static_cast<double>(size)), of_.modulo(at, static_cast<double>(size)));
    };
    const Value in_all = inside(block, part, parts);
    const Value is_there = of_.less(of_.cast(of_.iota(kListed), DType::i32), count);
    // Places without a candidate have the first box, which is compared with nothing.
    const Value index = inside(in_all, places, kInner);
    index_ = of_.where(is_there, index, of_.number(index, 0));
    are_there_ = is_there;
    scores_ = of_.gather(scores, places, 0);
  }

  const NodeImport& node_;
  const NodeOps of_;
  const Detections& all_;
  const Value threshold_;
  Value are_few_;
  int counts_ = 0;
  Value index_, are_there_, scores_;  // for each place in the list
};

}  // namespace

Listed suppress_listed(const NodeImport& node, const Detections& all, const Value& threshold) {
  return Listing(node, all, threshold).run();
}

}  // namespace ferry::graph::onnx
