// Tests index arithmetic that wraps in 64 bits: conditions on it, its bounds, and what schedules make of both.
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include "ferry/error.h"

#include <limits>
#include <string>

using namespace ferry;
using namespace ferry::test;

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

const char* const kSchedules[] = {"", "B: split i 8 -> io ii\nvectorize ii",
                                  "B: split i 4 -> io ii\nunroll ii\nparallel io"};

void check_all(const std::string& source, const Sizes& sizes) {
  for (const char* const schedule : kSchedules) {
    INFO(source);
    check_schedule(source, schedule, sizes);
  }
}

// Whether every access of the program is inside of its tensor, before and after the passes, whether the call succeeds
// or not.
void check_inside(const std::string& source, const Sizes& sizes) {
  for (const char* const schedule : kSchedules) {
    for (const int bits : {128, 256, 512}) {
      INFO(source << "\n" << schedule);
      CHECK(complaint(compiled(source, schedule, cpu_with_vectors(bits)), sizes) == "none");
    }
  }
}

}  // namespace

TEST_CASE("conditions on large multiples of an index are those of 64 bits") {
  for (const char* const condition :
       {"i * 6364136223846793005 + 1442695040888963407 > 0", "i * 100000000000000000 > 1000000000000000000",
        "i * 1000000000000000000 >= 0", "1000000000000000000 * (i - 20) < i", "i * 9223372036854775807 != i",
        "(i * 4611686018427387904) / 4 == i", "max(i * 2000000000000000000, 0) > 5", "i + 9223372036854775800 > i"}) {
    check_all("def f(int(N) X) -> (B) { B(i) = " + std::string(condition) + " ? X(i) : 5 }", {{"N", 40}});
    check_all("def f(int(40) X) -> (B) { B(i) = " + std::string(condition) + " ? X(i) : 5 }", {});
  }
}

TEST_CASE("conditions on sums with scalar arguments are those of 64 bits") {
  for (const std::int64_t q :
       {std::int64_t{0}, std::int64_t{7}, std::int64_t{-7}, kMost, kMost - 3, -kMost - 1, -kMost + 9}) {
    for (const char* const condition : {"i + q > q", "i + q > 0", "i < q", "q <= i", "i - q >= 3", "q - 1 < i",
                                        "i * 2 >= q + 1", "min(i + q, 5) > q - 2", "q > 0 && i < q && i + 2 > q - 4"}) {
      for (const char* const require : {"", "require(q != 1) "}) {
        check_all("def f(int(N) X, int64 q) -> (B) { " + std::string(require) + "B(i) = " + condition + " ? X(i) : 5 }",
                  {{"N", 21}, {"q", q}});
      }
    }
  }
}

TEST_CASE("what wraps stays inside of tensors") {
  const std::string data = "int64(X(i)) * 1152921504606846977";
  for (const std::string& index :
       {std::string("min(max(i * 1000000000000000000, 0), N - 1)"), "clamp(max(i, " + data + ") * 2, 0, N - 1)",
        "min(max(" + data + " + i, 0), N - 1)", "clamp((N - " + data + ") / 3, 0, N - 1)",
        std::string("clamp((i + q) * 3, 0, N - 1)"), std::string("min(abs(min(i + q, q + 5) - q), N - 1)")}) {
    for (const std::int64_t q : {std::int64_t{3}, kMost - 5, -kMost})
      check_all("def f(int(N) X, int64 q) -> (B) { B(i) = X(" + index + ") where i in 0:N }", {{"N", 40}, {"q", q}});
  }
  for (const std::string& guarded :
       {std::string("i * 1000000000000000000 >= 0 ? X(min(i * 1000000000000000000, N - 1)) : 0"),
        std::string("q >= 0 && q + 5 < i + 100 ? X(i + 94 - q) : 0"),
        std::string("i + q >= 0 && i + q < N ? X(i + q) : 0"), std::string("i - q >= 0 && i - q < N ? X(i - q) : 0"),
        std::string("i * q < N && i * q >= 0 ? X(i * q) : 0"), std::string("X(min(i * 1000000000000000000, N - 1))"),
        std::string("X(min(i + q, q + 5) - q)"),
        "max(i, " + data + ") * 2 >= 0 && max(i, " + data + ") * 2 < N ? X(max(i, " + data + ") * 2) : 0"}) {
    for (const std::int64_t q : {std::int64_t{3}, std::int64_t{-3}, kMost, kMost - 2, -kMost - 1})
      check_inside("def f(int(N) X, int64 q) -> (B) { B(i) = " + guarded + " where i in 0:N }", {{"N", 40}, {"q", q}});
  }
}

TEST_CASE("a stage that is read where arithmetic wraps is computed wherever that may be") {
  for (const char* const index : {"min(max(i * 1000000000000000000, 0), N - 1)", "min(max(i + q, 0), N - 1)",
                                  "clamp(i * 6000000000000000000 / 7, 0, N - 1)"}) {
    const std::string source =
        "def f(int(N) X, int64 q) -> (B) { S(i) = X(i) * 3  B(i) = S(" + std::string(index) + ") where i in 0:N }";
    for (const char* const place : {"", "B: split i 8 -> io ii\nS: compute_at B io", "S: compute_at B i"})
      check_schedule(source, place, {{"N", 30}, {"q", kMost - 10}});
  }
}

TEST_CASE("what a schedule computes of a stage is not larger than the stage, however far the guarded indices reach") {
  for (const char* const index :
       {"j + 1000000000000000000", "j * 1000000000000000000", "j * 100000", "1 - j * 1000000000000000000",
        "(j - 8) * 1000000000000000000", "j * N * N * N", "j * 9000000000000000000 - 9000000000000000000"}) {
    const std::string at = index;
    const std::string source =
        "def f(int(N) X) -> (S) {\n"
        "  T(i,j,k) = i * 100 + j * 10 + k where i in 0:3, j in 0:N, k in 0:5\n"
        "  S(j) = X(j) + (" +
        at + " >= 0 && " + at + " < 5 ? T(2,j," + at +
        ") : T(1,1,1))\n"
        "}";
    INFO(index);
    for (const char* const schedule :
         {"T: compute_at S j", "S: split j 4 -> jo ji\nT: compute_at S jo", "S: split j 4 -> jo ji\nT: compute_at S ji",
          "S: split j 4 -> jo ji\nT: compute_at S ji\nstore_at S jo"}) {
      INFO(schedule);
      check_schedule(source, schedule, {{"N", 17}});
    }
  }
  const auto computed = points_computed(
      "def f(int64 Q) -> (S) {\n"
      "  T(k) = k * 3 where k in 0:5\n"
      "  S(j) = (j * 100000 < 5 ? T(j * 100000) : T(1)) where j in 0:17\n"
      "}",
      "T: compute_at S j");
  CHECK(computed.at("T") <= 17 * 5);
}

TEST_CASE("a stage of more elements than can be counted is refused") {
  CHECK_THROWS_WITH_AS(compiled("def f(int(N) X) -> (S) {\n"
                                "  T(i,k) = i + k where i in 0:100000000, k in 0:100000000\n"
                                "  S(j) = T(clamp(X(j), 0, 9),1) + T(1,clamp(X(j), 0, 9))\n"
                                "}",
                                "", cpu_with_vectors(256)),
                       "'T' has more elements than can be counted", CompileError);
}
