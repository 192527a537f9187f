// The text notation (Tensor Comprehensions). docs/language.md describes it for users.
#pragma once

#include "ferry/lang/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::lang {

// Values for names in shapes, for a program that is specialised to these sizes.
using FixedSizes = std::map<std::string, std::int64_t, std::less<>>;

// Parses every def of the text. Messages refer to it as `file`. A CompileError reads
//   mm.tc:3:24: expected ')' before '->'
//     def mm(float(M,K) A -> (C) {
//                         ^
// With `lines`, programs carry their source locations, and code compiled from them has debug information. Throws
// CompileError for a fixed size that no def has.
std::vector<Program> parse(std::string_view text, std::string_view file, bool lines = false,
                           const FixedSizes& fixed = {});

}  // namespace ferry::lang
