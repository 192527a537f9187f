// Tests of the interpreter itself: what instructions compute according to the PTX ISA, and that it reports faults.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "tests/unit/crosscompile/ptx/short_kernel.h"

using namespace ferry::ptx;
using namespace ferry::ptx::test;

TEST_CASE("integers wrap, shift beyond their width to nothing, and multiply to either half") {
  CHECK(bits_of_result("mov.b32 %r2, 2147483647;\nadd.s32 %r1, %r2, 1;") == 0x80000000);
  CHECK(bits_of_result("mov.b32 %r2, -7;\nshr.s32 %r1, %r2, 40;") == 0xffffffff);
  CHECK(bits_of_result("mov.b32 %r2, -7;\nshr.u32 %r1, %r2, 40;") == 0);
  CHECK(bits_of_result("mov.b32 %r2, 1;\nshl.b32 %r1, %r2, 32;") == 0);
  CHECK(bits_of_result("mov.b32 %r2, -2;\nmul.hi.u32 %r1, %r2, 3;") == 2);
  CHECK(bits_of_result("mov.b32 %r2, -2;\nmul.hi.s32 %r1, %r2, 3;") == 0xffffffff);
  CHECK(long_bits("mov.b32 %r2, -2;\nmul.wide.s32 %d2, %r2, 3;") == static_cast<std::uint64_t>(-6));
  CHECK(bits_of_result("mov.b32 %r2, -7;\ndiv.s32 %r1, %r2, 2;") == static_cast<std::uint32_t>(-3));
  CHECK(bits_of_result("mov.b32 %r2, -7;\nrem.s32 %r1, %r2, 2;") == static_cast<std::uint32_t>(-1));
  CHECK(bits_of_result("mov.b32 %r2, 305419896;\nprmt.b32 %r1, %r2, 0, 291;") == 0x78563412);
  CHECK(bits_of_result("mov.b32 %r2, 305419896;\nbfe.u32 %r1, %r2, 8, 8;") == 0x56);
  CHECK(bits_of_result("mov.b32 %r2, 240;\nbfe.s32 %r1, %r2, 4, 4;") == 0xffffffff);
  CHECK(bits_of_result("mov.b32 %r2, 0;\nmov.b32 %r3, 5;\nlop3.b32 %r1, %r2, %r3, 12, 0x3c;") == 5);
  CHECK(bits_of_result("mov.b32 %r2, -1;\nadd.cc.u32 %r3, %r2, 1;\naddc.u32 %r1, 7, 0;") == 8);
  CHECK(bits_of_result("mov.b32 %r2, 0;\nsub.cc.u32 %r3, %r2, 1;\nsubc.u32 %r1, 7, 0;") == 6);
  CHECK(bits_of_result("mov.b32 %r2, 0x01ff0203;\nmov.b32 %r3, 0x01010101;\ndp4a.s32.u32 %r1, %r2, %r3, 10;") == 15);
  CHECK(bits_of_result("mov.b32 %r2, 1;\nshf.l.wrap.b32 %r1, 0x80000000, %r2, 33;") == 3);
}

TEST_CASE("floats round to nearest, flush where it is said, and treat NaN as it is said") {
  CHECK(float_of("mov.f32 %f2, 0f3F800000;\nadd.rn.f32 %f1, %f2, 0f33800000;") == 1.0F);  // a tie rounds to even
  CHECK(float_of("mov.f32 %f2, 0f3F800000;\nadd.rp.f32 %f1, %f2, 0f33800000;") > 1.0F);   // rounds upwards
  CHECK(float_of("mov.f32 %f2, 0f00000001;\nmul.f32 %f1, %f2, 0f3F800000;") != 0.0F);
  CHECK(float_of("mov.f32 %f2, 0f00000001;\nmul.ftz.f32 %f1, %f2, 0f3F800000;") == 0.0F);
  CHECK(float_of("mov.f32 %f2, 0f7FC00000;\nmin.f32 %f1, %f2, 0f3F800000;") == 1.0F);
  CHECK(std::isnan(float_of("mov.f32 %f2, 0f7FC00000;\nmin.NaN.f32 %f1, %f2, 0f3F800000;")));
  CHECK(float_of("mov.f32 %f2, 0f40A00000;\nadd.sat.f32 %f1, %f2, %f2;") == 1.0F);
  CHECK(bits_of_result("mov.f32 %f2, 0f7FC00000;\nsetp.ltu.f32 %p1, %f2, %f2;\nselp.b32 %r1, 1, 2, %p1;") == 1);
  CHECK(bits_of_result("mov.f32 %f2, 0f7FC00000;\nsetp.ne.f32 %p1, %f2, %f2;\nselp.b32 %r1, 1, 2, %p1;") == 2);
}

