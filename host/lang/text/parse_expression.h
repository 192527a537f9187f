// Parses expressions, with the operator precedence of C.
#pragma once

#include "host/lang/text/syntax.h"
#include "host/lang/text/token_reader.h"

namespace ferry::lang {

Syntax parse_expression(TokenReader& tokens);

}  // namespace ferry::lang
