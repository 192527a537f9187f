// Tests of loop nests replaced by dot instructions: equal results, and error messages that name the obstacle.
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry::test;

namespace {

std::string product(const std::string& left, const std::string& right, const std::string& sum) {
  return "def mm(" + left + "(M,24) A, " + right + "(24,32) B) -> (C) { C(m,n) +=! " + sum + "(A(m,k)) * " + sum +
         "(B(k,n)) }";
}

// Packs B in blocks of `lanes` columns and `group` rows, with the rows innermost.
std::string packed(int lanes, int group) {
  const std::string l = std::to_string(lanes), g = std::to_string(group);
  return "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / " + l + ", k / " + g + ", n % " + l + ", k % " +
         g + ")\nC: split k " + g + " -> ko ki\nsplit n " + l + " -> no ni\n";
}

const char* const kBytes = "def mm(uint8(M,24) A, int8(24,32) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }";

}  // namespace

TEST_CASE("products of narrow numbers are the same as dots of groups") {
  const struct {
    const char *left, *right, *sum;
    int group;
  } cases[] = {{"uint8", "int8", "int", 4},       {"int8", "uint8", "int", 4},  {"int8", "int8", "int", 4},
               {"uint8", "uint8", "int", 4},      {"int16", "int16", "int", 2}, {"bfloat16", "bfloat16", "float", 2},
               {"float16", "float16", "float", 2}};
  for (const auto& c : cases) {
    INFO(c.left << " by " << c.right);
    for (const int lanes : {4, 8, 16, 32}) {
      for (const char* rest : {"reorder m no ko ni ki\ntensorize ni dot", "reorder no ko m ni ki\ntensorize ni dot",
                               // The loop over the group is outside of the loop over the lanes.
                               "reorder m no ko ki ni\ntensorize ki dot",
                               "split m 3 -> mo mi\nreorder mo no ko mi ni ki\nunroll mi\ntensorize ni dot"}) {
        check_schedule(product(c.left, c.right, c.sum), packed(lanes, c.group) + rest, {{"M", 7}});
      }
    }
  }
}

TEST_CASE("a register tile of dots adds up in registers through all of the reduction") {
  const std::string schedule = packed(4, 4) +
                               "split m 2 -> mo mi\nsplit no 2 -> nt nv\nreorder mo nt ko mi nv ni ki\n"
                               "unroll mi\nunroll nv\ntensorize ni dot\nparallel mo";
  for (const std::int64_t m : {0, 1, 2, 5}) check_schedule(kBytes, schedule, {{"M", m}});
  const std::string text = lowered_text(kBytes, schedule);
  INFO(text);
  CHECK(text.find("dot(C_acc[") != std::string::npos);
}

TEST_CASE("rows that are not packed may be the repeated side, and groups of both sides may move together") {
  // Each row of A is multiplied by its own row of B: both sides have groups along k.
  check_schedule("def rows(int8(8,4) A, int8(8,4) B) -> (C) { C(i) +=! int(A(i,k)) * int(B(i,k)) }", "tensorize i dot");
  // The groups of B are already innermost.
  check_schedule(
      "def mm(uint8(M,8) A, int8(4,2,8,4) B) -> (C) { C(m,o,i) +=! int(A(m,q*4+r)) * int(B(o,q,i,r)) where "
      "q in 0:2, r in 0:4 }",
      "reorder m o q i r\ntensorize i dot", {{"M", 3}});
}

TEST_CASE("a product that starts from old values is tensorized too") {
  check_schedule("def mm(uint8(M,24) A, int8(24,32) B, int(M,32) C) -> (C) { C(m,n) += int(A(m,k)) * int(B(k,n)) }",
                 packed(16, 4) + "reorder m no ko ni ki\ntensorize ni dot", {{"M", 5}});
}

TEST_CASE("an instruction's name asks for its sizes and types") {
  check_schedule(kBytes, packed(16, 4) + "reorder m no ko ni ki\ntensorize ni vpdpbusd_512", {{"M", 3}});
  check_schedule(product("int8", "int8", "int"), packed(4, 4) + "reorder m no ko ni ki\ntensorize ni sdot", {{"M", 3}});
  CHECK(
      refusal(kBytes, packed(8, 4) + "reorder m no ko ni ki\ntensorize ni vpdpbusd_512") ==
      "schedule, line 6: C: tensorize ni vpdpbusd_512: expected loops (i in 16, j in 4), got loops (ni in 8, ki in 4)");
  CHECK(refusal(kBytes, packed(4, 4) + "reorder m no ko ni ki\ntensorize ni sdot") ==
        "schedule, line 6: C: tensorize ni sdot: expected 'left[i * 4 + j]', got 'A[m, ko * 4 + ki]'");
  CHECK(refusal(kBytes, "tensorize k dott") ==
        "schedule, line 1: C: tensorize k dott: expected an intrinsic (dot, an instruction, or the program's own), got "
        "'dott'; did you mean "
        "'dot'?");
}

TEST_CASE("a tensorize that does not match says where") {
  const std::string inner = "reorder m no ko ni ki\ntensorize ni dot";
  // No group of B is contiguous.
  CHECK(
      refusal(kBytes, "split k 4 -> ko ki\nsplit n 16 -> no ni\n" + inner) ==
      "'C': tensorize ni dot: expected the elements of 'B' to stand in groups of 4, one group behind the other or the "
      "same for all lanes, got steps of 1 and 32 along the lanes and the group");
  CHECK(refusal(product("float", "float", "float"), packed(16, 2) + inner)
            .find("C: tensorize ni dot: expected 'f32(left[i * 2 + j])', got 'A[m, ko * 2 + ki]'") !=
        std::string::npos);
  CHECK(refusal("def mm(uint8(M,24) A, int8(24,32) B) -> (C) { C(m,n) max=! int(A(m,k)) * int(B(k,n)) }",
                packed(16, 4) + inner)
            .find("C: tensorize ni dot: expected 'sum[i] + ") != std::string::npos);
  // 24 columns do not divide into blocks of 16.
  CHECK(
      refusal("def mm(uint8(M,24) A, int8(24,24) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }",
              packed(16, 4) + inner) ==
      "schedule, line 6: C: tensorize ni dot: expected every iteration of 'ni' to count, got the condition 'no * 16 + "
      "ni < 24'; split what its axis was by a number that divides it");
  CHECK(
      refusal(kBytes, "split k 4 -> ko ki\ntensorize ki dot") ==
      "schedule, line 2: C: tensorize ki dot: expected two loops inside, over the lanes and over their groups, got 1");
  CHECK(refusal(kBytes, "reorder k m n\ntensorize m dot") ==
        "schedule, line 2: C: tensorize m dot: expected loops of constant extents, got 'm'");
  CHECK(
      refusal(kBytes, "split k 4 -> ko ki\nsplit n 16 -> no ni\nreorder m no ko ni ki\nunroll ki\ntensorize ni dot") ==
      "schedule, line 5: C: tensorize ni dot: expected a serial loop, got 'ki', which is unrolled");
}
