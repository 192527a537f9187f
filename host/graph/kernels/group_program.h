// The program that computes a group of nodes, in the language of kernels.
#pragma once

#include "ferry/lang/program.h"
#include "host/graph/kernels/kernel_key.h"

#include <string>

namespace ferry::graph {

// Its parameters are the inputs, called x0, x1, ..., the output y, and then as scalars the symbols that are no
// dimension of an input. All elementwise nodes are one stage. Throws CompileError where host/ops refuses.
lang::Program group_program(const KernelKey& key, const std::string& name);

}  // namespace ferry::graph
