// Tests of copies with room for whole vectors, and of the stages that read them.
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry::test;

namespace {

const char* const kProduct = "def mm(int32(M,K) A, int32(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kTiles =
    "C: split n 8\nC: split n.inner 4\nC: split m 3\nC: reorder n.outer m.outer k m.inner n.inner.outer "
    "n.inner.inner\nC: unroll m.inner\nC: unroll n.inner.outer\nC: vectorize n.inner.inner\n";

// Returns the part of a line from its first word on: "B.global[" finds the store to B.global.
std::string line_with(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("  " + begin);
  return at == std::string::npos ? "" : text.substr(at + 2, text.find('\n', at + 2) - at - 2);
}

bool chooses(const std::string& line) { return line.find(" ? ") != std::string::npos; }

void check_sizes(const std::string& schedule) {
  for (const int n : {0, 1, 4, 7, 8, 13, 37})
    for (const int m : {1, 3, 7}) check_schedule(kProduct, schedule, {{"M", m}, {"N", n}, {"K", 5}});
}

}  // namespace

TEST_CASE("lanes beyond a packed operand's last element are 0, and are read without a test") {
  const std::string packed =
      "B: cache_read global C -> B.global\nB.global: transform_layout (d0, d1) -> (d1/8, d0, d1%8)\n";
  const std::string vectors =
      "B.global: split i1 8\nB.global: split i1.inner 4\nB.global: reorder i1.outer i0 i1.inner.outer i1.inner.inner\n"
      "B.global: unroll i1.inner.outer\nB.global: vectorize i1.inner.inner\n";
  for (const std::string place : {"", "B.global: compute_at C n.outer\n"}) {
    const std::string schedule = packed + vectors + kTiles + place, text = lowered_text(kProduct, schedule);
    CHECK_MESSAGE(chooses(line_with(text, "B.global[")), text);
    CHECK_MESSAGE(!chooses(line_with(text, "C_acc[m.inner, n.inner.outer, n.inner.inner] +=")), text);
    check_sizes(schedule);
  }
}

TEST_CASE("lanes beyond the last element are tested where a copy has no memory for them") {
  const std::string schedule = std::string("B: cache_read global C -> B.global\n") +
                               "B.global: split i1 4\nB.global: vectorize i1.inner\n" + kTiles;
  const std::string text = lowered_text(kProduct, schedule);
  CHECK_MESSAGE(!chooses(line_with(text, "B.global[")), text);
  CHECK_MESSAGE(chooses(line_with(text, "C_acc[m.inner, n.inner.outer, n.inner.inner] +=")), text);
  check_sizes(schedule);
}

TEST_CASE("lanes beyond the last element are tested where a copy leaves memory unwritten") {
  // Blocks of 4 are copied, in memory of blocks of 8.
  const std::string schedule =
      std::string("B: cache_read global C -> B.global\n") +
      "B.global: transform_layout (d0, d1) -> (d1/8, d0, d1%8)\nB.global: split i1 4\nB.global: vectorize i1.inner\n" +
      kTiles;
  const std::string text = lowered_text(kProduct, schedule);
  CHECK_MESSAGE(chooses(line_with(text, "C_acc[m.inner, n.inner.outer, n.inner.inner] +=")), text);
  check_sizes(schedule);
}

TEST_CASE("lanes beyond the last element are tested where a copy's lanes are those of another axis") {
  const std::string schedule =
      std::string("B: cache_read global C -> B.global\n") +
      "B.global: transform_layout (d0, d1) -> (d1/8, d0, d1%8)\nB.global: split i0 4\nB.global: split i1 8\n"
      "B.global: reorder i1.outer i0.outer i1.inner i0.inner\nB.global: vectorize i0.inner\n" +
      kTiles;
  const std::string text = lowered_text(kProduct, schedule);
  CHECK_MESSAGE(chooses(line_with(text, "C_acc[m.inner, n.inner.outer, n.inner.inner] +=")), text);
  check_sizes(schedule);
}
