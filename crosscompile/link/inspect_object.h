// What an object that somebody else made defines and needs, before it is linked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

struct ObjectFacts {
  std::string arch;                    // as Target::arch; "unknown ..." for others
  bool is_shared = false;              // a shared object
  bool has_hash = false;               // with DT_HASH, by which devices find symbols
  std::vector<std::string> functions;  // that it defines for others
  std::vector<std::string> refused;    // what no device loads, by name: "thread-local storage (.tbss)"
};

// CompileError when the bytes are no ELF file; `name` is what messages call it.
ObjectFacts inspect_object(std::span<const std::uint8_t> bytes, const std::string& name);

// What a section of this name holds; nothing when there is none, or the bytes are no relocatable ELF file.
std::vector<std::uint8_t> section_of(std::span<const std::uint8_t> bytes, const std::string& section);

}  // namespace ferry::link
