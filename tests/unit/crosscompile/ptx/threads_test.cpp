// Tests of what threads do together: votes, atomics, barriers of a warp and of a block.
#include <doctest/doctest.h>

#include <bit>

#include "tests/unit/crosscompile/ptx/short_kernel.h"

using namespace ferry::ptx;
using namespace ferry::ptx::test;

namespace {

// Returns what each of 32 threads stores from %r1.
std::vector<std::uint32_t> results(const std::string& code, unsigned threads = 32, std::uint64_t seed = 0) {
  Run run = with_threads(threads);
  run.seed = seed;
  run(kernel(kOwnPlace + code + "\nst.global.u32 [%d4], %r1;", kSharedArray));
  std::vector<std::uint32_t> all;
  for (unsigned i = 0; i < threads; ++i) all.push_back(run.at<std::uint32_t>(i));
  return all;
}

}  // namespace

TEST_CASE("lanes vote, match and reduce") {
  const std::string odd = "and.b32 %r2, %r0, 1;\nsetp.ne.s32 %p1, %r2, 0;\n";
  for (const std::uint32_t one : results(odd + "vote.sync.ballot.b32 %r1, %p1, -1;")) CHECK(one == 0xaaaaaaaa);
  for (const std::uint32_t one : results(odd + "vote.sync.ballot.b32 %r1, !%p1, -1;")) CHECK(one == 0x55555555);
  const std::string any =
      "vote.sync.any.pred %p2, %p1, -1;\nvote.sync.all.pred %p3, %p1, -1;\n"
      "vote.sync.uni.pred %p4, %p1, -1;\nselp.b32 %r3, 1, 0, %p2;\nselp.b32 %r4, 2, 0, %p3;\n"
      "selp.b32 %r5, 4, 0, %p4;\nor.b32 %r1, %r3, %r4;\nor.b32 %r1, %r1, %r5;";
  for (const std::uint32_t one : results(odd + any)) CHECK(one == 1);
  const std::vector<std::uint32_t> same = results("shr.u32 %r2, %r0, 3;\nmatch.any.sync.b32 %r1, %r2, -1;");
  for (unsigned i = 0; i < 32; ++i) CHECK(same[i] == 0xffU << (i / 8 * 8));
  for (const std::uint32_t one : results("match.all.sync.b32 %r1, %r0, -1;")) CHECK(one == 0);
  for (const std::uint32_t one : results("redux.sync.add.s32 %r1, %r0, -1;")) CHECK(one == 31 * 32 / 2);
  for (const std::uint32_t one : results("sub.s32 %r2, %r0, 7;\nredux.sync.min.s32 %r1, %r2, -1;"))
    CHECK(one == static_cast<std::uint32_t>(-7));
}

TEST_CASE("lanes that a mask names go on without the others, in any order") {
  const std::string code =
      "mov.b32 %r1, 100;\nsetp.ge.s32 %p1, %r0, 8;\n@%p1 bra $L;\nredux.sync.add.u32 %r1, %r0, 255;\n$L:";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<std::uint32_t> all = results(code, 32, seed);
    for (unsigned i = 0; i < 32; ++i) CHECK(all[i] == (i < 8 ? 28 : 100));
  }
  expect_fault(FaultKind::divergence, "mask does not name", with_threads(32),
               kernel("redux.sync.add.u32 %r1, %r0, 255;"));
  expect_fault(FaultKind::divergence, "which wait elsewhere", with_threads(32),
               kernel("setp.ge.s32 %p1, %r0, 8;\n@%p1 bra $L;\nredux.sync.add.u32 %r1, %r0, -1;\n$L:\nbar.sync 0;"));
}

TEST_CASE("a barrier of a warp orders the accesses of its lanes, and of no others") {
  const std::string write = "st.shared.u32 [%d6], %r0;\n",
                    read =
                        "xor.b32 %r2, %r0, 1;\nmul.wide.u32 %d7, %r2, 4;\nadd.s64 %d8, %d5, %d7;\n"
                        "ld.shared.u32 %r1, [%d8];\n";
  const std::string sync = "bar.warp.sync -1;\n";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const std::vector<std::uint32_t> all = results(write + sync + read, 64, seed);
    for (unsigned i = 0; i < 64; ++i) CHECK(all[i] == (i ^ 1));
    // Elements that were read may be written again after the next barrier only.
    CHECK_NOTHROW(results(write + sync + read + sync + write, 32, seed));
  }
  expect_fault(FaultKind::race, "a race", with_threads(32),
               kernel(kOwnPlace + write + sync + read + write, kSharedArray));
  const std::string far = "xor.b32 %r2, %r0, 32;\nmul.wide.u32 %d7, %r2, 4;\nadd.s64 %d8, %d5, %d7;\n";
  expect_fault(FaultKind::race, "a race", with_threads(64),
               kernel(kOwnPlace + write + sync + far + "st.shared.u32 [%d8], %r0;", kSharedArray));
}

