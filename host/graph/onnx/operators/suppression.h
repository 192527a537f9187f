// Three ways to leave out boxes that overlap better ones of their class. All give the same boxes.
#pragma once

#include <cstdint>
#include <limits>

#include "host/graph/onnx/operators/boxes.h"

namespace ferry::graph::onnx {

inline constexpr double kLowestScore = -std::numeric_limits<double>::infinity();

// Boxes and their scores, and how they are chosen.
struct Detections {
  Value rows;    // [images, boxes, 4]
  Boxes boxes;   // the same, [images, 1, boxes]; a list of candidates does without
  Value scores;  // [images, classes, boxes]
  bool has_centers = false;
  Value overlap;  // boxes with a larger one suppress each other
  Size most;      // boxes of a class

  const Size& images() const { return scores.type.shape[0]; }
  const Size& classes() const { return scores.type.shape[1]; }
  const Size& count() const { return scores.type.shape[2]; }
};

// The boxes that are left of each class of each image, the best first: [images, classes, most].
struct Found {
  Value is_found, best;
};

// One box after the other, of all classes at once: the best that is left suppresses those that overlap it. `are_left`
// are the candidates, [images, classes, boxes].
Found suppress_one_by_one(const NodeImport& node, const Detections& all, const Value& are_left);

// Blocks of the best candidates that are left, as long as a class may need more. If the number of boxes is no constant,
// the scores of candidates are greater than the least one.
Found suppress_by_blocks(const NodeImport& node, const Detections& all, const Value& are_left);
// Whether there are boxes enough for more than one block, or an open number.
bool are_blocks(const Detections& all);

// All candidates of all classes in one list. `are_few` is whether it has room for them; nothing is found otherwise.
struct Listed {
  Value are_few;
  Found found;
};
Listed suppress_listed(const NodeImport& node, const Detections& all, const Value& threshold);

// Return x with a further dimension of size 1 in front of the last one, and behind it.
Value as_row(const NodeOps& of, const Value& x);
Value as_column(const NodeOps& of, const Value& x);

// Returns which boxes stay if each of them suppresses those that `suppresses` names: whether box j (last dimension),
// which is better than i (the dimension before), suppresses that if it stays. `are_there` are the boxes, whose number
// is `count`; the others do not stay.
Value remaining(const NodeImport& node, const Value& suppresses, const Value& are_there, std::int64_t count);

}  // namespace ferry::graph::onnx
