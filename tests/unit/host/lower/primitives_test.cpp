// Tests that every primitive preserves the result, at sizes that the factors divide and at others.
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

using namespace ferry::test;

namespace {

const char* const kAdd = "def add(int(N) A, int(N) B) -> (C) { C(i) = A(i) + B(i) }";
const char* const kProduct = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
const char* const kBlur =
    "def blur(int(H,W) I) -> (B) { X(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)  B(y,x) = X(y,x) + X(y+1,x) + X(y+2,x) }";
const char* const kTwo = "def two(int(N,M) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * 2 }";

const Sizes kProductSizes[] = {{{"M", 1}, {"N", 1}, {"K", 1}},
                               {{"M", 8}, {"N", 16}, {"K", 4}},
                               {{"M", 13}, {"N", 37}, {"K", 11}},
                               {{"M", 33}, {"N", 5}, {"K", 1}},
                               {{"M", 3}, {"N", 17}, {"K", 0}}};

void check_product(const std::string& schedule) {
  for (const Sizes& sizes : kProductSizes) check_schedule(kProduct, schedule, sizes);
}

void check_blur(const std::string& schedule) {
  for (const Sizes& sizes : {Sizes{{"H", 3}, {"W", 3}}, {{"H", 10}, {"W", 18}}, {{"H", 13}, {"W", 21}}})
    check_schedule(kBlur, schedule, sizes);
}

}  // namespace

TEST_CASE("split covers every element once, whatever the factor") {
  for (const char* schedule : {"split i 1", "split i 4", "split i 32", "split i nparts 3", "split i nparts 1",
                               "split i 8 -> o p\nsplit p 3\nsplit o nparts 2", "split i 16\nvectorize i.inner",
                               "split i 4\nunroll i.inner", "split i nparts 4\nparallel i.outer"})
    for (std::int64_t size : {0, 1, 7, 16, 33, 100}) check_schedule(kAdd, schedule, {{"N", size}});
}

TEST_CASE("tile, fuse and reorder keep a matrix product") {
  check_product("tile m n 4 8 -> mo no mi ni\nreorder mo no k mi ni");
  check_product("tile m n 4 8 -> mo no mi ni\nreorder mo no k mi ni\nunroll mi\nvectorize ni");
  check_product("fuse m n -> f\nsplit f 6\nparallel f.outer");
  check_product("reorder k n m");
  check_product("reorder m k n\nsplit n 8\nvectorize n.inner");
  check_product("split k 4\nreorder k.outer m n k.inner");
  check_product(
      "split k nparts 2\nsplit m 5\nreorder m.outer k.outer n m.inner k.inner\nunroll m.inner\nparallel m.outer");
}

