#include "module/step_description.h"

#include <doctest/doctest.h>

#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

// A module whose only function has four steps and one symbol.
ModuleFile module_with(std::vector<StepDescription> steps) {
  ModuleFile module;
  module.manifest = sample_manifest();
  module.manifest.functions = {sample_layer()};
  module.descriptions = encode_step_descriptions(std::move(steps));
  return module;
}

StepDescription named(const std::string& node) { return {node, DType::f32, {}, {}, {}}; }

std::vector<StepDescription> four(const StepDescription& last = {}) { return {named("a"), named("b"), {}, last}; }

std::string refusal(const ModuleFile& module) {
  const Result<std::vector<StepDescription>> steps = step_descriptions(module);
  REQUIRE_FALSE(steps.is_ok());
  return steps.status().message();
}

TEST_CASE("descriptions of steps come back from a module's bytes") {
  const ManifestExpr n = manifest_symbol(0);
  std::vector<StepDescription> steps = four({"relu \xc3\xa9", DType::i8, {n, manifest_constant(7)}, {}, n});
  steps[1].flops = manifest_apply(ManifestOp::mul, {n, manifest_constant(3)});
  const Result<ModuleFile> back = read_module(write_module(module_with(steps)));
  REQUIRE_MESSAGE(back.is_ok(), back.status().message());
  CHECK(step_descriptions(back.value()).value() == steps);
}

TEST_CASE("modules without descriptions have none, and no section for them") {
  ModuleFile module = module_with(four());
  const std::size_t bytes = write_module(module).size();
  module.descriptions.clear();
  CHECK(step_descriptions(module).value().empty());
  CHECK(write_module(module).size() < bytes);
}

TEST_CASE("names of nodes are made printable and cut between characters") {
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xe2\x82\xac";
  const std::string fits(256, 'a');
  const std::vector<StepDescription> shown =
      step_descriptions(module_with({named("two\nlines"), named(fits), named(fits + "a"), named(wide)})).value();
  REQUIRE(shown.size() == 4);
  CHECK(shown[0].node == "two\\nlines");
  CHECK(shown[1].node == fits);
  CHECK(shown[2].node == std::string(253, 'a') + "...");
  CHECK(shown[3].node == wide.substr(0, 252) + "...");
}

TEST_CASE("descriptions of other steps than the plan's are refused") {
  CHECK(refusal(module_with({named("a")})) == "module: descriptions of steps: expected 4, got 1");
  std::vector<StepDescription> five = four();
  five.emplace_back();
  CHECK(refusal(module_with(five)) == "module: descriptions of steps: expected 4, got 5");
  ModuleFile two = module_with(four());
  two.manifest.functions.push_back(sample_mm());
  CHECK(refusal(two) == "module: descriptions of steps: expected a module of one function, got one of 2");
}

TEST_CASE("expressions that cannot be evaluated are refused") {
  const ManifestExpr beyond = manifest_symbol(99), two_results{{{ManifestOp::constant, 1}, {ManifestOp::constant, 2}}};
  for (const ManifestExpr& wrong : {beyond, two_results}) {
    CHECK_FALSE(step_descriptions(module_with(four({"a", DType::f32, {wrong}, {}, {}}))).is_ok());
    CHECK_FALSE(step_descriptions(module_with(four({"a", DType::f32, {}, wrong, {}}))).is_ok());
    CHECK_FALSE(step_descriptions(module_with(four({"a", DType::f32, {}, {}, wrong}))).is_ok());
  }
  CHECK_FALSE(step_descriptions(module_with(four({"a", DType::f32, {{}}, {}, {}}))).is_ok());
}

TEST_CASE("bytes that are no descriptions are refused, wherever they are damaged") {
  const ModuleFile module = module_with(four({"relu", DType::f32, {manifest_constant(3)}, {}, manifest_symbol(0)}));
  ModuleFile damaged = module;
  for (std::size_t length = 1; length < module.descriptions.size(); ++length) {
    damaged.descriptions.assign(module.descriptions.begin(), module.descriptions.begin() + length);
    CHECK(refusal(damaged).starts_with("module: descriptions of steps: "));
  }
  // The first name begins behind the number of steps and its own length.
  damaged = module;
  damaged.descriptions[8] = '\x1b';
  CHECK(refusal(damaged) ==
        "module: descriptions of steps: expected names in UTF-8 without control characters, got '\\x1b'");
  damaged = module;
  damaged.descriptions[3] = 0xff;
  CHECK(refusal(damaged).find("offset 0") != std::string::npos);
}

TEST_CASE("a section of descriptions is not empty, and earlier versions have none") {
  std::vector<std::uint8_t> bytes = write_module(module_with(four()));
  const auto rehash = [&] {
    const Hash hash = blake2b(std::span(bytes).first(bytes.size() - 32));
    std::copy(hash.begin(), hash.end(), bytes.end() - 32);
  };
  // The sections are manifest, source, schedule and descriptions. That of the schedule is empty.
  const std::size_t schedule = 64 + 2 * 64, descriptions = 64 + 3 * 64;
  REQUIRE(bytes[schedule] == 4);
  REQUIRE(bytes[descriptions] == 6);
  bytes[schedule] = 6;
  bytes[descriptions] = 4;
  rehash();
  CHECK(read_module(bytes).status().message() == "module: offset 64: expected descriptions of steps, got none");
  bytes[schedule] = 4;
  bytes[descriptions] = 6;
  bytes[8] = 3;
  rehash();
  CHECK(read_module(bytes).status().message() == "module: offset 256: expected a section of kind 1 to 5, got 6");
}

}  // namespace
}  // namespace ferry
