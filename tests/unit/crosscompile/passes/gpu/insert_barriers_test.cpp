#include "crosscompile/passes/gpu/insert_barriers.h"

#include "crosscompile/ir/async_copy.h"
#include "tests/support/without_barrier.h"
#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

constexpr std::int64_t kCount = 8;

// A kernel of kCount threads; each stores to out[t].
struct Threads {
  Kernel kernel;
  Expr t = index("t");
  BufferRef in = kernel.input("in", DType::i32, {kCount}), out = kernel.output("out", DType::i32, {kCount});
  std::vector<BufferRef> arrays;

  BufferRef make(const std::string& name, std::vector<Expr> shape = {kCount}) {
    arrays.push_back(shared(name, std::move(shape)));
    return arrays.back();
  }
  Expr other() const { return Expr(kCount - 1) - t; }
  Stmt add(const Expr& value) const { return put(out, {t}, at(out, {t}) + value); }
  Stmt clear() const { return put(out, {t}, constant(DType::i32, std::int64_t{0})); }

  Function made(Stmt body) {
    kernel.function.body = of_threads(t, kCount, arrays, std::move(body));
    return kernel.function;
  }
};

// Expects that the function has no races at these sizes, and that it has some without any one of its barriers.
void check_barriers(const Function& function, const std::vector<std::int64_t>& sizes) {
  CHECK(complaint(function, sizes) == "none");
  for (int barrier = 0; barrier < test::count_barriers(function); ++barrier)
    CHECK(complaint(test::without_barrier(function, barrier), sizes) != "none");
}

}  // namespace

TEST_CASE("a thread that reads what another one wrote waits before it reads") {
  Threads threads;
  const BufferRef s = threads.make("S");
  const Function before = threads.made(block(
      {put(s, {threads.t}, at(threads.in, {threads.t})), put(threads.out, {threads.t}, at(s, {threads.other()}))}));
  CHECK(complaint(before, {}) != "none");
  const Function after = insert_barriers(before);
  CHECK(barriers(after.body) == Places{"before out"});
  check_barriers(after, {});
  Threads direct;
  check_same(direct.made(put(direct.out, {direct.t}, at(direct.in, {direct.other()}))), after, {});
}

TEST_CASE("threads that use only their own elements do not wait") {
  Threads threads;
  const BufferRef s = threads.make("S", {2, kCount});
  const Expr k = index("k");
  const Function after =
      insert_barriers(threads.made(block({loop(k, 2, put(s, {k, threads.t}, at(threads.in, {threads.t}))),
                                          put(threads.out, {threads.t}, at(s, {1, threads.t}))})));
  // S is indexed differently here, so only the analysis of its element could tell.
  CHECK(barriers(after.body).size() == 1);
  Threads same;
  const BufferRef own = same.make("S");
  const Function alone = insert_barriers(
      same.made(block({put(own, {same.t}, at(same.in, {same.t})), put(same.out, {same.t}, at(own, {same.t}))})));
  CHECK(barriers(alone.body).empty());
  check_barriers(alone, {});
}

TEST_CASE("a block of one thread never waits") {
  Kernel kernel;
  const Expr t = index("t");
  const BufferRef out = kernel.output("out", DType::i32, {2}), s = shared("S", {2});
  const auto number = [](std::int64_t value) { return constant(DType::i32, value); };
  kernel.function.body = of_threads(
      t, 1, {s},
      block({put(s, {0}, number(3)), put(s, {1}, at(s, {0})), put(out, {0}, at(s, {1})), put(out, {1}, number(1))}));
  CHECK(barriers(insert_barriers(kernel.function).body).empty());
}

TEST_CASE("a barrier stands as far out as possible, behind a loop that only writes") {
  Threads threads;
  const BufferRef s = threads.make("S", {4, kCount});
  const Expr k = index("k"), m = index("m");
  const Function after =
      insert_barriers(threads.made(block({loop(k, 4, put(s, {k, threads.t}, at(threads.in, {threads.t}))),
                                          threads.clear(), loop(m, 4, threads.add(at(s, {m, threads.other()})))})));
  CHECK(barriers(after.body) == Places{"before m"});
  check_barriers(after, {});
}

