// Inspects what an object from another compiler defines and needs, before it is linked.
#pragma once

#include "ferry/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

struct ObjectFacts {
  bool is_shared = false;              // a shared object
  bool has_hash = false;               // has DT_HASH, through which devices find symbols
  std::vector<std::string> functions;  // exported functions
  std::vector<std::string> undefined;  // what it uses from elsewhere
  std::vector<std::string> refused;    // contents that no device loads, by name: "thread-local storage (.tbss)"
};

// Throws CompileError when the bytes are not an ELF file for the target's architecture; `name` is what messages call
// it.
ObjectFacts inspect_object(std::span<const std::uint8_t> bytes, const std::string& name, const Target& target);

// Returns the contents of the section; nothing when it does not exist or the bytes are not a relocatable ELF file.
std::vector<std::uint8_t> section_of(std::span<const std::uint8_t> bytes, const std::string& section);

}  // namespace ferry::link
