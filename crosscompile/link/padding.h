// Bytes before a module's code and data, with which they can be placed at other addresses.
#pragma once

#include "crosscompile/target/code_form.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ferry::link {

// Throws CompileError unless the numbers are multiples of their steps and below kMaxLayoutBytes.
void check_layout(const CodeLayout& layout);

// Returns an object that has this effect if it is linked before the others; nothing if there is nothing to move. Takes
// the class, machine and flags of the first object.
std::optional<std::vector<std::uint8_t>> padding_object(const CodeLayout& layout,
                                                        const std::vector<std::span<const std::uint8_t>>& objects);

}  // namespace ferry::link
