#include "host/autoschedule/space.h"

#include "crosscompile/ir/error.h"
#include "ferry/lang/text.h"
#include "host/autoschedule/decisions.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <limits>

using namespace ferry;
using autoschedule::KnobKind;
using autoschedule::Point;
using autoschedule::Space;

namespace {

Space example() {
  return {{autoschedule::tile_knob("tile", {"rows", "vectors"}, {{1, 1}, {4, 2}, {6, 2}}, {4, 2}),
           autoschedule::order_knob("order", {"rows_outside", "columns_outside"}, 1),
           autoschedule::flag_knob("pack", true),
           autoschedule::number_knob("steps", KnobKind::unroll, {8, 2, 4, 2}, 3)}};
}

}  // namespace

TEST_CASE("the size of a space is the product of its knobs, and stays at the largest number") {
  CHECK(Space().size() == 1);
  CHECK(example().size() == 3U * 2 * 2 * 4);
  Space large;
  for (int i = 0; i < 64; ++i) large.knobs.push_back(autoschedule::flag_knob("flag" + std::to_string(i), false));
  CHECK(large.size() == std::numeric_limits<std::uint64_t>::max());
  large.knobs.pop_back();
  CHECK(large.size() == std::uint64_t{1} << 63);
  CHECK(autoschedule::points_of({{"a", "r", large}, {"b", "r", example()}}) ==
        std::numeric_limits<std::uint64_t>::max());
}

TEST_CASE("a knob's numbers are sorted, differ from one another and have the default among them") {
  CHECK(autoschedule::to_text(example().knobs[3]) == "steps: 2, [3], 4, 8");
  CHECK(autoschedule::to_text(autoschedule::tile_knob("tile", {"rows", "lanes"}, {{4, 4}}, {8, 8})) ==
        "tile rows x lanes: 4x4, [8x8]");
  CHECK(autoschedule::to_text(example().knobs[1]) == "order: rows_outside, [columns_outside]");
  CHECK(autoschedule::to_text(example().knobs[2]) == "pack: no, [yes]");
}

TEST_CASE("a space contains its default point, and no point with another value, knob or number of knobs") {
  const Space space = example();
  const Point point = space.default_point();
  CHECK(space.contains(point));
  CHECK(point["tile"] == autoschedule::KnobValue{4, 2});
  CHECK(point.number("steps") == 3);
  CHECK(point.flag("pack"));
  CHECK_FALSE(point.flag("unknown"));
  std::map<std::string, autoschedule::KnobValue> values = point.values();
  values["tile"] = {6, 4};
  CHECK_FALSE(space.contains(Point(values)));
  values["tile"] = {6, 2};
  CHECK(space.contains(Point(values)));
  values.erase("pack");
  CHECK_FALSE(space.contains(Point(values)));
  values["other"] = {1};
  CHECK_FALSE(space.contains(Point(values)));
}

TEST_CASE("a point that is not in the space is refused") {
  const lang::Program program = lang::parse("def f(int(M,N) A) -> (B) { B(i,j) = A(i,j) + 1 }", "test.tc").at(0);
  const auto choose = [](const autoschedule::Decision& decision) {
    std::map<std::string, autoschedule::KnobValue> values = decision.space.default_point().values();
    if (decision.rule == "injective") values["lanes"] = {3};
    return Point(std::move(values));
  };
  CHECK_THROWS_WITH_AS(autoschedule::decide_schedule(program, test::small_cpu(128), {}, choose),
                       "B: injective: expected a point of its space", CompileError);
}
