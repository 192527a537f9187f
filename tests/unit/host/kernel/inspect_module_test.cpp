// Tests of reading modules for display.
#include "host/kernel/inspect_module.h"

#include <doctest/doctest.h>

#include "ferry/compile.h"
#include "ferry/error.h"
#include "host/kernel/file.h"
#include "tests/unit/host/kernel/text_file.h"

using namespace ferry;

namespace {

const std::string kTwice = "def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }";

std::string module_file(const test::Folder& folder, const std::string& target_text) {
  const CompiledModule module = compile(kTwice, target(target_text));
  return folder.file("twice.ferry", {module.bytes().begin(), module.bytes().end()});
}

}  // namespace

TEST_CASE("a module for a CPU is read with its hash, and has no kernels of cubins") {
  const test::Folder folder;
  const std::string file = module_file(folder, "aarch64");
  const InspectedModule inspected = inspect_module(file);
  CHECK(inspected.module.manifest.functions.at(0).name == "twice");
  CHECK(inspected.module.source == kTwice);
  CHECK(inspected.hash == to_hex(compile(kTwice, target("aarch64")).hash()));
  REQUIRE(inspected.kernels.size() == inspected.module.images.size());
  for (const auto& kernels : inspected.kernels) CHECK(kernels.empty());
  CHECK_FALSE(inspected.lacks_ptx());
}

TEST_CASE("a module lacks PTX if it has machine code for GPUs alone") {
  InspectedModule inspected;
  inspected.module.images = {{ImageKind::cubin, {}, 0, "sm_80"}};
  CHECK(inspected.lacks_ptx());
  inspected.module.images.push_back({ImageKind::ptx, {}, 0, "sm_80"});
  CHECK_FALSE(inspected.lacks_ptx());
}

TEST_CASE("a text, a damaged module and a file that is none are refused by name") {
  const test::Folder folder;
  const std::string text = folder.file("twice.tc", kTwice);
  CHECK_THROWS_WITH_AS(
      inspect_module(text),
      (text + ": expected a compiled module, such as 'ferry compile " + text + "' makes, got a text").c_str(),
      UsageError);
  const std::string other = folder.file("other.npy", std::string("\x93NUMPY\0\0", 8));
  CHECK_THROWS_WITH_AS(inspect_module(other), (other + ": expected a .ferry module, got another kind of file").c_str(),
                       UsageError);
  std::string damaged = read_file(module_file(folder, "aarch64"));
  damaged.resize(damaged.size() / 2);
  const std::string half = folder.file("half.ferry", damaged);
  try {
    (void)inspect_module(half);
    FAIL("half a module was accepted");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).starts_with(half + ": "));
  }
}