TEST_CASE("an array that every iteration fills anew is waited for before it is filled and before it is read") {
  Threads threads;
  const BufferRef s = threads.make("S");
  const Expr n = threads.kernel.size("n"), k = index("k");
  const Function after = insert_barriers(threads.made(block(
      {threads.clear(),
       loop(k, n, block({put(s, {threads.t}, at(threads.in, {threads.t})), threads.add(at(s, {threads.other()}))}))})));
  CHECK(barriers(after.body) == Places{"k: before S", "k: before out"});
  for (const std::int64_t size : {0, 1, 2, 7}) CHECK(complaint(after, {size}) == "none");
  check_barriers(after, {3});
}

TEST_CASE("parts that rotate need one barrier an iteration") {
  for (const std::int64_t parts : {2, 3, 5}) {
    Threads threads;
    const BufferRef s = threads.make("S", {parts, kCount});
    const Expr n = threads.kernel.size("n"), k = index("k");
    const Function after = insert_barriers(threads.made(
        block({threads.clear(), loop(k, n,
                                     block({put(s, {k % Expr(parts), threads.t}, at(threads.in, {threads.t})),
                                            threads.add(at(s, {k % Expr(parts), threads.other()}))}))})));
    CHECK(barriers(after.body) == Places{"k: before out"});
    for (const std::int64_t size : {0, 1, 2, 3, 5, 7, 13}) CHECK(complaint(after, {size}) == "none");
    check_barriers(after, {7});
  }
}

TEST_CASE("a part that is filled in the first iteration alone does not make the others wait") {
  // The first iteration fills parts 0 and 3; iteration k reads part k.
  const auto made = [](bool only_first) {
    Threads threads;
    const BufferRef s = threads.make("S", {4, kCount});
    const Expr k = index("k"), m = index("m");
    const Stmt ahead = put(s, {3, threads.t}, at(threads.in, {threads.t}));
    return insert_barriers(threads.made(block(
        {threads.clear(), loop(m, 4, put(s, {m, threads.t}, at(threads.in, {threads.t}))),
         loop(k, 3,
              block({only_first ? If::make(k == 0, ahead) : ahead, threads.add(at(s, {k, threads.other()}))}))})));
  };
  CHECK(barriers(made(true).body) == Places{"before k"});
  CHECK(complaint(made(true), {}) == "none");
  CHECK(complaint(made(false), {}) == "none");
}

TEST_CASE("a loop that may run zero times does not replace the barrier that follows it") {
  Threads threads;
  const BufferRef s = threads.make("S"), u = threads.make("U");
  const Expr n = threads.kernel.size("n"), k = index("k");
  const Function after = insert_barriers(threads.made(block(
      {put(s, {threads.t}, at(threads.in, {threads.t})), threads.clear(),
       loop(k, n, block({put(u, {threads.t}, at(threads.in, {threads.t})), threads.add(at(u, {threads.other()}))})),
       threads.add(at(s, {threads.other()}))})));
  INFO(barriers(after.body).size());
  for (const std::int64_t size : {0, 1, 2, 5}) CHECK(complaint(after, {size}) == "none");
  CHECK(complaint(test::without_barrier(after, test::count_barriers(after) - 1), {0}) != "none");
}

TEST_CASE("a loop that starts with a barrier needs none before it") {
  Threads threads;
  const BufferRef s = threads.make("S");
  const Expr k = index("k");
  const Stmt body = block({put(s, {threads.t}, at(threads.in, {threads.t})), threads.add(at(s, {threads.other()}))});
  const Function after = insert_barriers(
      threads.made(block({put(s, {threads.other()}, at(threads.in, {threads.t})), threads.clear(), loop(k, 3, body)})));
  CHECK(barriers(after.body) == Places{"k: before S", "k: before out"});
  check_barriers(after, {});
}

