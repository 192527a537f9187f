// From the syntax of a def to the program it means.
#pragma once

#include "host/lang/program.h"
#include "host/lang/source.h"
#include "host/lang/syntax.h"

namespace ferry::lang {

Program analyze(const Source& source, const DefSyntax& def);

}  // namespace ferry::lang
