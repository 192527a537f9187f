// Semantic analysis: turns the syntax of a def into the Program that it means.
#pragma once

#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "host/lang/text/source.h"
#include "host/lang/text/syntax.h"

namespace ferry::lang {

// Sizes in `fixed` are replaced by their numbers wherever they are named.
Program analyze(const Source& source, const DefSyntax& def, const FixedSizes& fixed = {});

}  // namespace ferry::lang
