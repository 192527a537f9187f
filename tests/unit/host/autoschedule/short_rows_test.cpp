// Tests default schedules of rows that are shorter than a register, or no multiple of one.
#include "ferry/lang/text.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace ferry;

namespace {

std::string decided(const std::string& source, std::uint32_t bits, const autoschedule::Sizes& sizes) {
  return autoschedule::default_schedule(lang::parse(source, "test.tc").at(0), test::small_cpu(bits, 32 << 10, 1 << 20),
                                        sizes)
      .to_text();
}

std::string depthwise(const std::string& size) {
  std::string source =
      "def f(int(C,SIZE,SIZE) I, int(C,3,3) K) -> (Y) {\n"
      "  P(c,h,w) = h >= 1 && h <= SIZE && w >= 1 && w <= SIZE ? I(c,h-1,w-1) : 0\n"
      "    where c in 0:C, h in 0:SIZE+2, w in 0:SIZE+2\n"
      "  Y(c,h,w) +=! P(c,h+kh,w+kw) * K(c,kh,kw)\n}";
  for (std::size_t at = source.find("SIZE"); at != std::string::npos; at = source.find("SIZE"))
    source.replace(at, 4, size);
  return source;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a row that is shorter than a register is one vector where there are masks") {
  const char* add = "def f(int(M,N) A, int(M,N) B) -> (C) { C(i,j) = A(i,j) + B(i,j) }";
  for (const auto& [columns, lanes] : {std::pair{14, 16}, {9, 16}, {8, 8}, {7, 8}, {3, 4}, {16, 16}, {20, 16}}) {
    const std::string text = decided(add, 512, {{"M", 100}, {"N", columns}});
    CHECK_MESSAGE(has(text, "C: split j " + std::to_string(lanes) + "\n"), columns, "\n", text);
    for (const std::int64_t other : {1, 13, 40}) test::check_schedule(add, text, {{"M", 5}, {"N", other}});
  }
  CHECK(has(decided(add, 128, {{"M", 100}, {"N", 3}}), "C: split j 2\n"));
}

TEST_CASE("a small image is one tile or two where its size is fixed, and otherwise tiles of four rows") {
  const std::string open = depthwise("S"), fixed = depthwise("14");
  const std::string of_open = decided(open, 512, {{"C", 3}, {"S", 14}}), of_fixed = decided(fixed, 512, {{"C", 3}});
  for (const std::string& text : {of_open, of_fixed}) CHECK_MESSAGE(has(text, "Y: split w 16\n"), text);
  CHECK_MESSAGE(has(of_open, "Y: split h 4\n"), of_open);
  for (const std::int64_t size : {14, 5, 23}) test::check_schedule(open, of_open, {{"C", 2}, {"S", size}});
  test::check_schedule(fixed, of_fixed, {{"C", 2}});
  for (const auto& [size, rows] : {std::pair{14, 7}, {13, 7}, {10, 5}, {8, 8}, {7, 7}}) {
    const std::string source = depthwise(std::to_string(size)), text = decided(source, 512, {{"C", 3}});
    CHECK_MESSAGE(has(text, "Y: split h " + std::to_string(rows) + "\n"), size, "\n", text);
    test::check_schedule(source, text, {{"C", 2}});
  }
}

TEST_CASE("a short row of a fixed size is one vector where there are no masks, unless vectors divide it") {
  for (const auto& [columns, lanes] : {std::pair{5, 5}, {7, 7}, {3, 3}, {4, 4}, {6, 2}, {8, 4}, {9, 4}}) {
    const std::string source = depthwise(std::to_string(columns)), text = decided(source, 128, {{"C", 3}});
    CHECK_MESSAGE(has(text, "Y: split w " + std::to_string(lanes) + "\n"), columns, "\n", text);
    test::check_schedule(source, text, {{"C", 2}});
  }
  CHECK(has(decided(depthwise("S"), 128, {{"C", 3}, {"S", 7}}), "Y: split w 4\n"));
}

TEST_CASE("rows of any size are made of half vectors where those leave fewer elements to be computed one by one") {
  for (const auto& [columns, lanes] : {std::pair{14, 4}, {28, 4}, {13, 4}, {30, 8}, {103, 8}, {16, 8}}) {
    const std::string text = decided(depthwise("S"), 256, {{"C", 3}, {"S", columns}});
    CHECK_MESSAGE(has(text, "Y: split w " + std::to_string(lanes) + "\n"), columns, "\n", text);
  }
}

TEST_CASE("few rows of a fixed image are split so that the last tile lacks the least") {
  for (const auto& [size, rows] : {std::pair{14, 5}, {10, 5}, {12, 4}, {7, 4}, {56, 4}}) {
    const std::string text = decided(depthwise(std::to_string(size)), 256, {{"C", 3}});
    CHECK_MESSAGE(has(text, "Y: split h " + std::to_string(rows) + "\n"), size, "\n", text);
  }
}

TEST_CASE("functions that are long chains of arithmetic take vectors of several registers, as far as these fit") {
  const auto lanes_of = [](const char* value, std::uint32_t bits, std::int64_t columns) {
    const std::string source = std::string("def f(float(M,N) A) -> (C) { C(i,j) = ") + value + " }";
    const std::string text = decided(source, bits, {{"M", 100}, {"N", columns}});
    const std::size_t at = text.find("C: split j ");
    REQUIRE_MESSAGE(at != std::string::npos, text);
    return std::stoi(text.substr(at + 11));
  };
  CHECK(lanes_of("exp(A(i,j))", 512, 1024) == 64);
  CHECK(lanes_of("exp(A(i,j))", 128, 1024) == 16);
  CHECK(lanes_of("A(i,j) * sigmoid(A(i,j))", 128, 100) == 16);
  CHECK(lanes_of("exp(A(i,j))", 128, 15) == 4);
  CHECK(lanes_of("exp(A(i,j))", 512, 70) == 16);
  CHECK(lanes_of("exp(A(i,j))", 512, 14) == 16);
  CHECK(lanes_of("sqrt(A(i,j) * A(i,j))", 128, 1024) == 4);
  CHECK(lanes_of("exp(A(i,j)) + sin(A(i,j)) + cos(A(i,j)) + tanh(A(i,j)) + log(A(i,j))", 128, 1024) == 4);
}

TEST_CASE("a convolution's tile takes whole rows of few pixels rather than leave a part of each") {
  const char* const convolution =
      "def f(float(1,C,S,S) I, const float(O,C,3,3) K) -> (Y) {\n"
      "  P(n,c,h,w) = h >= 1 && h <= S && w >= 1 && w <= S ? I(n,c,h-1,w-1) : 0 where h in 0:S+2, w in 0:S+2\n"
      "  Y(n,o,h,w) +=! P(n,c,h+kh,w+kw) * K(o,c,kh,kw)\n}";
  const auto tile = [&](std::int64_t channels, std::int64_t size, std::uint32_t bits) {
    const std::string text = decided(convolution, bits, {{"C", channels}, {"O", channels}, {"S", size}});
    const std::size_t rows = text.find("Y: split w "), columns = text.find("Y: split o ");
    REQUIRE_MESSAGE((rows != std::string::npos && columns != std::string::npos), text);
    return std::pair(std::stoi(text.substr(rows + 11)),
                     std::stoi(text.substr(columns + 11)) * 32 / static_cast<int>(bits));
  };
  CHECK(tile(256, 14, 512) == std::pair(14, 2));
  CHECK(tile(64, 56, 512) == std::pair(4, 4));
  CHECK(tile(128, 28, 512) == std::pair(4, 4));
  CHECK(tile(512, 7, 512) == std::pair(7, 2));
  CHECK(tile(512, 7, 256) == std::pair(5, 2));
  CHECK(tile(256, 14, 256) == std::pair(5, 2));
}

TEST_CASE("short rows of a softmax are computed four at a time, other rows one by one") {
  const auto softmax = [](const std::string& size) {
    return "def f(float(" + size +
           ") A) -> (Y) {\n  top(b,i) max=! A(b,i,j)\n  e(b,i,j) = exp(A(b,i,j) - top(b,i))\n"
           "  total(b,i) +=! e(b,i,j)\n  Y(b,i,j) = e(b,i,j) / total(b,i)\n}";
  };
  for (const std::uint32_t bits : {128U, 512U}) {
    INFO(bits << "-bit vectors");
    for (const char* size : {"5,37,77", "5,4,16", "5,10,255"}) {
      const std::string text = decided(softmax(size), bits, {});
      INFO(size << "\n" << text);
      CHECK(has(text, "Y: split i 4\n"));
      CHECK(has(text, "total: compute_at Y i.outer\n"));
    }
    for (const char* size : {"5,37,256", "5,3,77", "5,M,77", "5,37,N"})
      CHECK_MESSAGE(!has(decided(softmax(size), bits, {}), "Y: split i"), size);
    const char* norm =
        "def f(float(37,77) A) -> (Y) {\n  sum(i) +=! A(i,j)\n  square(i) +=! A(i,j) * A(i,j)\n"
        "  Y(i,j) = (A(i,j) - sum(i) / 77) / sqrt(square(i))\n}";
    CHECK(!has(decided(norm, bits, {}), "Y: split i"));
  }
}
