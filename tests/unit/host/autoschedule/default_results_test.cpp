// Tests that default schedules which rearrange a program preserve its results, at sizes that no factor divides.
#include "ferry/lang/text.h"
#include "ferry/operators.h"
#include "ferry/schedule/default_schedule.h"
#include "tests/support/sample.h"
#include "tests/support/schedules/scheduled.h"
#include "tests/unit/host/autoschedule/rule_cases.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>

using namespace ferry;

namespace {

struct Product {
  const char* name;
  const char* source;
};

// Integers, so that reordered sums are equal.
const Product kBlocked[] = {
    {"a product of matrices", "def f(int(45,67) A, int(67,83) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"},
    {"added to what was there",
     "def f(int(45,67) A, int(67,83) B, int(45,83) D) -> (C) { C(m,n) = D(m,n)\n C(m,n) += A(m,k) * B(k,n) }"},
    {"the left matrix transposed", "def f(int(67,45) A, int(67,83) B) -> (C) { C(m,n) +=! A(k,m) * B(k,n) }"},
    {"the right matrix transposed", "def f(int(45,67) A, int(83,67) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }"},
    {"several matrices", "def f(int(3,45,17) A, int(3,17,35) B) -> (C) { C(b,m,n) +=! A(b,m,k) * B(b,k,n) }"},
    {"narrow numbers", "def f(int8(45,67) A, int8(67,83) B) -> (C) { C(m,n) +=! int(A(m,k)) * int(B(k,n)) }"},
    {"long sums", "def f(int(33,1601) A, int(1601,19) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"},
    {"a convolution",
     "def f(int(2,5,9,7) I, int(19,5,3,2) K) -> (Y) { Y(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw) }"},
    {"a padded convolution",
     "def f(int(1,20,7,7) I, int(37,20,3,3) K) -> (Y) {\n"
     "  P(n,c,h,w) = h >= 1 && h <= 7 && w >= 1 && w <= 7 ? I(n,c,h-1,w-1) : 0 where h in 0:9, w in 0:9\n"
     "  Y(n,o,h,w) +=! P(n,c,h+kh,w+kw) * K(o,c,kh,kw)\n}"},
    {"a convolution of one point",
     "def f(int(1,20,7,9) I, int(37,20) K) -> (Y) { Y(n,o,h,w) +=! I(n,c,h,w) * K(o,c) }"},
};

const Product kGemv[] = {
    {"a row", "def f(int(1,131) A, int(131,2100) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"},
    {"a vector", "def f(int(131) A, int(131,150) B) -> (C) { C(n) +=! A(k) * B(k,n) }"},
    {"five rows", "def f(int(5,131) A, int(131,150) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"},
    {"twelve rows, two depths", "def f(int(12,2,70) A, int(2,70,99) B) -> (C) { C(m,n) +=! A(m,j,k) * B(j,k,n) }"},
};

std::string default_text(const char* source, const Target& target) {
  return autoschedule::default_schedule(lang::parse(source, "test.tc").at(0), target).to_text();
}

// Returns whether a case, of a number of parts, is the one to be run, which takes long; FERRY_SCHEDULES_SEED draws
// others, and FERRY_SCHEDULES_ALL, as in autoschedule_long_test, runs all.
bool is_drawn(const char* name, std::size_t parts, std::size_t part) {
  return std::getenv("FERRY_SCHEDULES_ALL") != nullptr ||
         test::part_of(name, parts, test::sample_seed("FERRY_SCHEDULES_SEED")) == part;
}

}  // namespace

TEST_CASE("products are packed and blocked with rows or with columns outside, and stay what they are") {
  for (const Product& product : kBlocked) {
    for (const std::uint32_t bits : {128U, 512U}) {
      for (const std::uint64_t l2_bytes : {std::uint64_t{600}, std::uint64_t{1} << 20}) {
        const std::string text = default_text(product.source, test::small_cpu(bits, 256, l2_bytes));
        INFO(product.name << ", " << bits << "-bit vectors, second-level cache of " << l2_bytes << " bytes\n" << text);
        CHECK(text.find("transform_layout") != std::string::npos);
        CHECK((text.find("compute_at") != std::string::npos || l2_bytes == 600));
        if (is_drawn(product.name, 2, (bits == 512) == (l2_bytes == 600))) test::check_schedule(product.source, text);
      }
    }
  }
}

