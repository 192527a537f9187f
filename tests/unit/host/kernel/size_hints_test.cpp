// Tests of the sizes that schedules are chosen for.
#include "host/kernel/size_hints.h"

#include <doctest/doctest.h>

#include "host/client/npy/npy.h"
#include "host/kernel/compile_kernel.h"
#include "tests/unit/host/kernel/own_compiler.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

SizesByName hints(std::vector<std::string> arguments, std::map<std::string, GivenTensor> given = {}) {
  KernelOptions options;
  options.expression = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }\n";
  CallOptions call;
  call.arguments = std::move(arguments);
  call.sizes = {"N=3"};
  call.given = std::move(given);
  return size_hints(function_of(read_kernel(test::own_compiler(), options), ""), call);
}

}  // namespace

TEST_CASE("sizes are those of arguments with shapes, of files and of tensors that are there") {
  CHECK(hints({}) == SizesByName{{"N", 3}});
  CHECK(hints({"A=f32[2,4]"}) == SizesByName{{"K", 4}, {"M", 2}, {"N", 3}});
  const test::Folder folder;
  npy::write(folder.path("a.npy"), DType::f32, std::vector<std::int64_t>{5, 7}, std::vector<std::uint8_t>(4 * 5 * 7));
  CHECK(hints({"A=@" + folder.path("a.npy")}) == SizesByName{{"K", 7}, {"M", 5}, {"N", 3}});
  CHECK(hints({}, {{"B", {DType::f32, {4, 9}, {}, "b"}}}) == SizesByName{{"K", 4}, {"N", 3}});
}

TEST_CASE("files that are missing or of another kind are left to the call") {
  CHECK(hints({"A=@/nowhere/a.npy"}) == SizesByName{{"N", 3}});
  const test::Folder folder;
  CHECK(hints({"A=@" + folder.file("a.npy", "no tensor")}) == SizesByName{{"N", 3}});
  CHECK(hints({"A=@/dev/null"}) == SizesByName{{"N", 3}});
}
