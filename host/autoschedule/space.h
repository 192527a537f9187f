// The choices that a rule leaves open, as data: a space of typed knobs, and the points in it. The default schedule
// takes the default point of every space; a search may take any other. Every point gives a legal schedule with the same
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ferry::autoschedule {

enum class KnobKind : std::uint8_t {
  tile,    // factors by which loops are split
  order,   // one of several orders of loops, or one of several axes, by name
  flag,    // 0 or 1
  unroll,  // number of copies of a loop's body
  grain,   // number of loops, iterations or buffers that are handled as one
};

// "tile"
const char* kind_name(KnobKind kind);

// One number, or several that are chosen together because they share a limit, as the sides of a register tile do.
using KnobValue = std::vector<std::int64_t>;

struct SpaceKnob {
  std::string name;
  KnobKind kind = KnobKind::flag;
  std::vector<KnobValue> candidates;     // all different
  std::size_t default_index = 0;         // among the candidates
  std::vector<std::string> parts = {};   // what each number of a value is, unless there is only one
  std::vector<std::string> labels = {};  // an order's: the name of each candidate, whose value is its index
  bool is_for_threads = false;           // how threads share out the work: one thread has nothing to choose

  const KnobValue& default_value() const { return candidates[default_index]; }
};

// The default of number_knob() and tile_knob() is added to the candidates if it is not among them. Numbers are sorted.
SpaceKnob flag_knob(std::string name, bool is_default);
SpaceKnob number_knob(std::string name, KnobKind kind, std::vector<std::int64_t> candidates,
                      std::int64_t default_value);
SpaceKnob tile_knob(std::string name, std::vector<std::string> parts, std::vector<KnobValue> candidates,
                    const KnobValue& default_value);
SpaceKnob order_knob(std::string name, std::vector<std::string> labels, std::size_t default_index);
// Returns the knob with is_for_threads.
SpaceKnob for_threads(SpaceKnob knob);

// A value for each knob of a space, by name.
class Point {
 public:
  explicit Point(std::map<std::string, KnobValue> values) : values_(std::move(values)) {}

  const std::map<std::string, KnobValue>& values() const { return values_; }
  // The knob must exist.
  const KnobValue& operator[](const std::string& knob) const { return values_.at(knob); }
  std::int64_t number(const std::string& knob) const { return values_.at(knob).at(0); }
  // The same for a knob that the space may lack.
  std::int64_t number(const std::string& knob, std::int64_t without) const;
  // Returns false for a knob that the space does not have: the rule then leaves nothing to choose.
  bool flag(const std::string& knob) const;
  bool operator==(const Point&) const = default;

 private:
  std::map<std::string, KnobValue> values_;
};

struct Space {
  std::vector<SpaceKnob> knobs;

  // Returns the number of points: the product of the numbers of candidates, at most the largest uint64.
  std::uint64_t size() const;
  Point default_point() const;
  // Whether the point has exactly these knobs, each with one of its candidates.
  bool contains(const Point& point) const;
};

// Returns a * b, at most the largest uint64.
std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

// "6x2", "yes", or the label of an order.
std::string value_text(const SpaceKnob& knob, const KnobValue& value);
// "tile rows x vectors: 1x1, 2x1, [6x2]": the candidates, with the chosen one in brackets.
std::string to_text(const SpaceKnob& knob, const KnobValue& chosen);
// The same with the default in brackets.
inline std::string to_text(const SpaceKnob& knob) { return to_text(knob, knob.default_value()); }

}  // namespace ferry::autoschedule
