// Tests of loops with several vectorized axes.
#include "crosscompile/ir/visitor.h"
#include "crosscompile/passes/lost_vectors.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace ferry::test;

TEST_CASE("of two nested vectorized loops the outer one runs lane after lane") {
  const char* const copy = "def f(int32(N,M) A) -> (C) { C(i,j) = A(i,j) + A(j,i) where i in 0:4, j in 0:4 }";
  for (const char* const schedule :
       {"C: vectorize i\nC: vectorize j\n", "C: tile i j 2 2\nC: vectorize i.inner\nC: vectorize j.inner\n"})
    check_schedule(copy, schedule, {{"N", 4}, {"M", 4}});
}

TEST_CASE("partial results in lanes stand beside lanes of results") {
  const char* const sum = "def f(int32(N,M) A) -> (C) { C(i) +=! A(i,r) where i in 0:5, r in 0:M }";
  for (const int m : {0, 1, 8, 21}) {
    check_schedule(sum, "C: vectorize i\nC: split r 8\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
    check_schedule(sum, "C: vectorize i\nC: split r 5\nC: vectorize r.inner reduce\n", {{"N", 5}, {"M", m}});
    check_schedule(sum, "C: split i 4\nC: vectorize i.inner\nC: split r 4\nC: vectorize r.inner reduce\n",
                   {{"N", 5}, {"M", m}});
  }
}

TEST_CASE("lanes of a reduction under a choice stand inside of lanes of results") {
  const char* const largest =
      "def f(int32(N,M) A) -> (C) { C(i,j) max=! (r % 2 == 0 ? A(i,r) : A(j,r)) where i in 0:1, j in 0:2, r in 0:M }";
  check_schedule(largest, "C: vectorize j\nC: split r 2\nC: vectorize r.inner reduce\n", {{"N", 2}, {"M", 7}});
}

namespace {

// Pooling over whole rows, with padding that is computed where it is read.
const char* const kRows =
    "def pool(int(2,9,40) I) -> (Y) {\n"
    "P(c,h,w) = h >= 1 && h <= 9 && w >= 1 && w <= 40 ? I(c,h-1,w-1) : -7 where h in 0:11, w in 0:42\n"
    "Y(c,h,w) max=! P(c,h+kh,w+kw) where kh in 0:3, kw in 0:3 }";

// Finds the number of lanes of the widest vector stored to this buffer.
class StoredLanes : public ferry::ir::Visitor {
 public:
  explicit StoredLanes(const ferry::ir::Function& function, std::string buffer) : buffer_(std::move(buffer)) {
    visit(function.body);
  }
  std::uint32_t widest = 0;

 protected:
  using Visitor::visit_node;
  void visit_node(const ferry::ir::Store& node) override {
    if (node.buffer->name == buffer_) widest = std::max(widest, node.value.type().lanes);
    Visitor::visit_node(node);
  }

 private:
  std::string buffer_;
};

ferry::Target target_of(std::uint32_t bits, bool masks) {
  ferry::Target target;
  target.set_arch("x86_64");
  target.capabilities = capabilities_of(target);
  target.vector_bits = bits;
  target.capabilities.masks = masks;
  return target;
}

}  // namespace

TEST_CASE("a whole row of a padded image becomes vectors beside its border") {
  const std::string inlined = "P: compute_inline\n";
  for (const std::string schedule : {"Y: fuse c h -> f\nY: parallel f\nY: vectorize w", "Y: vectorize w",
                                     "Y: unroll kh\nY: unroll kw\nY: vectorize w",
                                     "Y: reorder c h kh kw w\nY: vectorize w", "Y: split w 16\nY: vectorize w.inner"})
    check_schedule(kRows, inlined + schedule);
  for (const bool masks : {false, true}) {
    const ferry::Target target = target_of(masks ? 512 : 128, masks);
    const auto function = compiled(kRows, inlined + "Y: fuse c h -> f\nY: parallel f\nY: vectorize w", target);
    CHECK(StoredLanes(function, "Y").widest == 38);
  }
}

TEST_CASE("rows whose border is most of them keep their lanes under masks") {
  const char* const narrow =
      "def pool(int(5,8) I) -> (Y) {\n"
      "P(h,w) = w >= 4 && w < 12 ? I(h,w-4) : 0 where h in 0:5, w in 0:16\n"
      "Y(h,w) +=! P(h,w+kw) where kw in 0:9, w in 0:8 }";
  check_schedule(narrow, "P: compute_inline\nY: vectorize w");
  CHECK(StoredLanes(compiled(narrow, "P: compute_inline\nY: vectorize w", target_of(512, true)), "Y").widest == 8);
}

TEST_CASE("a vectorized row that no register holds becomes a loop over native vectors") {
  const char* const rows = "def f(int(3,8199) A) -> (B) { B(i,j) = A(i,j) * 2 + 1 }";
  check_schedule(rows, "vectorize j");
  CHECK(StoredLanes(compiled(rows, "vectorize j", target_of(256, false)), "B").widest == 128);
  const char* const sums = "def f(int(5,2500) A, int(3,5) W) -> (B) { B(i,j) +=! W(i,k) * A(k,j) }";
  check_schedule(sums, "vectorize j");
  check_schedule(sums, "reorder i k j\nvectorize j");
}

TEST_CASE("a vectorized loop that becomes no vector at all is told") {
  const char* const shifted =
      "def pool(int(9,40) I) -> (Y) {\n"
      "Y(h,w) max=! w%7 + kw >= 3 ? I(h,w%7+kw-3) : -7 where kw in 0:5, h in 0:9, w in 0:40 }";
  const std::string schedule = "Y: vectorize w";
  const auto lost = [](const char* source, const std::string& text, const ferry::Target& target) {
    const ferry::lang::Program program = ferry::lang::parse(source, "test.tc").at(0);
    const ferry::ir::Function lowered = ferry::lower::lower(program, ferry::schedule::Schedule::replay(program, text));
    ferry::passes::LostVectors vectors(lowered, target);
    vectors.run_passes(lowered, target);
    return vectors.names();
  };
  using Names = std::vector<std::string>;
  CHECK(lost(shifted, schedule, target_of(128, false)) == Names{"w"});
  CHECK(lost(shifted, schedule, target_of(512, true)) == Names{});
  check_schedule(shifted, schedule);
  CHECK(lost(kRows, "P: compute_inline\nY: vectorize w", target_of(128, false)) == Names{});
  // Both sides of this conditional may be computed, so it needs no masks.
  const char* const chosen =
      "def f(int(9,40) I) -> (Y) { Y(h,w) max=! w%7 + kw < 7 ? I(h,w) : 3 where kw in 0:3, h in 0:9, w in 0:40 }";
  CHECK(lost(chosen, schedule, target_of(128, false)) == Names{});
  check_schedule(chosen, schedule);
  CHECK(lost("def f(int(N) A) -> (B) { B(i) = A(i) + 1 }", "split i 8\nvectorize i.inner", target_of(128, false)) ==
        Names{});
}