TEST_CASE("packed columns are stored in the order of the loops over the sum") {
  for (const auto& [sum, layout] : {std::pair{"A(m,p,q) * B(n,p,q)", "(d0/8, d1, d2, d0%8)"},
                                    std::pair{"A(m,q,p) * B(n,p,q)", "(d0/8, d2, d1, d0%8)"}}) {
    const std::string source = std::string("def f(int(40,9,13) A, const int(40,") + (sum[4] == 'p' ? "9,13" : "13,9") +
                               ") B) -> (C) { C(m,n) +=! " + sum + " }";
    const std::string text = default_text(source.c_str(), test::small_cpu(256, 256, 1 << 20));
    INFO(source << "\n" << text);
    CHECK(text.find(layout) != std::string::npos);
    test::check_schedule(source, text);
  }
}

TEST_CASE("constant columns that few rows use are prefetched") {
  const Target target = test::small_cpu(512, 48 << 10, 2 << 20);
  const auto has_prefetch = [&](const std::string& parameters) {
    const std::string source = "def f(" + parameters + ") -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
    return default_text(source.c_str(), target).find("prefetch") != std::string::npos;
  };
  CHECK(has_prefetch("float(128,384) A, const float(384,1536) B"));
  CHECK_FALSE(has_prefetch("float(4096,384) A, const float(384,1536) B"));
  CHECK_FALSE(has_prefetch("float(128,384) A, float(384,1536) B"));
}

TEST_CASE("rows that collide in the cache are packed too, and long sums are added up in blocks") {
  const char* source = "def f(int(40,2048) A, int(2048,40) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const std::string text = default_text(source, test::small_cpu(128, 8 << 10, 600));
  INFO(text);
  CHECK(text.find("A: cache_read") != std::string::npos);
  CHECK(text.find("split k 1024") != std::string::npos);
  test::check_schedule(source, text);
}

TEST_CASE("a few rows times a large matrix read it in long stretches") {
  for (const Product& product : kGemv) {
    for (const std::uint32_t bits : {128U, 512U}) {
      const std::string text = default_text(product.source, test::small_cpu(bits, 256, 1024));
      INFO(product.name << ", " << bits << "-bit vectors\n" << text);
      CHECK(text.find("split k 8") != std::string::npos);
      CHECK(text.find("transform_layout") == std::string::npos);
      test::check_schedule(product.source, text);
    }
  }
}

