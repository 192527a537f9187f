// Shows the stages on the way from a program to machine code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "crosscompile/ir/function.h"
#include "crosscompile/passes/pipeline.h"
#include "host/compiler/api/compiler.h"

namespace ferry {

// Throws CompileError unless one of these passes has the name.
void expect_pass(const std::string& name, const std::vector<std::string>& names);

// As KernelCompiler::emit().
Emission emit_stage(Stage stage, const CompileRequest& request, const std::string& after);
// Shows loops, as lowered, or what they become: a stage from Stage::loops to Stage::assembly. `observe`, which may be
// empty, is called as by run_pipeline() where the passes run for this target.
Emission emit_functions(Stage stage, std::span<const ir::Function> lowered, const Target& target,
                        const std::string& after, const passes::AfterPass& observe = {});

}  // namespace ferry
