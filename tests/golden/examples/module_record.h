// Records of modules, by which two compilers are compared: of every example on every target how large the .ferry file
// is and what its bytes hash to, the file's and those of its parts.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tests/golden/examples/example_cases.h"
#include "tests/golden/examples/pinned_targets.h"

namespace ferry::test {

// Names a kernel and its target, both as the command line takes them.
struct ModuleKey {
  std::string command, target;
  auto operator<=>(const ModuleKey&) const = default;
};
ModuleKey key_of(const ExampleCase& example, const PinnedTarget& target);

struct ModuleRecords {
  std::map<std::string, std::string> tools;  // tools and their versions
  // "7136 bytes 1f2e3d4c5b6a manifest 0a1b2c3d schedule 4e5f6071 elf 8293a4b5", or "refused: " and why.
  std::map<ModuleKey, std::string> modules;
};
ModuleRecords read_records(const std::string& path);
void write_records(const std::string& path, const ModuleRecords& records);

// The bytes that the command line would write, but without the example's source, whose comments decide nothing; of a
// program that calls a micro-kernel in C the object, as that kernel's code is another compiler's. Throws.
std::vector<std::uint8_t> compiled_bytes(const ExampleCase& example, const PinnedTarget& target);
// Returns the record of such bytes.
std::string record_of(std::span<const std::uint8_t> bytes, const PinnedTarget& target);
// Returns the record of compiled_bytes(), or of the error that it threw.
std::string compile_record(const ExampleCase& example, const PinnedTarget& target);

// For people: what differs between two records of a module, and how to see it.
std::string explain_difference(const ExampleCase& example, const PinnedTarget& target, const std::string& expected,
                               const std::string& got);

}  // namespace ferry::test
