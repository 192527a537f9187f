#include "crosscompile/passes/gpu/gpu_limits.h"

#include "tests/unit/crosscompile/passes/gpu/block.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// A kernel of x * z threads with two arrays of `elements` floats in shared memory.
Function kernel(std::int64_t x, std::int64_t z, std::int64_t elements) {
  Kernel made;
  made.function.name = "f";
  const Expr tx = index("tx"), tz = index("tz"), b = index("b"), n = made.size("n");
  const BufferRef out = made.output("out", DType::f32, {n}), s = shared("S", {elements}, DType::f32),
                  u = shared("U", {elements}, DType::f32);
  const Stmt body =
      loop(tz, Expr(z), loop(tx, Expr(x), put(out, {b}, at(s, {0}) + at(u, {0})), kThreads), ForKind::thread_z);
  made.function.body = loop(b, n, Allocate::make(s, Allocate::make(u, body)), kBlocks);
  return made.function;
}

std::string refused(const Function& function, const Target& target) {
  return refusal([&] { check_gpu_limits(function, target); });
}

Target limited(const char* arch, std::int64_t threads, std::int64_t bytes) {
  Target target;
  target.text = arch;
  target.set_arch(arch);
  target.capabilities = capabilities_of(target);
  target.block_threads = threads;
  target.block_shared_bytes = bytes;
  return target;
}

}  // namespace

TEST_CASE("a block may have as many threads as the target allows, and not one more") {
  CHECK(refused(kernel(16, 4, 1), limited("opencl", 64, 0)) == "none");
  CHECK(refused(kernel(13, 5, 1), limited("opencl", 64, 0)) ==
        "'f': expected at most 64 threads in a block on the target 'opencl', got 65 (threadIdx.z 5, threadIdx.x 13)");
}

TEST_CASE("a block may have as much shared memory as the target allows, and not one byte more") {
  CHECK(refused(kernel(1, 1, 16), limited("opencl", 0, 128)) == "none");
  CHECK(refused(kernel(1, 1, 17), limited("opencl", 0, 128)) ==
        "'f': expected at most 128 bytes of shared memory for a block on the target 'opencl', got 160 ('S' 80, 'U' "
        "80); smaller tiles need less");
}

TEST_CASE("CUDA has at most 64 threads along z") {
  CHECK(refused(kernel(1, 64, 1), limited("cuda", 0, 0)) == "none");
  CHECK(refused(kernel(1, 65, 1), limited("cuda", 0, 0)) ==
        "'f': expected at most 64 threads along threadIdx.z on the target 'cuda', got 65");
  CHECK(refused(kernel(1, 65, 1), limited("opencl", 0, 0)) == "none");
}

TEST_CASE("a limit that only the device knows is left to it") {
  CHECK(refused(kernel(4096, 16, 1 << 20), limited("opencl", 0, 0)) == "none");
}

TEST_CASE("a number of threads beyond 64 bits is refused as well") {
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(refused(kernel(huge, huge, 1), limited("opencl", 1024, 0)).find("'f': expected at most 1,024 threads") == 0);
}