TEST_CASE("a tile too large for the stack adds up in the result") {
  check_schedule(kProduct, "reorder k m n", {{"M", 70}, {"N", 90}, {"K", 3}});
  check_schedule("def mm(int(80,3) A, int(3,90) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                 "reorder k m n\nsplit n 16\nvectorize n.inner");
}

TEST_CASE("an axis of a reduction may be vectorized where that is asked for") {
  check_product("split k 8\nvectorize k.inner reduce");
  check_product(
      "split k 4\nsplit m 3\nreorder m.outer n k.outer m.inner k.inner\nunroll m.inner\nvectorize k.inner reduce");
}

TEST_CASE("cache_write adds up in a tensor of its own") {
  check_product(
      "cache_write local -> T\nC: tile m n 4 8 -> mo no mi ni\nT: compute_at C no\nT: reorder k m n\n"
      "T: vectorize n\nT: unroll m\nC: vectorize ni");
  check_product("cache_write global -> T\nC: split m 4\nT: compute_at C m.outer\nC: parallel m.outer");
  check_schedule(kTwo, "C: cache_write local\nC: split j 4\nC.local: compute_at C j.outer", {{"N", 3}, {"M", 10}});
}

TEST_CASE("cache_read copies what is read next") {
  check_product(
      "C: tile m n 4 8 -> mo no mi ni\nC: split k 4\nC: reorder mo no k.outer mi k.inner ni\n"
      "B: cache_read local -> P\nP: compute_at C k.outer\nA: cache_read global C -> Q\nQ: compute_at C mo\n"
      "P: vectorize i1");
  check_product("B: cache_read global -> P\nP: split i1 8\nP: vectorize i1.inner");
}

TEST_CASE("packed panels hold every element, also those at ragged edges") {
  check_product(
      "B: cache_read global -> P\nP: transform_layout (k, n) -> (n / 8, k, n % 8)\n"
      "C: split n 8\nC: reorder n.outer m k n.inner\nC: vectorize n.inner");
  check_product("A: cache_read global -> P\nP: transform_layout (m, k) -> (k, m)");
  check_product(
      "B: cache_read global -> P\nC: split k 4\nC: reorder k.outer m k.inner n\n"
      "P: transform_layout (k, n) -> (n / 16, k, n / 4 % 4, n % 4)\nP: compute_at C k.outer");
}

TEST_CASE("a stage computed at a loop computes what that iteration needs") {
  for (const char* at : {"B y", "B x"}) check_blur(std::string("X: compute_at ") + at);
  check_blur("B: tile y x 4 8 -> yo xo yi xi\nX: compute_at B xo\nX: vectorize x\nB: vectorize xi");
  check_blur("B: tile y x 4 8 -> yo xo yi xi\nX: compute_at B yo\nX: split x 4\nX: vectorize x.inner\nB: parallel yo");
  check_blur("B: fuse y x -> f\nB: split f 7\nX: compute_at B f.outer");
}

TEST_CASE("no point is computed that nobody needs") {
  const char* const blur =
      "def blur(int(34,66) I) -> (B) { X(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)  "
      "B(y,x) = X(y,x) + X(y+1,x) + X(y+2,x) }";
  auto computed = [&](const std::string& schedule) { return points_computed(blur, schedule).at("X"); };
  CHECK(computed("") == 34 * 64);
  CHECK(computed("X: compute_at B y") == 32 * 3 * 64);
  CHECK(computed("B: tile y x 8 16 -> yo xo yi xi\nX: compute_at B xo") == 4 * 4 * 10 * 16);
  // The last tile is smaller: 32 = 2 * 12 + 8, 64 = 2 * 24 + 16.
  CHECK(computed("B: tile y x 12 24 -> yo xo yi xi\nX: compute_at B xo") == (14 + 14 + 10) * 64);
  // A slice of a larger tensor is read.
  CHECK(points_computed("def part(int(100) A) -> (C) { B(i) = A(i) * A(i)  C(i) = B(2*i + 5) where i in 0:10 }", "")
            .at("B") == 19);
  // For two readers, the union of their regions is computed.
  CHECK(
      points_computed("def both(int(100) A) -> (C) { B(i) = A(i) * A(i)  C(i) = B(i) + B(i + 3) where i in 0:10 }", "")
          .at("B") == 13);
}

TEST_CASE("a window that slides computes each row once") {
  const char* const blur =
      "def blur(int(34,66) I) -> (B) { X(y,x) = I(y,x) + I(y,x+1) + I(y,x+2)  "
      "B(y,x) = X(y,x) + X(y+1,x) + X(y+2,x) }";
  CHECK(points_computed(blur, "X: compute_at B y\nX: store_at root").at("X") == 34 * 64);
  CHECK(points_computed(blur, "B: tile y x 8 16 -> yo xo yi xi\nX: compute_at B yi\nX: store_at B xo").at("X") ==
        4 * 4 * 10 * 16);
  check_blur("X: compute_at B y\nX: store_at root");
  check_blur(
      "B: split y 4\nB: parallel y.outer\nX: compute_at B y.inner\nX: store_at B y.outer\nX: split x 8\n"
      "X: vectorize x.inner");
  check_blur("B: tile y x 4 8 -> yo xo yi xi\nX: compute_at B yi\nX: store_at B xo\nX: vectorize x");
}

TEST_CASE("a window that slides leaves nothing out where tails end it early") {
  const char* const diagonal =
      "def f(int M, int P, int(S) A) -> (C) { B(i) = A(i) * 3 where i in 0:M+P  C(i,k) = B(i+k) where i in 0:M, k in "
      "0:P }";
  for (const std::int64_t p : {1, 8, 9, 15})
    check_schedule(diagonal, "C: split k 8\nB: compute_at C i\nB: store_at root\nC: reorder k.outer i k.inner",
                   {{"M", 3}, {"P", p}, {"S", 3 + p}});
  for (const Sizes& sizes : {Sizes{{"H", 5}, {"W", 9}}, {{"H", 13}, {"W", 21}}})
    check_schedule(kBlur, "B: tile y x 4 8 -> yo xo yi xi\nX: compute_at B yi\nX: store_at B xo", sizes);
}

TEST_CASE("what is kept for one iteration only does not slide") {
  check_blur("X: compute_at B y\nX: store_at B y");
  check_blur("B: tile y x 4 8 -> yo xo yi xi\nX: compute_at B yi\nX: store_at B yi");
}

TEST_CASE("the storage of a sliding window is folded") {
  const std::string text = lowered_text(kBlur, "X: compute_at B y\nX: store_at root");
  CHECK_MESSAGE(text.find("% 4") != std::string::npos, text);
}

TEST_CASE("inlined stages leave no trace") {
  check_schedule(kTwo, "B: compute_inline", {{"N", 3}, {"M", 10}});
  check_schedule(kTwo, "inline_injective\nsplit j 4\nvectorize j.inner", {{"N", 3}, {"M", 10}});
  CHECK(points_computed("def two(int(5) A) -> (C) { B(i) = A(i) + 1  C(i) = B(i) * 2 }", "B: compute_inline")
            .count("B") == 0);
  check_blur("X: compute_inline\nB: split x 8\nB: vectorize x.inner");
}

TEST_CASE("rfactor reduces in parts") {
  for (std::int64_t columns : {0, 1, 7, 64, 131}) {
    const char* const rows = "def rows(int(M,N) A) -> (S) { S(m) +=! A(m,n) }";
    const Sizes sizes = {{"M", 3}, {"N", columns}};
    check_schedule(rows, "split n 8\nrfactor n.inner -> P\nP: compute_at S m\nP: vectorize n.inner", sizes);
    check_schedule(rows, "split n nparts 4\nrfactor n.outer -> P\nP: parallel n.outer", sizes);
    check_schedule("def top(int(N) A) -> (S) { S max=! A(n) }", "split n 16\nrfactor n.outer\nS.rf: parallel n.outer",
                   {{"N", columns}});
  }
}

TEST_CASE("aligned rows hold what dense ones do") {
  check_blur("X: storage_align y 16");
  check_blur("X: storage_align y 16 3\nX: split x 8\nX: vectorize x.inner");
  CHECK(lowered_text("def two(int(4,30) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * B(i,j) }",
                     "B: storage_align i 32")
            .find("32") != std::string::npos);
}

TEST_CASE("advice to unroll writes bodies out up to its limit") {
  const char* const dot = "def dot(int(4,8) A) -> (S) { S(i) +=! A(i,j) * A(i,j) }";
  check_schedule(dot, "pragma i auto_unroll_max_step 8");
  CHECK(lowered_text(dot, "pragma i auto_unroll_max_step 8").find("unrolled") != std::string::npos);
  CHECK(lowered_text(dot, "pragma i auto_unroll_max_step 7").find("unrolled") == std::string::npos);
}

TEST_CASE("chains of stages nest in one another's loops") {
  const char* const chain =
      "def chain(int(N) A) -> (D) { B(i) = A(i) + A(i+1)  C(i) = B(i) * B(i+1)  D(i) = C(i) + C(i+1) }";
  for (std::int64_t size : {4, 17, 40}) {
    check_schedule(chain, "D: split i 8\nC: compute_at D i.outer\nB: compute_at C i", {{"N", size}});
    check_schedule(chain, "D: split i 8\nC: compute_at D i.outer\nB: compute_at D i.outer", {{"N", size}});
    check_schedule(chain, "D: split i 8\nC: compute_at D i.outer\nB: compute_inline\nC: vectorize i", {{"N", size}});
    check_schedule(chain, "C: compute_at D i\nC: store_at root\nB: compute_at D i\nB: store_at root", {{"N", size}});
  }
}

TEST_CASE("padding is computed where it is read, and reads nothing outside") {
  const char* const padded =
      "def pad(int(H,W) I, int(3,3) K) -> (Y) { "
      "P(y,x) = y >= 1 && y <= H && x >= 1 && x <= W ? I(y-1,x-1) : 0 where y in 0:H+2, x in 0:W+2  "
      "Y(y,x) +=! P(y+ky,x+kx) * K(ky,kx) }";
  for (const Sizes& sizes : {Sizes{{"H", 1}, {"W", 1}}, {{"H", 9}, {"W", 19}}, {{"H", 16}, {"W", 8}}}) {
    check_schedule(padded, "P: compute_inline", sizes);
    check_schedule(padded,
                   "Y: tile y x 4 8 -> yo xo yi xi\nP: compute_at Y xo\nP: vectorize x\nY: reorder yo xo ky kx yi xi\n"
                   "Y: vectorize xi\nY: unroll yi",
                   sizes);
  }
}

TEST_CASE("a stage that is read from both ends is kept whole where loops overshoot") {
  const char* const kTurned =
      "def mirrored(int N, int(N+3) A) -> (C) { C(i) = A(i) + 1  C(i) = C(N+3-1-i) where i in (N+3)/2:N+3 }";
  for (const std::int64_t size : {0, 5, 20, 61})
    check_schedule(kTurned, "C: split i 16\nC: split i.outer nparts 4\nC.0: compute_at C i.outer.outer", {{"N", size}});
}

TEST_CASE("a stage inside of another's loops is unrolled for as many iterations as are needed there") {
  const char* source = "def two(int(2,5000) A) -> (C) { B(i,j) = A(i,j) + 1  C(i,j) = B(i,j) * 2 }";
  check_schedule(source, "C: split j 4 -> jo ji\nB: compute_at C jo\nB: unroll j");
  CHECK(refusal(source, "B: unroll j").find("expected an axis of at most 4096 iterations") != std::string::npos);
}

TEST_CASE("a result is computed in its reader's loops, each element once") {
  const char* const chain = "def f(int(N) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(i) * 2 }";
  for (const std::int64_t size : {0, 1, 7, 40}) {
    check_schedule(chain, "B: compute_at C i", {{"N", size}});
    check_schedule(chain, "C: split i 16\nB: compute_at C i.outer\nB: vectorize i", {{"N", size}});
    check_schedule(chain, "C: split i 8\nC: parallel i.outer\nB: compute_at C i.inner", {{"N", size}});
    check_schedule(chain, "C: split i 8 -> b t\nC: bind b blockIdx.x\nC: bind t threadIdx.x\nB: compute_at C t",
                   {{"N", size}});
  }
  CHECK(points_computed("def f(int(40) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(i) * 2 }",
                        "C: split i 16\nB: compute_at C i.outer")
            .at("B") == 40);
  const char* const summed = "def f(int(M,K) A) -> (B, C) { B(i,k) = A(i,k) * 3  C(i) +=! B(i,k) }";
  for (const std::int64_t size : {0, 1, 9}) {
    check_schedule(summed, "B: compute_at C k", {{"M", 5}, {"K", size}});
    check_schedule(summed, "B: compute_at C i\nC: split k 4", {{"M", 5}, {"K", size}});
    check_schedule(summed, "C: reorder k i\nB: compute_at C k", {{"M", 5}, {"K", size}});
  }
  const char* const updated = "def f(int(N) A) -> (A, C) { A(i) = A(i) + 1  C(i) = A(i) * A(i) }";
  check_schedule(updated, "A: compute_at C i", {{"N", 9}});
}

TEST_CASE("a result whose elements would be written twice or not at all is refused") {
  const auto says = [](const char* source, const char* schedule, const std::string& part) {
    const std::string sentence = refusal(source, schedule);
    INFO(sentence);
    CHECK(sentence.find(part) != std::string::npos);
  };
  const char* const window = "def f(int(N) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(i) + B(i+1) }";
  says(window, "B: compute_at C i", "to be written once, got 'C', which reads it at several points");
  const char* const rows = "def f(int(N) A, int(N,M) D) -> (B, C) { B(i) = A(i) + 1  C(i,j) = B(i) * D(i,j) }";
  const char* const shifted = "def f(int(15) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(i+1) where i in 0:4 }";
  says(shifted, "B: cache_read global\nB: compute_at B.global i0", "'B.global', of which only a part is required");
  const char* const whole = "def f(int(15) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(14-i) * 2 }";
  check_schedule(whole, "B: cache_read global\nB: compute_at B.global i0");
  says(rows, "B: compute_at C j", "the loop 'j' of 'C', whose iterations need the same elements");
  says(rows, "C: reorder j i\nB: compute_at C i", "the loop 'j' of 'C'");
  says(rows, "B: compute_at C i\nC: reorder j i", "the loop 'j' of 'C'");
  check_schedule(rows, "B: compute_at C i", {{"N", 5}, {"M", 3}});
  check_schedule(rows, "B: compute_at C i", {{"N", 5}, {"M", 0}});
  const char* const part = "def f(int(N) A) -> (B, C) { B(i) = A(i) + 1  C(i) = B(2*i) }";
  says(part, "B: compute_at C i", "whose index 1 is no axis that runs over all of it");
  const char* const shorter =
      "def f(int(N) A, int(M) D) -> (B, C) { B(i) = A(i) + 1  C(i) = B(i) * D(i) where i in 0:M }";
  says(shorter, "B: compute_at C i", "whose index 1 is no axis that runs over all of it");
}

TEST_CASE("a cache of a cache may be placed before its reader is, and an inlined stage be cached") {
  const char* const product = "def mm(int(M,K) A, int(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const std::string split =
      "C: split k 4 -> ko ki\nC: reorder ko m ki n\nA: cache_read global -> AA\n"
      "AA: cache_read local -> AL\n";
  for (const char* const order : {"AA: compute_at C ko\nAL: compute_at C m", "AL: compute_at C m\nAA: compute_at C ko"})
    check_schedule(product, split + order, {{"M", 5}, {"K", 11}, {"N", 3}});
  CHECK(lowered_text(product, split + "AA: compute_at C ko\nAL: compute_at C m") ==
        lowered_text(product, split + "AL: compute_at C m\nAA: compute_at C ko"));
  CHECK(refusal(product, split + "AL: set_scope global\nAA: compute_at C ko").find("got 'AL' outside of it") !=
        std::string::npos);

  const char* const chain = "def f(int(N) A) -> (C) { B(i) = A(i) + 1  C(i) = B(i) * B(i+1) }";
  const std::string after = "B.local: compute_at C i";
  check_schedule(chain, "B: compute_inline\nB: cache_read local\n" + after, {{"N", 9}});
  CHECK(lowered_text(chain, "B: compute_inline\nB: cache_read local\n" + after) ==
        lowered_text(chain, "B: cache_read local\nB: compute_inline\n" + after));
}
