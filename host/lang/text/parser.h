// Parses the grammar of docs/language.md.
#pragma once

#include "host/lang/text/source.h"
#include "host/lang/text/syntax.h"

#include <vector>

namespace ferry::lang {

inline constexpr std::size_t kMaxText = 1 << 20;  // bytes

std::vector<DefSyntax> parse_syntax(const Source& source);

}  // namespace ferry::lang
