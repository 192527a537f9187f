// Relocatable objects and archives for linking into other programs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

// Links objects into one, with those members of a static library that they need. References between them are resolved;
// what none defines stays undefined. Throws as run_lld().
std::vector<std::uint8_t> link_relocatable(std::span<const std::vector<std::uint8_t>> objects,
                                           std::span<const std::uint8_t> library = {});

// Returns the object with all symbols that it defines local except `exports`, and without debug information.
std::vector<std::uint8_t> keep_global(std::span<const std::uint8_t> object, std::span<const std::string> exports);

struct ArchiveMember {
  std::string name;
  std::vector<std::uint8_t> object;
};

// Returns a static library with a table of symbols. The same members give the same bytes.
std::vector<std::uint8_t> archive(std::span<const ArchiveMember> members);

}  // namespace ferry::link
