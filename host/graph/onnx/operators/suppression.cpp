#include "host/graph/onnx/operators/suppression.h"

#include <algorithm>
#include <bit>

#include "host/graph/onnx/operators/iterations.h"

namespace ferry::graph::onnx {
namespace {

// Whether any element along the last dimension is true.
Value any(const NodeOps& of, const Value& x) {
  const std::size_t last = x.type.shape.size() - 1;
  return of.less(0, of.reduce(Operator::reduce_max, of.cast(x, DType::u8), {last}, false));
}
Value any_of_all(const NodeOps& of, const Value& x) {
  return of.less(
      0, of.reduce(Operator::reduce_max, of.cast(x, DType::u8), dimensions_from(0, x.type.shape.size()), false));
}

}  // namespace

Value as_row(const NodeOps& of, const Value& x) { return with_dimension(of, x, x.type.shape.size() - 1); }
Value as_column(const NodeOps& of, const Value& x) { return with_dimension(of, x, x.type.shape.size()); }

Found suppress_one_by_one(const NodeImport& node, const Detections& all, const Value& candidates) {
  const NodeOps of(node);
  const auto step = [&](const std::vector<Value>& states, const std::vector<Value>&) {
    const Value& are_left = states[1];
    const Value score = of.where(are_left, all.scores, of.number(all.scores, kLowestScore));
    const Value best = of.reduce(Operator::arg_max, score, {2});
    const Value is_found = of.gather_elements(are_left, best, 2);
    const Boxes box = each_of(all.boxes, [&](const Value& one) { return of.gather_elements(one, best, 2); });
    const Value is_itself = of.equal(of.iota(all.count(), 2, 3), best);
    const Value is_removed = of.logical_or(is_itself, overlap(of, all.boxes, box, all.overlap));
    return LoopResults{{any_of_all(of, is_found), of.logical_and(are_left, of.logical_not(is_removed))},
                       {{best}, {is_found}}};
  };
  // Behind the first iteration that finds none for any class there are none.
  const std::vector<Value> results =
      node.add_loop({all.most, true}, {node.constant(DType::boolean, 1), candidates}, {}, step);
  const auto by_class = [&](const Value& entries) {
    const Value lines = of.reshape(entries, {all.most, all.images() * all.classes()});
    return of.reshape(of.transpose(lines, {1, 0}), {all.images(), all.classes(), all.most});
  };
  return {by_class(results[3]), by_class(results[2])};
}

// The first box stays, and once those in front of a box are decided, so is that: what changes nothing is the only
// solution.
Value remaining(const NodeImport& node, const Value& suppresses, const Value& are_there, std::int64_t count) {
  const NodeOps of(node);
  const auto step = [&](const std::vector<Value>& states, const std::vector<Value>&) {
    const Value is_suppressed = any(of, of.logical_and(suppresses, as_row(of, states[1])));
    const Value stay = of.logical_and(are_there, of.logical_not(is_suppressed));
    return LoopResults{{any_of_all(of, of.logical_not(of.equal(stay, states[1]))), stay}, {}};
  };
  return node.add_loop({count + 1, true}, {node.constant(DType::boolean, 1), are_there}, {}, step)[1];
}

namespace {

constexpr std::int64_t kLeastBlock = 32, kMostBlock = 128;

std::int64_t block_of(const Detections& all) {
  const auto most =
      static_cast<std::uint64_t>(std::clamp(all.most.constant().value_or(kMostBlock), kLeastBlock, kMostBlock));
  return static_cast<std::int64_t>(std::bit_ceil(most));
}

}  // namespace

// Returns the places of the greatest scores of each class, the first of equal ones first. Where their number is open,
// they are found in parts of the boxes, one after the other; places behind the last box are none.
Value greatest(const NodeImport& node, const Value& scores, std::int64_t block) {
  const NodeOps of(node);
  const TopKAttributes first{block, true};
  const Shape& shape = scores.type.shape;
  if (shape[2].constant()) return node.add(Operator::top_k, {scores}, first);
  // Together with what earlier parts gave, as many as a sorting network has.
  constexpr std::int64_t kSorted = 2048;
  const std::int64_t part = kSorted - block;
  const Size parts = floor_divide(shape[2] + (part - 1), part);
  const Value padded = of.pad(scores, 2, 0, parts * part - shape[2], kLowestScore);
  const Value entries = of.transpose(of.reshape(padded, {shape[0], shape[1], parts, part}), {2, 0, 1, 3});
  const Shape lines = {shape[0], shape[1], block};
  const std::vector<Value> none = {of.filled({scores.type.dtype, lines}, kLowestScore),
                                   of.broadcast(of.reshape(of.size(shape[2]), {1, 1, 1}), lines)};
  const auto step = [&](const std::vector<Value>& states, const std::vector<Value>& part_of) {
    const Value places =
        of.broadcast(of.add(of.iota(part, 2, 3), of.reshape(part_of[1], {1, 1, 1})), {shape[0], shape[1], part});
    const Value all = of.concat({states[0], of.reshape(part_of[0], {shape[0], shape[1], part})}, 2);
    const Value best = node.add(Operator::top_k, {all}, first);
    return LoopResults{
        {of.gather_elements(all, best, 2), of.gather_elements(of.concat({states[1], places}, 2), best, 2)}, {}};
  };
  return node.add_loop({parts, false}, none, {{entries}, {of.mul(of.iota(parts), static_cast<double>(part))}}, step)[1];
}

bool are_blocks(const Detections& all) {
  const std::optional<std::int64_t> boxes = all.count().constant();
  return !boxes || *boxes >= 4 * block_of(all);
}

Found suppress_by_blocks(const NodeImport& node, const Detections& all, const Value& candidates) {
  const NodeOps of(node);
  const std::int64_t block = block_of(all);
  const Size& boxes = all.count();
  const Shape lines = {all.images(), all.classes(), 1}, kept = {all.images(), all.classes(), all.most};
  const Value place = of.iota(boxes, 2, 3), at = of.iota(block);
  const Value is_better = of.less(as_row(of, at), as_column(of, at));
  const auto boxes_at = [&](const Value& index) {
    return each_of(all.boxes, [&](const Value& one) { return of.gather_elements(one, index, 2); });
  };
  // Whether boxes [..., a] overlap those [..., b] that are there: [..., a, b].
  const auto overlaps = [&](const Boxes& a, const Boxes& b, const Value& are_there) {
    const Value are_near = overlap(of, each_of(a, [&](const Value& one) { return as_column(of, one); }),
                                   each_of(b, [&](const Value& one) { return as_row(of, one); }), all.overlap);
    return of.logical_and(are_near, are_there);
  };
  const auto step = [&](const std::vector<Value>& states, const std::vector<Value>&) {
    const Value &last_score = states[1], &last_place = states[2], &number = states[3], &is_found = states[4],
                &best = states[5];
    // Those behind the last one of the block before.
    const Value are_behind = of.logical_or(
        of.less(all.scores, last_score), of.logical_and(of.equal(all.scores, last_score), of.less(last_place, place)));
    const Value are_left = of.logical_and(candidates, are_behind);
    const Value scores = of.where(are_left, all.scores, of.number(all.scores, kLowestScore));
    const Value places = greatest(node, scores, block);
    const bool is_open = !boxes.constant();
    const Value index = is_open ? of.where(of.less(places, of.size(boxes)), places, of.number(places, 0)) : places;
    Value are_there = of.gather_elements(are_left, index, 2);
    if (is_open) are_there = of.logical_and(are_there, of.less(places, of.size(boxes)));
    const Boxes these = boxes_at(index);
    const Value none = of.filled({DType::boolean, index.type.shape}, 0);
    const Value is_any_found = any_of_all(of, of.less(0, number));
    const Value are_suppressed = node.add_loop(
        {1, true}, {is_any_found, none}, {}, [&](const std::vector<Value>& begun, const std::vector<Value>&) {
          return LoopResults{{begun[0], any(of, overlaps(these, boxes_at(best), as_row(of, is_found)))}, {}};
        })[1];
    const Value stay = remaining(node, overlaps(these, these, is_better),
                                 of.logical_and(are_there, of.logical_not(are_suppressed)), block);
    const Value ones = of.cast(stay, DType::i64);
    const Value rank = of.add(node.add(Operator::cumulative_sum, {ones}, CumulativeAttributes{2, true, false}), number);
    const Value to = of.where(stay, rank, of.number(rank, kNoIndex));
    const Value all_found = of.add(number, of.reduce(Operator::reduce_sum, ones, {2}));
    const Value last = of.slice(index, 2, block - 1, 1);
    const Value may_be_more =
        of.logical_and(of.slice(are_there, 2, block - 1, 1), of.less(all_found, of.size(all.most)));
    return LoopResults{
        {any_of_all(of, may_be_more), of.gather_elements(scores, last, 2), last, all_found,
         of.scatter(is_found, to, of.filled({DType::boolean, index.type.shape}, 1), {2, ScatterMode::replace}),
         of.scatter(best, to, index, {2, ScatterMode::replace})},
        {}};
  };
  const std::vector<Value> first = {
      node.constant(DType::boolean, 1),     of.filled({all.scores.type.dtype, lines}, -kLowestScore),
      of.filled({DType::i64, lines}, -1),   of.filled({DType::i64, lines}, 0),
      of.filled({DType::boolean, kept}, 0), of.filled({DType::i64, kept}, 0)};
  const std::vector<Value> results = node.add_loop({floor_divide(boxes + (block - 1), block), true}, first, {}, step);
  return {results[4], results[5]};
}

}  // namespace ferry::graph::onnx
