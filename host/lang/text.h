// The text notation (Tensor Comprehensions). docs/language.md describes it for users.
#pragma once

#include "host/lang/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ferry::lang {

// What names in shapes are to stand for, where a program is for these sizes alone.
using FixedSizes = std::map<std::string, std::int64_t, std::less<>>;

// Every def of the text. `file` is what messages call it. CompileError reads
//   mm.tc:3:24: expected ')' before '->'
//     def mm(float(M,K) A -> (C) {
//                         ^
// With `lines`, they know where they were written, and what is compiled of them has debug information. CompileError for
// a fixed size that no def has.
std::vector<Program> parse(std::string_view text, std::string_view file, bool lines = false,
                           const FixedSizes& fixed = {});

}  // namespace ferry::lang