TEST_CASE("conversions clamp, round to whole numbers as they are told, and know narrow floats") {
  CHECK(bits_of_result("mov.f32 %f2, 0f4F800000;\ncvt.rzi.s32.f32 %r1, %f2;") == 0x7fffffff);
  CHECK(bits_of_result("mov.f32 %f2, 0f7FC00000;\ncvt.rzi.s32.f32 %r1, %f2;") == 0);
  CHECK(bits_of_result("mov.f32 %f2, 0fC0200000;\ncvt.rzi.s32.f32 %r1, %f2;") == static_cast<std::uint32_t>(-2));
  CHECK(bits_of_result("mov.f32 %f2, 0f40200000;\ncvt.rni.s32.f32 %r1, %f2;") == 2);
  CHECK(bits_of_result("mov.f32 %f2, 0f40200000;\ncvt.rpi.s32.f32 %r1, %f2;") == 3);
  CHECK(bits_of_result("mov.b32 %r2, 511;\ncvt.s32.s8 %r1, %r2;") == 0xffffffff);
  CHECK(bits_of_result("mov.f32 %f2, 0f477FF000;\ncvt.rn.f16.f32 %h1, %f2;\ncvt.u32.u16 %r1, %h1;") == 0x7c00);
  CHECK(bits_of_result("mov.f32 %f2, 0f33000001;\ncvt.rn.f16.f32 %h1, %f2;\ncvt.u32.u16 %r1, %h1;") == 1);
  CHECK(bits_of_result("mov.f32 %f2, 0f3F808000;\ncvt.rn.bf16.f32 %h1, %f2;\ncvt.u32.u16 %r1, %h1;") == 0x3f80);
  CHECK(float_of("mov.b16 %h1, 0x0001;\ncvt.f32.f16 %f1, %h1;") == std::ldexp(1.0F, -24));
}

TEST_CASE("approximations are off by no more than the document allows, and are off") {
  int inexact = 0;
  for (int i = 1; i < 200; ++i) {
    const float x = 0.037F * static_cast<float>(i);
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    char text[16];
    std::snprintf(text, sizeof text, "0f%08X", bits);
    const std::string load = std::string("mov.f32 %f2, ") + text + ";\n";
    const double e = float_of(load + "ex2.approx.f32 %f1, %f2;"), l = float_of(load + "lg2.approx.f32 %f1, %f2;");
    const double s = float_of(load + "sin.approx.f32 %f1, %f2;"), r = float_of(load + "rcp.approx.f32 %f1, %f2;");
    CHECK(std::fabs(e / std::exp2(static_cast<double>(x)) - 1) < std::exp2(-22.5) + 0x1p-24);
    CHECK(std::fabs(l - std::log2(static_cast<double>(x))) < 0x1p-22 * std::fmax(1, std::fabs(l)) + 0x1p-22);
    CHECK(std::fabs(s - std::sin(static_cast<double>(x))) < std::exp2(-14.7) + 0x1p-24);
    CHECK(std::fabs(r * x - 1) < 0x1p-23 + 0x1p-24);
    inexact += e != static_cast<float>(std::exp2(static_cast<double>(x))) ? 1 : 0;
  }
  CHECK(inexact > 50);
}

TEST_CASE("lanes that are there shuffle, and what others would give was never written") {
  const std::string code = kOwnPlace + "shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;\nst.global.u32 [%d4], %r1;";
  Run whole = with_threads(32);
  whole(kernel(code, kSharedArray));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(whole.at<std::uint32_t>(i) == (i ^ 1));
  expect_fault(FaultKind::unwritten, "stores what was never computed", with_threads(3), kernel(code, kSharedArray));
}

TEST_CASE("threads exchange through shared memory with a barrier, in any order, and race without") {
  const std::string write = kOwnPlace + "st.shared.u32 [%d6], %r0;\n";
  const std::string read =
      "xor.b32 %r2, %r0, 1;\nmul.wide.u32 %d7, %r2, 4;\nadd.s64 %d8, %d5, %d7;\nld.shared.u32 %r3, [%d8];\n"
      "st.global.u32 [%d4], %r3;";
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Run run = with_threads(64);
    run.seed = seed;
    run(kernel(write + "bar.sync 0;\n" + read, kSharedArray));
    for (std::uint32_t i = 0; i < 64; ++i) CHECK(run.at<std::uint32_t>(i) == (i ^ 1));
    try {
      run(kernel(write + read, kSharedArray));
      FAIL_CHECK("expected a race");
    } catch (const Fault& fault) {
      // Depending on which thread comes first, it finds a race or an unwritten value.
      CHECK((fault.kind == FaultKind::race || fault.kind == FaultKind::unwritten));
    }
  }
  // The same holds if all threads write the same value, and across blocks.
  expect_fault(FaultKind::race, "a race", with_threads(2), kernel("st.global.u32 [%d1], 1;"));
  expect_fault(FaultKind::race, "a race", with_threads(1, 2), kernel("bar.sync 0;\nst.global.u32 [%d1], 1;"));
}