TEST_CASE("both sides of a condition that all threads share may wait, and what follows waits for either") {
  Threads threads;
  const BufferRef s = threads.make("S");
  const Expr n = threads.kernel.size("n");
  const Stmt write = put(s, {threads.t}, at(threads.in, {threads.t}));
  const Stmt elsewhere = put(s, {threads.other()}, at(threads.in, {threads.t}));
  const Function after = insert_barriers(threads.made(
      block({threads.clear(), If::make(n > 1, block({write, threads.add(at(s, {threads.other()}))}), elsewhere),
             threads.add(at(s, {(threads.t + 1) % Expr(kCount)}))})));
  CHECK(barriers(after.body) == Places{"before out", "before out"});
  for (const std::int64_t size : {0, 1, 2}) CHECK(complaint(after, {size}) == "none");
}

TEST_CASE("a barrier under a condition or in a loop that differs between threads is refused, by the array's name") {
  const auto refused = [](bool in_loop) {
    Threads threads;
    const BufferRef s = threads.make("S");
    const Expr k = index("k");
    const Stmt body = block({put(s, {threads.t}, at(threads.in, {threads.t})), threads.add(at(s, {threads.other()}))});
    return refusal([&] {
      insert_barriers(
          threads.made(block({threads.clear(), in_loop ? loop(k, threads.t, body) : If::make(threads.t < 3, body)})));
    });
  };
  for (const bool in_loop : {false, true})
    CHECK(refused(in_loop).find("'S' is in shared memory, and the threads of a block have to wait for each other") ==
          0);
}

TEST_CASE("asynchronous stores are pending again after the wait that completes them") {
  Threads threads;
  auto filled = std::make_shared<Buffer>(*shared("S", {kCount}));
  filled->storage.filled_asynchronously = true;
  const BufferRef s = filled, u = threads.make("U");
  threads.arrays.push_back(s);
  const Function after = insert_barriers(threads.made(
      block({put(s, {threads.t}, at(threads.in, {threads.t})), make_commit_copies(),
             put(u, {threads.t}, at(threads.in, {threads.t})), put(threads.out, {threads.t}, at(u, {threads.other()})),
             make_wait_copies(0), threads.add(at(s, {threads.other()}))})));
  // The first barrier is for U; the stores to S may complete after it, so they need another.
  CHECK(barriers(after.body) == Places{"before out", "before out"});
  CHECK(complaint(after, {}) == "none");
}

TEST_CASE("a wait in an inner loop completes what the outer loop fetched in its previous iteration") {
  Threads threads;
  auto filled = std::make_shared<Buffer>(*shared("S", {kCount}));
  filled->storage.filled_asynchronously = true;
  const BufferRef s = filled;
  threads.arrays.push_back(s);
  const Expr n = threads.kernel.size("n"), k = index("k"), m = index("m");
  const Stmt use = loop(m, 2, block({make_wait_copies(0), threads.add(at(s, {threads.other()}))}));
  const Function after = insert_barriers(threads.made(
      block({threads.clear(), put(s, {threads.t}, at(threads.in, {threads.t})), make_commit_copies(),
             loop(k, n, block({use, put(s, {threads.t}, at(threads.in, {threads.t})), make_commit_copies()}))})));
  for (const std::int64_t size : {0, 1, 2, 3}) CHECK(complaint(after, {size}) == "none");
  const Places places = barriers(after.body);
  CHECK(std::find(places.begin(), places.end(), "k m: before out") != places.end());
}

TEST_CASE("a nest of thirty loops takes no longer than its size asks for") {
  Threads threads;
  const BufferRef s = threads.make("S");
  std::vector<Expr> vars;
  Stmt body = block({put(s, {threads.t}, at(threads.in, {threads.t})), threads.add(at(s, {threads.other()}))});
  // Walking the body twice at each level would take 2^30 walks.
  for (int depth = 0; depth < 30; ++depth) body = loop(index("k" + std::to_string(depth)), depth < 3 ? 2 : 1, body);
  const Function after = insert_barriers(threads.made(block({threads.clear(), body})));
  CHECK(test::count_barriers(after) >= 2);
  CHECK(complaint(after, {}) == "none");
}
