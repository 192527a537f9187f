#include "module/step_nodes.h"

#include <doctest/doctest.h>

#include "tests/unit/module/sample_manifest.h"

namespace ferry {
namespace {

// A module whose only function has four steps.
ModuleFile module_with(const std::string& nodes) {
  ModuleFile module;
  module.manifest = sample_manifest();
  module.manifest.functions = {sample_layer()};
  module.nodes = nodes;
  return module;
}

std::string refusal(const ModuleFile& module) {
  const Result<std::vector<std::string>> nodes = step_nodes(module);
  REQUIRE_FALSE(nodes.is_ok());
  return nodes.status().message();
}

TEST_CASE("names of nodes come back from a module's bytes") {
  const std::vector<std::string> names = {"/conv1/Conv", "", "relu \xc3\xa9", "copy to y"};
  const ModuleFile module = module_with(step_nodes_text(names));
  const Result<ModuleFile> back = read_module(write_module(module));
  REQUIRE_MESSAGE(back.is_ok(), back.status().message());
  CHECK(step_nodes(back.value()).value() == names);
}

TEST_CASE("modules without names have none, and no section for them") {
  const ModuleFile module = module_with("");
  CHECK(step_nodes(module).value().empty());
  CHECK(write_module(module).size() + 128 == write_module(module_with("a\n\n\n\n")).size());
}

TEST_CASE("names are made printable and cut between characters") {
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "\xe2\x82\xac";
  const std::vector<std::string> names = {"two\nlines", std::string(256, 'a'), std::string(257, 'a'), wide};
  const std::vector<std::string> shown = step_nodes(module_with(step_nodes_text(names))).value();
  REQUIRE(shown.size() == 4);
  CHECK(shown[0] == "two\\nlines");
  CHECK(shown[1] == names[1]);
  CHECK(shown[2] == std::string(253, 'a') + "...");
  CHECK(shown[3] == wide.substr(0, 252) + "...");
}

TEST_CASE("a text that does not name each step is refused") {
  CHECK(refusal(module_with("a\nb\nc\n")) == "module: names of nodes: expected 4, got 3");
  CHECK(refusal(module_with("a\nb\nc\nd\ne\n")) == "module: names of nodes: expected 4, got more");
  CHECK(refusal(module_with("a\nb\nc\nd")) == "module: names of nodes: expected a line feed at the end");
  CHECK(refusal(module_with("a\nb\nc\n\x1b[2J\n")) ==
        "module: names of nodes: expected UTF-8 without control characters, got '\\x1b[2J'");
  CHECK(refusal(module_with(std::string(257, 'a') + "\nb\nc\nd\n")) ==
        "module: names of nodes: expected up to 256 bytes of each, got 257");
  ModuleFile two = module_with("a\nb\nc\nd\n");
  two.manifest.functions.push_back(sample_mm());
  CHECK(refusal(two) == "module: names of nodes: expected a module of one function, got one of 2");
}

TEST_CASE("a section of names is not empty, and earlier versions have none") {
  std::vector<std::uint8_t> bytes = write_module(module_with("a\n\n\n\n"));
  const auto rehash = [&] {
    const Hash hash = blake2b(std::span(bytes).first(bytes.size() - 32));
    std::copy(hash.begin(), hash.end(), bytes.end() - 32);
  };
  // The sections are manifest, source, schedule and names. That of the schedule is empty.
  const std::size_t schedule = 64 + 2 * 64, names = 64 + 3 * 64;
  REQUIRE(bytes[schedule] == 4);
  REQUIRE(bytes[names] == 6);
  bytes[schedule] = 6;
  bytes[names] = 4;
  rehash();
  CHECK(read_module(bytes).status().message() == "module: offset 64: expected names of nodes, got none");
  bytes[schedule] = 4;
  bytes[names] = 6;
  bytes[8] = 3;
  rehash();
  CHECK(read_module(bytes).status().message() == "module: offset 256: expected a section of kind 1 to 5, got 6");
}

}  // namespace
}  // namespace ferry
