// The program that computes a node, in the language of kernels.
#pragma once

#include "ferry/lang/program.h"
#include "host/graph/kernels/kernel_key.h"

#include <string>

namespace ferry::graph {

// Its parameters are the inputs that are given, called x0, x1, ..., the output y, and then as scalars the symbols that
// are no dimension of an input. Throws CompileError where host/ops refuses.
lang::Program node_program(const KernelKey& key, const std::string& name);

}  // namespace ferry::graph
