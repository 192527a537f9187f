// Shows the stages on the way from a program to machine code.
#pragma once

#include <string>

#include "host/compiler/api/compiler.h"

namespace ferry {

// As Compiler::emit().
Emission emit_stage(Stage stage, const CompileRequest& request, const std::string& after);

}  // namespace ferry
