#include "host/gate/diff/gpu_kernels.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::gate;

TEST_CASE("the kernels of an image of OpenCL C are found, and their own names and comments do not count") {
  const GpuKernels found = gpu_kernels_of(
      "typedef int int32_t;\n"
      "/* a_0(in f32[4] x)\n"
      "   __kernel void no(\n"
      "*/\n"
      "/* blocks of 256 threads */\n"
      "__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void ferry_fn_a_0(\n"
      "    __global float* restrict x) {\n"
      "  x[0] = 1;\n"
      "}\n"
      "\n"
      "__kernel void ferry_fn_a_0_1(\n"
      "    int n) {\n"
      "  ferry_fn_a_0_1_t = n;\n"
      "}\n");
  REQUIRE(found.kernels.size() == 2);
  CHECK(found.kernels[0].symbol == "ferry_fn_a_0");
  CHECK(found.kernels[0].text ==
        "__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void kernel(\n"
        "    __global float* restrict x) {\n"
        "  x[0] = 1;\n"
        "}\n");
  CHECK(found.kernels[1].symbol == "ferry_fn_a_0_1");
  CHECK(found.kernels[1].text == "__kernel void kernel(\n    int n) {\n  kernel_t = n;\n}\n");
  CHECK(found.beside == "typedef int int32_t;\n");
}

TEST_CASE("the kernels of an image of PTX are found, and the numbers of functions in labels do not count") {
  const GpuKernels found = gpu_kernels_of(
      "//\n"
      ".version 7.0\n"
      "\t// .globl\tferry_fn_b_7\n"
      ".visible .entry ferry_fn_b_7(\n"
      "\t.param .u64 ferry_fn_b_7_param_0\n"
      ")\n"
      "{\n"
      "\t@%p5 bra \t$L__BB12_9;\n"
      "$L__BB12_9:\n"
      "\tret;\n"
      "\n"
      "}\n"
      ".visible .entry c()\n"
      "{\n"
      "}\n");
  REQUIRE(found.kernels.size() == 2);
  CHECK(found.kernels[0].symbol == "ferry_fn_b_7");
  CHECK(
      found.kernels[0].text ==
      ".visible .entry kernel(\n\t.param .u64 kernel_param_0\n)\n{\n\t@%p5 bra \t$L__BB_9;\n$L__BB_9:\n\tret;\n\n}\n");
  CHECK(found.kernels[1].symbol == "c");
  CHECK(found.beside == ".version 7.0\n");
}

TEST_CASE("a text that is cut off or has no kernels is split as far as it goes") {
  CHECK(gpu_kernels_of("").kernels.empty());
  CHECK(gpu_kernels_of("").beside == "");
  CHECK(gpu_kernels_of("__kernel (\n.entry\n.entry (\n").kernels.empty());
  const GpuKernels cut = gpu_kernels_of("__kernel void cut_0(\n  int __BB");
  REQUIRE(cut.kernels.size() == 1);
  CHECK(cut.kernels[0].text == "__kernel void kernel(\n  int __BB\n");
}
