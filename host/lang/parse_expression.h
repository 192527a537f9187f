// Parses expressions, with the operator precedence of C.
#pragma once

#include "host/lang/syntax.h"
#include "host/lang/token_reader.h"

namespace ferry::lang {

Syntax parse_expression(TokenReader& tokens);

}  // namespace ferry::lang
