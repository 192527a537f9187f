#include "tests/support/schedules/scheduled.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "ferry/lang/text.h"
#include "host/lower/lower.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace ferry;
using namespace ferry::test;

namespace {

const char* const kProduct = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

}  // namespace

TEST_CASE("prefetching changes no result, whatever the sizes") {
  for (const char* schedule :
       {"reorder m k n\nprefetch B k 4", "split n 8\nreorder m n.outer k n.inner\nvectorize n.inner\nprefetch B k 100",
        "prefetch A m 1\nprefetch B n 3\nparallel m",
        "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / 8, k, n % 8)\nC: prefetch P k 2"})
    for (const Sizes& sizes : {Sizes{{"M", 3}, {"N", 17}, {"K", 0}}, {{"M", 13}, {"N", 37}, {"K", 11}}})
      check_schedule(kProduct, schedule, sizes);
}

TEST_CASE("each place that is read is asked for once, so many iterations ahead") {
  const std::string text =
      lowered_text("def taps(int(100) A) -> (B) { B(i) = A(i) + A(i+1) + A(i) }", "prefetch A i 8");
  CHECK_MESSAGE(text.find("prefetch(A[i + 8]);\n    prefetch(A[i + 9]);\n    B[i] = ") != std::string::npos, text);
}

TEST_CASE("what loops inside of it read is asked for line by line") {
  const std::string rows = lowered_text(
      kProduct, "tile m n 2 40\nreorder m.outer n.outer k m.inner n.inner\nprefetch B k 8\nprefetch A k 8");
  CHECK_MESSAGE(rows.find("prefetch(B[k + 8, n.outer * 40]);\n"
                          "        prefetch(B[k + 8, n.outer * 40 + 16]);\n"
                          "        prefetch(B[k + 8, n.outer * 40 + 32]);\n"
                          "        prefetch(A[m.outer * 2, k + 8]);\n"
                          "        prefetch(A[m.outer * 2 + 1, k + 8]);\n"
                          "        for (m.inner") != std::string::npos,
                rows);
}

TEST_CASE("what a transformed layout stores side by side is asked for line by line") {
  const char* const transposed = "def mm(int(M,K) A, int(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }";
  for (const auto& [columns, lines] : {std::pair{"16", 1}, {"32", 2}, {"8", 1}}) {
    const std::string schedule = std::string("B: cache_read global -> P\nP: transform_layout (n, k) -> (n / ") +
                                 columns + ", k, n % " + columns + ")\nC: split n " + columns +
                                 "\nsplit n.inner 8\nreorder n.outer m k n.inner.outer n.inner.inner\nprefetch P k 4";
    const std::string text = lowered_text(transposed, schedule);
    int found = 0;
    for (std::size_t at = text.find("prefetch("); at != std::string::npos; at = text.find("prefetch(", at + 1)) ++found;
    CHECK_MESSAGE(found == lines, text);
    check_schedule(transposed, schedule, {{"M", 5}, {"N", 37}, {"K", 11}});
  }
}

TEST_CASE("one loop asks for no more than thirty-two lines of a tensor") {
  const std::string text = lowered_text(kProduct, "split n 4096\nreorder n.outer m k n.inner\nprefetch B k 1");
  std::size_t lines = 0;
  for (std::size_t at = text.find("prefetch("); at != std::string::npos; at = text.find("prefetch(", at + 1)) ++lines;
  CHECK_MESSAGE(lines == 32, text);
}

TEST_CASE("a copy that one reader refuses is read by none") {
  const lang::Program program =
      lang::parse("def rows(int(M,N) A) -> (Y) { S(m) +=! A(m,n)  Y(m,n) = A(m,n) * S(m) }", "test.tc").at(0);
  schedule::Schedule schedule(program);
  schedule.apply(schedule::parse_directives("Y: prefetch A m 4").directives.at(0));
  CHECK_THROWS_AS(schedule.apply(schedule::parse_directives("A: cache_read local").directives.at(0)), CompileError);
  CHECK(ir::to_text(lower::lower(program, schedule)) ==
        ir::to_text(lower::lower(program, schedule::Schedule::replay(program, schedule.to_text()))));
}

TEST_CASE("the next columns are asked for line by line while tiles of rows read these") {
  const char* const product = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const std::string schedule =
      "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / 32, k, n % 32)\nC: split m 6\nsplit n 32\n"
      "split n.inner 16\nreorder n.outer m.outer k m.inner n.inner.outer n.inner.inner\nprefetch P k next m";
  const std::string text = lowered_text(product, schedule);
  // Two lines a step: the first tile of rows asks for the first half of the lines, all others for the second.
  std::size_t found = 0;
  for (std::size_t at = text.find("prefetch(P["); at != std::string::npos; at = text.find("prefetch(P[", at + 1))
    ++found;
  CHECK_MESSAGE((found == 1 && text.find("min(m.outer, 1)") != std::string::npos), text);
  check_schedule("def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", schedule,
                 {{"M", 13}, {"N", 70}, {"K", 11}});
}

TEST_CASE("tiles of rows share the lines of the next columns equally where a sum has several axes") {
  const char* products =
      "def mm(int8(M,2,16,4) A, int8(2,16,64,4) B) -> (C) { C(m,n) +=! int(A(m,j,g,c)) * int(B(j,g,n,c)) }";
  const std::string schedule =
      "B: cache_read global -> P\nP: transform_layout (j, g, n, c) -> (n / 16, j, g, n % 16, c)\n"
      "C: split m 16\nsplit n 16\nreorder n.outer m.outer j m.inner n.inner g c\nprefetch P j next m";
  const auto count = [&](std::int64_t rows) {
    const std::string text = lowered_text("def mm(int8(" + std::to_string(rows) +
                                              ",2,16,4) A, int8(2,16,64,4) B) -> (C) { C(m,n) +=! int(A(m,j,g,c)) * "
                                              "int(B(j,g,n,c)) }",
                                          schedule);
    std::size_t found = 0;
    for (std::size_t at = text.find("prefetch(P["); at != std::string::npos; at = text.find("prefetch(P[", at + 1))
      ++found;
    return found;
  };
  // A step reads 16 lines: one tile asks for all of the next ones, two for eight each, and each of three for six.
  CHECK(count(16) == 16);
  CHECK(count(32) == 8);
  CHECK(count(48) == 6);
  check_schedule(products, schedule, {{"M", 37}});
}

TEST_CASE("next columns need rows and a sum") {
  const auto refused = [](const char* source, const char* directive) {
    schedule::Schedule schedule(lang::parse(source, "test.tc").at(0));
    std::string said;
    try {
      schedule.apply(schedule::parse_directives(directive).directives.at(0));
    } catch (const CompileError& error) {
      said = error.what();
    }
    return said;
  };
  CHECK(refused(kProduct, "C: prefetch B k next x").find("expected an axis of the tensor 'C', got 'x'") !=
        std::string::npos);
  CHECK(refused("def f(int(M,N) A) -> (B) { B(m,n) = A(m,n) }", "B: prefetch A n next m")
            .find("expected a sum, got 'B'") != std::string::npos);
}
