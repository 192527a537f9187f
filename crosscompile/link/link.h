// Links objects into the position-independent shared object that devices load, with lld in this process.
#pragma once

#include "crosscompile/target/code_form.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

// Links the objects in their order. Keeps only `exports` visible, and moves code and data as `layout` says. Throws
// InternalError with lld's own message, or CompileError when user objects are among the inputs. Safe to call from
// several threads (one links at a time).
std::vector<std::uint8_t> link_shared(std::span<const std::vector<std::uint8_t>> objects, const Target& target,
                                      std::span<const std::string> exports,
                                      std::span<const std::vector<std::uint8_t>> user_objects = {},
                                      const CodeLayout& layout = {});
std::vector<std::uint8_t> link_shared(std::span<const std::uint8_t> object, const Target& target,
                                      std::span<const std::string> exports,
                                      std::span<const std::vector<std::uint8_t>> user_objects = {});

// Returns the symbols that a linked object imports from the process that loads it.
std::vector<std::string> imports_of(std::span<const std::uint8_t> linked);

}  // namespace ferry::link
