// The inputs of a planned call: their contents, and what to say of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/kernel/call_plan.h"

namespace ferry {

// Draws all places of the input from the content's distribution, those between strided elements included. Throws
// UsageError for a distribution that the type has no values for.
std::vector<std::uint8_t> drawn_bytes(const FunctionInfo& function, const CallPlan& plan, std::size_t parameter,
                                      const InputContent& content);

// Returns other contents of a random input, of the same distribution.
InputContent other_content(const FunctionInfo& function, const CallPlan& plan, std::size_t parameter);

// Returns "x: i16 from -32768 to 32767" for each input: what its elements are.
std::vector<std::string> input_texts(const FunctionInfo& function, const CallPlan& plan);

}  // namespace ferry
