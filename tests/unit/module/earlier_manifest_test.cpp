// Files of earlier versions of the format, kept in tests/golden/modules, get plans when they are read.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "module/init_plan.h"
#include "module/module_file.h"

namespace ferry {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes golden(const std::string& name) {
  std::ifstream file("tests/golden/modules/" + name, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

void rehash(Bytes& bytes) {
  const std::size_t hashed = bytes.size() - sizeof(Hash);
  const Hash hash = blake2b(std::span(bytes).first(hashed));
  std::copy(hash.begin(), hash.end(), bytes.begin() + static_cast<std::ptrdiff_t>(hashed));
}

ModuleFile read(const Bytes& bytes) {
  Result<ModuleFile> module = read_module(bytes);
  REQUIRE_MESSAGE(module.is_ok(), module.status().message());
  // The same module can be written in the latest version.
  const Result<ModuleFile> again = read_module(write_module(module.value()));
  REQUIRE_MESSAGE(again.is_ok(), again.status().message());
  CHECK(again.value().manifest == module.value().manifest);
  return std::move(module.value());
}

TEST_CASE("a function for a CPU of version 1 becomes one call") {
  const ModuleFile module = read(golden("1/x86_64.ferry"));
  REQUIRE(module.manifest.devices.size() == 1);
  CHECK(module.manifest.devices[0].kind == "cpu");
  CHECK(module.manifest.devices[0].arch == "x86_64");
  REQUIRE(module.manifest.functions.size() == 1);
  const FunctionInfo& softmax = module.manifest.functions[0];
  REQUIRE(softmax.plan.steps.size() == 1);
  CHECK(step_text(softmax, softmax.plan.steps[0]) == "call ferry_fn_softmax(A, s, Y, N, M) with workspace 0");
}

TEST_CASE("launches of version 3 become a plan that reads their result") {
  const Bytes bytes = golden("3/opencl.ferry");
  const ModuleFile module = read(bytes);
  REQUIRE(module.manifest.devices.size() == 1);
  CHECK(module.manifest.devices[0] == ModuleDevice{"opencl", "", {}});
  const FunctionInfo& pick = module.manifest.functions.at(0);
  CHECK(pick.messages.size() == 1);
  REQUIRE(pick.plan.steps.size() == 3);
  CHECK(step_text(pick, pick.plan.steps[0]) == "launch ferry_fn_pick[1, 1, 1][256, 1, 1](I, workspace 0 + 256, M, N)");
  CHECK(step_text(pick, pick.plan.steps[2]) ==
        "launch ferry_fn_pick_2[(M + 1023) / 1024, 1, 1][256, 1, 1](workspace 0 + 0, Y, A, I, M, s)");
  CHECK_FALSE(std::get<LaunchStep>(pick.plan.steps[1]).result.is_given());
  CHECK(std::get<LaunchStep>(pick.plan.steps[2]).result == WorkspacePlace{0, kNoValue});
}

TEST_CASE("launches of version 2 report no result, and version 1 has none") {
  Bytes bytes = golden("3/opencl.ferry");
  bytes[8] = 2;
  rehash(bytes);
  const FunctionInfo pick = read(bytes).manifest.functions.at(0);
  CHECK(pick.messages.empty());
  CHECK_FALSE(std::get<LaunchStep>(pick.plan.steps.back()).result.is_given());
  bytes[8] = 1;
  rehash(bytes);
  CHECK(read_module(bytes).status().message().find("expected a section of kind 1 to 4, got 5") != std::string::npos);
}

TEST_CASE("functions that computed others' last parameters become init plans") {
  for (const char* name : {"1/packed_x86_64.ferry", "3/packed_opencl.ferry"}) {
    CAPTURE(name);
    ModuleFile module = read(golden(name));
    REQUIRE(module.manifest.functions.size() == 4);
    const Result<bool> attached = attach_earlier_init_plans(module.manifest);
    REQUIRE_MESSAGE(attached.is_ok(), attached.status().message());
    CHECK(attached.value());
    REQUIRE(module.manifest.functions.size() == 2);
    const FunctionInfo& mm = module.manifest.functions[0];
    const FunctionInfo& gather = module.manifest.functions[1];
    CHECK(signature_text(mm) == "mm(in f32[M,K] A, in f32[K,N] B, out f32[M,N] C)");
    CHECK(signature_text(gather) == "gather(in i32[N] K, in i32[M] I, in i32[M] X, out i32[M] Y)");
    CHECK(mm.parameters[1].is_constant);
    CHECK(gather.parameters[0].is_constant);
    CHECK_FALSE(gather.parameters[2].is_constant);
    CHECK(mm.persistent.size() == 1);
    CHECK(mm.init.steps.size() == 1);
    CHECK(gather.messages.size() == 1);
    FunctionInfo init = mm;
    init.plan = mm.init;
    CHECK(value_text(init, mm.persistent[0].bytes) == "4 * ((max(N, 0) + 15) / 16) * max(K, 0) * 16");
    CHECK_FALSE(attach_earlier_init_plans(module.manifest).value());
  }
}

TEST_CASE("every damaged byte of an earlier file with a recomputed hash is refused or gives a plan that can be used") {
  for (const char* name : {"1/riscv64.ferry", "1/packed_x86_64.ferry", "3/opencl.ferry", "3/packed_opencl.ferry"}) {
    const Bytes bytes = golden(name);
    // The table of sections, the manifest and the launches; code and texts may be anything.
    for (std::size_t i = 8; i < bytes.size() - sizeof(Hash); ++i) {
      Bytes changed = bytes;
      changed[i] ^= 0x41;
      rehash(changed);
      const Result<ModuleFile> module = read_module(changed);
      if (!module.is_ok()) continue;
      CHECK(check_manifest(module.value().manifest).is_ok());
      Manifest manifest = module.value().manifest;
      if (attach_earlier_init_plans(manifest).is_ok()) CHECK(check_manifest(manifest).is_ok());
    }
  }
}

}  // namespace
}  // namespace ferry