TEST_CASE("atomic operations of any threads do not race with each other, but with other accesses") {
  Run sum = with_threads(32, 4);
  sum(kernel("atom.global.add.u32 %r1, [%d1], 3;"));
  CHECK(sum.at<std::uint32_t>(0) == 3 * 32 * 4);
  Run reduced = with_threads(32, 4);
  reduced(kernel("red.global.add.f32 [%d1], 0f3F800000;\nred.global.max.s32 [%d1+8], %r0;"));
  CHECK(reduced.at<float>(0) == 128.0F);
  CHECK(reduced.at<std::uint32_t>(2) == 31);
  Run swapped;
  swapped(
      kernel("atom.global.cas.b32 %r1, [%d1], 0, 7;\natom.global.cas.b32 %r1, [%d1], 0, 8;\n"
             "atom.global.exch.b32 %r2, [%d1+4], 5;\natom.global.inc.u32 %r3, [%d1+8], 0;\n"
             "atom.global.dec.u32 %r3, [%d1+12], 9;"));
  CHECK(swapped.at<std::uint32_t>(0) == 7);
  CHECK(swapped.at<std::uint32_t>(1) == 5);
  CHECK(swapped.at<std::uint32_t>(2) == 0);
  CHECK(swapped.at<std::uint32_t>(3) == 9);
  const std::string add = "atom.global.add.u32 %r1, [%d1], 1;\n";
  expect_fault(FaultKind::race, "a race", with_threads(2), kernel(add + "ld.global.u32 %r2, [%d1];"));
  expect_fault(FaultKind::race, "a race", with_threads(2), kernel(add + "st.global.u32 [%d1], 7;"));
  CHECK_NOTHROW(with_threads(64)(kernel(add + "bar.sync 0;\nld.global.u32 %r2, [%d1];")));
  expect_fault(FaultKind::race, "a race", with_threads(32, 2), kernel(add + "bar.sync 0;\nld.global.u32 %r2, [%d1];"));
  // A sum in shared memory begins with what was there.
  const std::string shared = "mov.u64 %d5, s;\natom.shared.add.u32 %r1, [%d5], 1;\nld.shared.u32 %r2, [%d5];\n";
  expect_fault(FaultKind::unwritten, "stores what was never computed", {},
               kernel(shared + "st.global.u32 [%d1], %r2;", kSharedArray));
}

TEST_CASE("a barrier counts the threads for which a predicate holds") {
  const std::string odd = "and.b32 %r2, %r0, 1;\nsetp.ne.s32 %p1, %r2, 0;\n";
  for (const std::uint32_t one : results(odd + "bar.red.popc.u32 %r1, 0, %p1;", 50)) CHECK(one == 25);
  for (const std::uint32_t one : results(odd + "bar.red.or.pred %p2, 0, %p1;\nselp.b32 %r1, 1, 0, %p2;"))
    CHECK(one == 1);
  for (const std::uint32_t one : results(odd + "bar.red.and.pred %p2, 0, %p1;\nselp.b32 %r1, 1, 0, %p2;"))
    CHECK(one == 0);
}

TEST_CASE("instructions of CUDA C's functions compute what the document says") {
  CHECK(bits_of_result("mov.b32 %r2, -7;\nsad.s32 %r1, %r2, 5, 100;") == 112);
  CHECK(bits_of_result("mov.b32 %r2, 16777215;\nmul24.lo.s32 %r1, %r2, 3;") == static_cast<std::uint32_t>(-3));
  CHECK(bits_of_result("mov.b32 %r2, 16777217;\nmad24.lo.u32 %r1, %r2, 3, 4;") == 7);
  CHECK(bits_of_result("mov.b32 %r2, 4096;\nbfind.u32 %r1, %r2;") == 12);
  CHECK(bits_of_result("mov.b32 %r2, 4096;\nbfind.shiftamt.u32 %r1, %r2;") == 19);
  CHECK(bits_of_result("mov.b32 %r2, -1;\nbfind.s32 %r1, %r2;") == 0xffffffff);
  CHECK(bits_of_result("mov.b32 %r2, 0;\ncnot.b32 %r1, %r2;") == 1);
  CHECK(bits_of_result("mov.b32 %r2, 3;\nset.lt.u32.s32 %r1, %r2, 4;") == 0xffffffff);
  CHECK(bits_of_result("mov.b32 %r2, 3;\nslct.s32.s32 %r1, 5, 6, -1;") == 6);
  CHECK(results("mov.u32 %r1, %lanemask_lt;")[5] == 31);
}

TEST_CASE("faults name the source's line where the PTX says it, and the array where it has a name") {
  const std::string located = kernel("mov.u64 %d5, s;\n.loc 1 42 3\nst.shared.u32 [%d5+260], %r0;", kSharedArray) +
                              ".file 1 \"/home/me/k.cu\"\n";
  expect_fault(FaultKind::illegal_address, "k.cu:42 (st.shared.u32): writes 4 bytes at byte 260 of s", {}, located);
  std::vector<std::uint8_t> bytes(40);
  const Program program = parse(kernel("ld.global.u32 %r1, [%d1+40];"));
  Launch launch{.program = &program, .kernel = program.functions.at("k").get()};
  launch.parameters.resize(16);
  std::memcpy(launch.parameters.data() + 8, &kOut, 8);
  CHECK_THROWS_WITH_AS(
      run(launch, {{.address = kOut, .bytes = 40, .content = bytes.data(), .name = "c", .element_bytes = 4}}),
      doctest::Contains("reads 4 bytes at c[10], which has 10 elements"), Fault);
}

TEST_CASE("launches that are too large for the interpreter, and endless ones, are told") {
  expect_fault(FaultKind::invalid_launch, "1,024 threads", with_threads(1025), kernel(""));
  expect_fault(FaultKind::invalid_launch, "more blocks than the interpreter runs", with_threads(1, 1U << 30),
               kernel(""));
  CHECK_THROWS_WITH_AS(parse(kernel("membar.gl;")), doctest::Contains("'membar.gl': it orders accesses by barriers"),
                       ParseError);
  CHECK_THROWS_WITH_AS(parse(kernel("activemask.b32 %r1;")), doctest::Contains("activemask"), ParseError);
}