TEST_CASE("small products and sizes known only at run time stay in plain tiles") {
  for (const char* source : {"def f(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "def f(int(40,40) A, int(40,40) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                             "def f(int(400,400) A) -> (C) { C(m,n) +=! A(m,k) * A(k,n) }"}) {
    CHECK(default_text(source, test::small_cpu(512, 32 << 10, 1 << 20)).find("cache_read") == std::string::npos);
  }
}

TEST_CASE("stages over the same rows are computed row by row") {
  const Product normalized[] = {
      {"like a softmax",
       "def f(int(9,37) A) -> (Y) {\n  top(i) max=! A(i,j)\n  e(i,j) = A(i,j) * A(i,j) - top(i)\n"
       "  total(i) +=! e(i,j)\n  Y(i,j) = e(i,j) - total(i)\n}"},
      {"with sizes known at run time",
       "def f(int(M,N) A) -> (Y) {\n  top(i) max=! A(i,j)\n  e(i,j) = A(i,j) * A(i,j) - top(i)\n"
       "  total(i) +=! e(i,j)\n  Y(i,j) = e(i,j) - total(i)\n}"},
      {"counted by two axes, with what is shared by all rows",
       "def f(int(3,5,40) A, int(40) G) -> (Y) {\n  scale(k) = G(k) * G(k) + 1\n  sum(i,j) +=! A(i,j,k)\n"
       "  mean(i,j) = sum(i,j) / 40\n  Y(i,j,k) = (A(i,j,k) - mean(i,j)) * mean(i,j) * scale(k)\n}"},
  };
  for (const Product& program : normalized) {
    for (const std::uint32_t bits : {128U, 512U}) {
      const std::string text = default_text(program.source, test::small_cpu(bits, 32 << 10, 1 << 20));
      INFO(program.name << ", " << bits << "-bit vectors\n" << text);
      CHECK(text.find("compute_at Y") != std::string::npos);
      CHECK(text.find("scale: compute_at") == std::string::npos);
      test::check_schedule(program.source, text, {{"M", 11}, {"N", 21}});
    }
  }
}

TEST_CASE("rows that are few, short or longer than the cache are not fused, nor are tiles of several rows") {
  const auto text = [](const std::string& size, std::uint64_t l2_bytes) {
    const std::string source = "def f(int(" + size + ") A) -> (Y) { top(i) max=! A(i,j)\n Y(i,j) = A(i,j) - top(i) }";
    return default_text(source.c_str(), test::small_cpu(128, 32 << 10, l2_bytes));
  };
  CHECK(text("100,100", 1 << 20).find("compute_at") != std::string::npos);
  CHECK(text("7,100", 1 << 20).find("compute_at") == std::string::npos);
  CHECK(text("100,15", 1 << 20).find("compute_at") == std::string::npos);
  CHECK(text("100,100", 700).find("compute_at") == std::string::npos);
  const char* product =
      "def f(int(M,K) A, int(K,N) B) -> (D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) * C(m,n) }";
  CHECK(default_text(product, test::small_cpu(128, 32 << 10, 1 << 20)).find("C: compute_at D m\n") ==
        std::string::npos);
}

TEST_CASE("windows take several rows at once, and their borders are not stored") {
  const Product windows[] = {
      {"a padded depthwise convolution",
       "def f(int(1,3,14,14) I, int(3,3,3) K) -> (Y) {\n"
       "  P(n,c,h,w) = h >= 1 && h <= 14 && w >= 1 && w <= 14 ? I(n,c,h-1,w-1) : 0 where h in 0:16, w in 0:16\n"
       "  Y(n,c,h,w) +=! P(n,c,h+kh,w+kw) * K(c,kh,kw)\n}"},
      {"of odd sizes and other borders",
       "def f(int(2,19,37) I, int(2,3,5) K) -> (Y) {\n"
       "  P(c,h,w) = h >= 1 && h <= 19 && w >= 2 && w <= 38 ? I(c,h-1,w-2) : 7 where h in 0:21, w in 0:41\n"
       "  Y(c,h,w) +=! P(c,h+kh,w+kw) * K(c,kh,kw)\n}"},
      {"with sizes known at run time", "def f(int(H,W) I) -> (Y) { Y(h,w) +=! I(h+a,w+b) where a in 0:3, b in 0:3 }"},
  };
  for (const Product& program : windows) {
    for (const std::uint32_t bits : {128U, 512U}) {
      const std::string text = default_text(program.source, test::small_cpu(bits, 32 << 10, 1 << 20));
      INFO(program.name << ", " << bits << "-bit vectors\n" << text);
      CHECK(text.find("Y: split h ") != std::string::npos);
      CHECK((text.find("P: compute_inline") != std::string::npos ||
             std::string(program.source).find("P(") == std::string::npos));
      test::check_schedule(program.source, text, {{"H", 11}, {"W", 21}});
    }
  }
}

TEST_CASE("windows over a tensor larger than any cache are read in several streams and prefetched") {
  const Target target = test::small_cpu(512, 48 << 10, 2 << 20);
  const auto pool = [](const std::string& size) {
    return "def f(int(" + size + ") X) -> (Y) { Y(n,c,h,w) max=! X(n,c,2*h+a,2*w+b) where a in 0:2, b in 0:2 }";
  };
  const auto decided = [&](const std::string& size) { return default_text(pool(size).c_str(), target); };
  const std::string images = decided("1,52428,64,64"), rows = decided("1,8,4096,8192");
  INFO(images << rows);
  CHECK(images.find("Y: split c 4\n") != std::string::npos);
  CHECK(images.find("Y: reorder n c.outer h c.inner w.outer a b w.inner.outer w.inner.inner\n") != std::string::npos);
  CHECK(images.find("Y: unroll c.inner\n") != std::string::npos);
  CHECK(images.find("Y: prefetch X h 1\n") != std::string::npos);
  // Longer rows are prefetched in parts.
  CHECK(rows.find("Y: split h 4\n") != std::string::npos);
  CHECK(rows.find("Y: prefetch X w.outer 1\n") != std::string::npos);
  for (const std::string& schedule : {images, rows})
    for (const test::Sizes& sizes : {test::Sizes{{"N", 1}, {"C", 8}, {"H", 16}, {"W", 128}},
                                     {{"N", 3}, {"C", 7}, {"H", 11}, {"W", 37}},
                                     {{"N", 2}, {"C", 13}, {"H", 3}, {"W", 131}},
                                     {{"N", 1}, {"C", 1}, {"H", 1}, {"W", 1}},
                                     {{"N", 1}, {"C", 5}, {"H", 2}, {"W", 2}},
                                     {{"N", 1}, {"C", 0}, {"H", 4}, {"W", 4}}})
      test::check_schedule(pool("N,C,H,W"), schedule, sizes);
}

TEST_CASE("windows keep one stream where several would not divide, and windows in cache are not prefetched") {
  const auto decided = [&](const std::string& sizes, const std::string& index, const Target& target) {
    const std::string source =
        "def f(float(" + sizes + ") X) -> (Y) { Y(n,c,h,w) max=! X(n,c," + index + ") where a in 0:2, b in 0:2 }";
    return default_text(source.c_str(), target);
  };
  const Target target = test::small_cpu(512, 48 << 10, 2 << 20);
  for (const char* const sizes : {"1,65537,64,64", "1,512,64,64", "N,C,64,64"}) {
    const std::string text = decided(sizes, "2*h+a,2*w+b", target);
    CHECK_MESSAGE(text.find("Y: prefetch X h 2\n") != std::string::npos, text);
    CHECK_MESSAGE(text.find("Y: split c") == std::string::npos, text);
  }
  CHECK(decided("1,32,64,64", "2*h+a,2*w+b", target).find("prefetch") == std::string::npos);
  CHECK(decided("1,52428,64,64", "h+a,w+b", target).find("prefetch") == std::string::npos);
  // Only parameters are prefetched.
  CHECK(default_text("def f(float(8,2048,2048) X) -> (T, Y) { T(c,h,w) = X(c,h,w) * 2\n"
                     " Y(c,h,w) max=! T(c,2*h+a,2*w+b) where a in 0:2, b in 0:2 }",
                     target)
            .find("prefetch") == std::string::npos);
  Target other = target;
  other.capabilities.row_prefetch = false;
  CHECK(decided("1,52428,64,64", "2*h+a,2*w+b", other).find("prefetch") == std::string::npos);
}

TEST_CASE("sizes that are not constants may be told to the default schedule, which then is right at any") {
  const char* source = "def f(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const lang::Program program = lang::parse(source, "test.tc").at(0);
  const Target target = test::small_cpu(512, 256, 1 << 20);
  CHECK(default_text(source, target).find("transform_layout") == std::string::npos);
  const auto at = [&](std::int64_t m) {
    return autoschedule::default_schedule(program, target, {{"M", m}, {"N", 83}, {"K", 67}, {"other", 3}}).to_text();
  };
  CHECK(at(45).find("transform_layout") != std::string::npos);
  CHECK_MESSAGE(at(3) != default_text(source, target), at(3));
  for (const std::string& text : {at(45), at(3)}) {
    INFO(text);
    test::check_schedule(source, text, {{"M", 45}, {"N", 83}, {"K", 67}});
    test::check_schedule(source, text, {{"M", 2}, {"N", 5}, {"K", 0}});
    test::check_schedule(source, text, {{"M", 7}, {"N", 101}, {"K", 70}});
  }
  // A window whose extents are known only at the call cannot be unrolled.
  const char* window = "def f(int(H,W) I, int(R,S) K) -> (Y) { Y(h,w) +=! I(h+r,w+s) * K(r,s) }";
  const std::string text = autoschedule::default_schedule(lang::parse(window, "test.tc").at(0), target,
                                                          {{"H", 20}, {"W", 30}, {"R", 3}, {"S", 3}})
                               .to_text();
  CHECK(text == default_text(window, target));
}

TEST_CASE("an epilogue is applied to a contraction's tiles while they are in registers") {
  const Product with_epilogue[] = {
      {"bias and a bound",
       "def f(int(45,67) A, int(67,83) B, int(83) G) -> (D) {\n  C(m,n) +=! A(m,k) * B(k,n)\n"
       "  D(m,n) = max(C(m,n) + G(n), 0)\n}"},
      {"used twice",
       "def f(int(45,67) A, int(67,83) B) -> (D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) * C(m,n) }"},
      {"of a convolution",
       "def f(int(1,20,7,7) I, int(37,20,3,3) K, int(37) G) -> (Z) {\n"
       "  P(n,c,h,w) = h >= 1 && h <= 7 && w >= 1 && w <= 7 ? I(n,c,h-1,w-1) : 0 where h in 0:9, w in 0:9\n"
       "  Y(n,o,h,w) +=! P(n,c,h+kh,w+kw) * K(o,c,kh,kw)\n  Z(n,o,h,w) = max(Y(n,o,h,w) + G(o), 0)\n}"},
  };
  for (const Product& program : with_epilogue) {
    for (const std::uint32_t bits : {128U, 512U}) {
      for (const std::uint64_t l2_bytes : {std::uint64_t{600}, std::uint64_t{1} << 20}) {
        const std::string text = default_text(program.source, test::small_cpu(bits, 256, l2_bytes));
        INFO(program.name << ", " << bits << "-bit vectors, second-level cache of " << l2_bytes << " bytes\n" << text);
        CHECK((text.find("C: compute_at D") != std::string::npos || text.find("Y: compute_at Z") != std::string::npos));
        test::check_schedule(program.source, text);
      }
    }
  }
  // The product is also read at other positions, or is itself an output.
  for (const char* source :
       {"def f(int(45,67) A, int(67,45) B) -> (D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) + C(n,m) }",
        "def f(int(45,67) A, int(67,83) B) -> (C, D) { C(m,n) +=! A(m,k) * B(k,n)\n D(m,n) = C(m,n) + 1 }"}) {
    const std::string text = default_text(source, test::small_cpu(128, 256, 1 << 20));
    CHECK_MESSAGE(text.find("C: compute_at") == std::string::npos, text);
    test::check_schedule(source, text);
  }
}

TEST_CASE("what finishes a reduction element by element is computed in its loops, whatever the reduction is") {
  const char* const finish = "  S(n,o,h,w) = Y(n,o,h,w) * s(o) + b(o)\n  R(n,o,h,w) = max(S(n,o,h,w), 0)\n}";
  const char* const leaky =
      "  S(n,o,h,w) = Y(n,o,h,w) * s(o) + b(o)\n"
      "  R(n,o,h,w) = S(n,o,h,w) > 0 ? S(n,o,h,w) : 3 * S(n,o,h,w)\n}";
  const std::string any = "def f(int(N,C,H,W) I, int(O,C,KH,KW) K, int(O) s, int(O) b) -> (R) {\n";
  const std::string deep = "def f(int(1,200,5,6) I, int(21,200,3,3) K, int(21) s, int(21) b) -> (R) {\n";
  const std::string padded =
      "  P(n,c,h,w) = h >= 1 && h <= H && w >= 1 && w <= W ? I(n,c,h-1,w-1) : 0 where h in 0:H+2, w in 0:W+2\n";
  const std::string convolution = "  Y(n,o,h,w) +=! I(n,c,h+kh,w+kw) * K(o,c,kh,kw)\n";
  const std::string strided = "  Y(n,o,h,w) +=! P(n,c,2*h+kh,2*w+kw) * K(o,c,kh,kw)\n";
  const std::string depthwise =
      "def f(int(1,5,19,37) I, int(5,3,3) K, int(5) s, int(5) b) -> (R) {\n"
      "  Y(n,o,h,w) +=! I(n,o,h+kh,w+kw) * K(o,kh,kw)\n";
  const std::string pooled =
      "def f(int(N,C,H,W) I, int(C) s, int(C) b) -> (R) {\n"
      "  Y(n,o,h,w) max=! I(n,o,2*h+kh,2*w+kw) where kh in 0:2, kw in 0:2\n";
  const std::pair<const char*, std::string> programs[] = {
      {"a convolution of any size", any + convolution + finish},
      {"strided and padded", any + padded + strided + finish},
      {"a value used several times", any + padded + strided + leaky},
      {"a depthwise convolution", depthwise + finish},
      {"pooling", pooled + finish},
      {"many channels", deep + convolution + finish},
      {"many channels, a value used several times", deep + convolution + leaky},
  };
  const test::Sizes sizes = {{"N", 2}, {"C", 3}, {"H", 9}, {"W", 21}, {"O", 7}, {"KH", 3}, {"KW", 2}};
  for (const auto& [name, source] : programs) {
    for (const std::uint32_t bits : {128U, 512U}) {
      const std::string text = default_text(source.c_str(), test::small_cpu(bits, 256, 1 << 20));
      INFO(name << ", " << bits << "-bit vectors\n" << text);
      CHECK(text.find("Y: compute_at R") != std::string::npos);
      const char* const between = source.find("3 * S") == std::string::npos ? "S: compute_inline" : "S: compute_at R";
      CHECK(text.find(between) != std::string::npos);
      if (is_drawn(name, 2, bits == 512)) test::check_schedule(source, text, sizes);
    }
  }
}

TEST_CASE("a transpose moves tiles of vectors along both axes") {
  const Product transposed[] = {
      {"a matrix", "def f(int(37,70) A) -> (B) { B(i,j) = A(j,i) }"},
      {"sizes known at run time", "def f(int(M,N) A) -> (B) { B(i,j) = A(j,i) + 1 }"},
      {"channels to the end", "def f(int(2,40,5,36) A) -> (B) { B(n,h,w,c) = A(n,c,h,w) }"},
      {"bytes", "def f(int8(70,90) A) -> (B) { B(i,j) = A(j,i) }"},
  };
  for (const Product& program : transposed) {
    for (const std::uint32_t bits : {128U, 512U}) {
      const std::string text = default_text(program.source, test::small_cpu(bits, 32 << 10, 1 << 20));
      INFO(program.name << ", " << bits << "-bit vectors\n" << text);
      CHECK((text.find("unroll") != std::string::npos || std::string(program.name) == "bytes"));
      test::check_schedule(program.source, text, {{"M", 35}, {"N", 50}});
    }
  }
  CHECK(default_text("def f(int(5,70) A) -> (B) { B(i,j) = A(j,i) }", test::small_cpu(512, 32 << 10, 1 << 20))
            .find("unroll") == std::string::npos);
}

TEST_CASE("a chain of stages too long for one expression is stored now and then") {
  std::string source = "def f(int(N) A) -> (B) { T0(i) = A(i)\n";
  for (int i = 1; i < 500; ++i) {
    const std::string before = "T" + std::to_string(i - 1) + "(i)";
    source += "T" + std::to_string(i) + "(i) = ((" + before + " * 3 + 1) ^ 5) - 2\n";
  }
  source += "B(i) = T499(i) }";
  const Target target = test::small_cpu(256, 32 << 10, 1 << 20);
  const std::string text = default_text(source.c_str(), target);
  CHECK(text.find("T100: compute_inline") != std::string::npos);
  CHECK_NOTHROW(test::compiled(source, text, target));
}

TEST_CASE("conditions nested within conditions cost no more than they are long") {
  // Examining each nested condition twice would take exponential time.
  std::string value = "A(i)";
  for (int i = 0; i < 80; ++i) value = "(" + value + " > " + std::to_string(i) + " ? 1 : 2)";
  const std::string source = "def f(int(N) A) -> (B) { B(i) = " + value + " where i in 0:N }";
  const Target target = test::small_cpu(256, 32 << 10, 1 << 20);
  CHECK_NOTHROW(test::compiled(source, default_text(source.c_str(), target), target));
}