TEST_CASE("what is outside, not aligned or never written is told with its line") {
  expect_fault(FaultKind::illegal_address, "outside of everything", {}, kernel("ld.global.u32 %r1, [%d0+256];"));
  expect_fault(FaultKind::illegal_address, "outside of everything", {}, kernel("ld.global.u8 %r1, [%d0+-1];"));
  expect_fault(FaultKind::illegal_address, "writes 4 bytes at byte 256 of s, which has 256 bytes", {},
               kernel("mov.u64 %d5, s;\nst.shared.u32 [%d5+256], %r0;", kSharedArray));
  expect_fault(FaultKind::misaligned, "no multiple", {}, kernel("ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%d0+4];"));
  expect_fault(FaultKind::unwritten, "stores what was never computed", {}, kernel("st.global.u32 [%d1], %r9;"));
  expect_fault(FaultKind::unwritten, "line 16", {}, kernel("setp.eq.s32 %p1, %r9, 0;\n@%p1 bra $L;\n$L:"));
  expect_fault(FaultKind::unwritten, "stores what was never computed", {},
               kernel("mov.u64 %d5, s;\nld.shared.u32 %r1, [%d5];\nst.global.u32 [%d1], %r1;", kSharedArray));
  expect_fault(FaultKind::unwritten, "stores what was never computed", {},
               kernel("mov.b32 %r2, 0;\ndiv.s32 %r1, 5, %r2;\nst.global.u32 [%d1], %r1;"));
  expect_fault(FaultKind::race, "read-only cache", {},
               kernel("st.global.u32 [%d1], %r0;\nld.global.nc.u32 %r1, [%d1];"));
  // Bits that are not used may be unwritten.
  CHECK(bits_of_result("mov.b16 %h1, 7;\nmov.b32 %r2, {%h1, %h2};\nand.b32 %r1, %r2, 255;") == 7);
  CHECK(bits_of_result("mov.b16 %h1, 7;\nmov.b32 %r2, {%h1, %h2};\nbfe.s32 %r1, %r2, 0, 8;") == 7);
  expect_fault(FaultKind::unwritten, "stores what was never computed", {},
               kernel("mov.b16 %h1, 7;\nmov.b32 %r2, {%h1, %h2};\nbfe.u32 %r1, %r2, 9, 8;\nst.global.u32 [%d1], %r1;"));
}

TEST_CASE("barriers that not all threads reach, and loops without end, are told") {
  expect_fault(FaultKind::divergence, "it has ended", with_threads(64),
               kernel("setp.eq.s32 %p1, %r0, 40;\n@%p1 ret;\nbar.sync 0;"));
  expect_fault(FaultKind::divergence, "another thread of its warp", with_threads(32),
               kernel("setp.eq.s32 %p1, %r0, 5;\n@%p1 bra $A;\nbar.sync 0;\nret;\n$A:\nbar.sync 0;"));
  expect_fault(
      FaultKind::divergence, "", with_threads(32),
      kernel("setp.eq.s32 %p1, %r0, 5;\n@%p1 bra $A;\nshfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;\n$A:\nbar.sync 0;"));
  expect_fault(FaultKind::endless, "does not end", {}, kernel("$A:\nbra $A;"));
}

TEST_CASE("asynchronous copies are there once they were waited for, and only for others after a barrier") {
  const std::string copy = "mov.u64 %d5, s;\ncp.async.ca.shared.global [%d5], [%d0], 4;\ncp.async.commit_group;\n";
  const std::string read = "ld.shared.u32 %r1, [%d5];\nst.global.u32 [%d1], %r1;";
  Run run;
  run.in[0] = 42;
  run(kernel(copy + "cp.async.wait_group 0;\n" + read, kSharedArray));
  CHECK(run.at<std::uint32_t>(0) == 42);
  for (const char* wait : {"", "cp.async.wait_group 1;\n"})
    expect_fault(FaultKind::race, "may not have landed", {}, kernel(copy + wait + read, kSharedArray));
  expect_fault(FaultKind::misaligned, "no multiple of 8", {},
               kernel("mov.u64 %d5, s;\ncp.async.ca.shared.global [%d5], [%d0+4], 8;", kSharedArray));
}

TEST_CASE("functions are called by value") {
  const std::string function =
      ".func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)\n{\n.reg .b32 %r<3>;\n"
      "ld.param.b32 %r1, [twice_param_0];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [func_retval0+0], %r2;\nret;\n}\n";
  const std::string call =
      "mov.b32 %r2, 21;\n{\n.param .b32 param0;\nst.param.b32 [param0+0], %r2;\n.param .b32 retval0;\n"
      "call.uni (retval0), twice, (param0);\nld.param.b32 %r1, [retval0+0];\n}\nst.global.u32 [%d1], %r1;";
  Run run;
  run(kernel(call, function));
  CHECK(run.at<std::uint32_t>(0) == 42);
}

TEST_CASE("what the interpreter does not know it refuses, with the line") {
  for (const char* code : {"wmma.load.a %r1;", "add.s32.funny %r1, %r0, 1;", "add.s32 %r1, %r0;", "bra nowhere;",
                           "mov.u32 %r1, %clock;"}) {
    INFO(code);
    CHECK_THROWS_WITH_AS(parse(kernel(code)), doctest::Contains("line 15"), ParseError);
  }
}
