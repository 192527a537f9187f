// Tests where the epilogues of products are computed.
#include "ferry/lang/text.h"
#include "host/autoschedule/decide_at.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <tuple>

using namespace ferry;
using autoschedule::DecidedSchedule;

namespace {

const char* const kProduct =
    "def f(int(M,K) A, int(K,N) B, int(N) D) -> (Y) {\n  C(m,n) +=! A(m,k) * B(k,n)\n  E(m,n) = C(m,n) * C(m,n)\n"
    "  Y(m,n) = max(E(m,n) + D(n), E(m,n))\n}";
const char* const kConvolution =
    "def f(int(1,C,H,W,4) I, const int(O,C,3,3,4,4) K, int(O,4) B) -> (Y) {\n"
    "  S(n,o,h,w,v) +=! I(n,c,h+kh,w+kw,u) * K(o,c,kh,kw,u,v) where h in 0:H-2, w in 0:W-2\n"
    "  Y(n,o,h,w,v) = max(S(n,o,h,w,v) + B(o,v), S(n,o,h,w,v))\n}";

DecidedSchedule decided(const char* source, const std::string& point, const autoschedule::Sizes& sizes,
                        std::uint64_t l2_bytes = 1 << 20) {
  const auto programs = lang::parse(source, "test.tc");
  return autoschedule::decide_module_at(programs, {point, "p"}, test::small_cpu(128, 256, l2_bytes), {}, sizes).at(0);
}

bool has(const std::string& text, const std::string& line) { return text.find(line + "\n") != std::string::npos; }

}  // namespace

TEST_CASE("an epilogue is a copy for each row of a tile, a loop over them, or a stage of its own") {
  const autoschedule::Sizes sizes = {{"M", 37}, {"K", 17}, {"N", 23}};
  for (const std::string order : {"rows_outside", "columns_outside"}) {
    const std::string common = "C: tile=5x2, order=" + order;
    const std::string unrolled = decided(kProduct, common, sizes).schedule.to_text();
    CHECK(decided(kProduct, common + ", epilogue=unrolled", sizes).schedule.to_text() == unrolled);
    const std::string loop = decided(kProduct, common + ", epilogue=loop", sizes).schedule.to_text();
    const DecidedSchedule apart_decided = decided(kProduct, common + ", epilogue=apart", sizes);
    const std::string apart = apart_decided.schedule.to_text();
    const std::string around = order == "rows_outside" ? "n.outer" : "m.outer";
    for (const std::string& text : {unrolled, loop}) {
      INFO(text);
      CHECK(has(text, "C: compute_at Y " + around));
      CHECK(has(text, "Y: unroll n.inner.outer"));
      CHECK(has(text, "C: unroll m.inner"));
    }
    CHECK(has(unrolled, "Y: unroll m.inner"));
    CHECK_FALSE(has(loop, "Y: unroll m.inner"));
    CHECK_FALSE(has(apart, "C: compute_at Y " + around));
    CHECK(apart_decided.decisions.at(1).rule == "injective");
    for (const std::string& text : {unrolled, loop, apart})
      for (const auto& [rows, depth, columns] : {std::tuple{37, 17, 23}, {1, 1, 1}, {11, 0, 9}, {5, 3, 8}})
        test::check_schedule(kProduct, text, {{"M", rows}, {"K", depth}, {"N", columns}});
  }
}

TEST_CASE("rows of tiles of one vector and pixels of an image are loops of an epilogue too") {
  const autoschedule::Sizes sizes = {{"M", 37}, {"K", 17}, {"N", 23}};
  const std::string narrow = decided(kProduct, "C: tile=7x1, epilogue=loop", sizes).schedule.to_text();
  CHECK_FALSE(has(narrow, "Y: unroll m.inner"));
  CHECK(has(narrow, "Y: vectorize n.inner"));
  test::check_schedule(kProduct, narrow, {{"M", 10}, {"K", 3}, {"N", 13}});
  const autoschedule::Sizes image = {{"C", 2}, {"O", 3}, {"H", 9}, {"W", 13}};
  const std::string pixels = decided(kConvolution, "S: epilogue=loop", image).schedule.to_text();
  INFO(pixels);
  CHECK(has(pixels, "S: unroll w.inner"));
  CHECK_FALSE(has(pixels, "Y: unroll w.inner"));
  CHECK(has(pixels, "Y: unroll o.inner"));
  for (const std::int64_t width : {13, 4, 3})
    test::check_schedule(kConvolution, pixels, {{"C", 1}, {"O", 3}, {"H", 5}, {"W", width}});
}

TEST_CASE("blocks of the depth separate an epilogue, and the whole depth brings it back") {
  const autoschedule::Sizes deep = {{"M", 33}, {"K", 1601}, {"N", 19}};
  const std::string blocks = decided(kProduct, "", deep, 600).schedule.to_text();
  CHECK(has(blocks, "C: split k 801"));
  CHECK(blocks.find("C: compute_at") == std::string::npos);
  const std::string whole = decided(kProduct, "C: depth_block=1601", deep, 600).schedule.to_text();
  CHECK_MESSAGE(has(whole, "C: compute_at Y n.outer"), whole);
  const std::string split =
      decided(kProduct, "C: depth_block=128", {{"M", 33}, {"K", 300}, {"N", 19}}).schedule.to_text();
  CHECK_MESSAGE(split.find("C: compute_at") == std::string::npos, split);
  for (const std::string& text : {blocks, whole, split})
    test::check_schedule(kProduct, text, {{"M", 7}, {"K", 131}, {"N", 9}});
}

TEST_CASE("long sums whose columns stay in the second-level cache have no blocks of the depth before an epilogue") {
  // Columns of 608 KB.
  const autoschedule::Sizes deep = {{"M", 900}, {"K", 1601}, {"N", 95}};
  const std::string whole = decided(kProduct, "", deep, 2 << 20).schedule.to_text();
  CHECK_MESSAGE(whole.find("C: compute_at Y") != std::string::npos, whole);
  const std::string blocks = decided(kProduct, "", deep, 1 << 20).schedule.to_text();
  CHECK_MESSAGE(has(blocks, "C: split k 801"), blocks);
  const char* const plain = "def f(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const std::string without = decided(plain, "", deep, 2 << 20).schedule.to_text();
  CHECK_MESSAGE(has(without, "C: split k 801"), without);
}

TEST_CASE("error functions are in a loop over the rows of a tile where there are registers for their coefficients") {
  const char* const gelu =
      "def f(float(M,K) A, float(K,N) B, float(N) D) -> (Y) {\n  C(m,n) +=! A(m,k) * B(k,n)\n"
      "  E(m,n) = erf(C(m,n) * 0.7)\n  Y(m,n) = (C(m,n) + D(n)) * (1 + E(m,n))\n}";
  const char* const bounded =
      "def f(float(M,K) A, float(K,N) B, float(N) D) -> (Y) {\n  C(m,n) +=! A(m,k) * B(k,n)\n"
      "  Y(m,n) = max(tanh(C(m,n)) + D(n), 0)\n}";
  const auto place = [](const char* source, std::uint32_t registers) {
    Target target = test::small_cpu(128, 256, 1 << 20);
    target.vector_registers = registers;
    const DecidedSchedule found = autoschedule::decide_module_at(lang::parse(source, "test.tc"), {"", "p"}, target, {},
                                                                 {{"M", 37}, {"K", 17}, {"N", 23}})
                                      .at(0);
    return found.points.at(0).number("epilogue");
  };
  CHECK(place(gelu, 32) == 1);
  CHECK(place(gelu, 16) == 0);
  CHECK(place(bounded, 32) == 0);
}
