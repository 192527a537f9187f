// The program that computes a group of nodes, in the language of kernels.
#pragma once

#include "ferry/lang/program.h"
#include "host/graph/kernels/kernel_key.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::graph {

// Its parameters are the inputs, called x0, x1, ..., the output y, and then as scalars the symbols that are no
// dimension of an input. An input that the result replaces is no parameter of its own: the output is an inout. All
// elementwise nodes are one stage. Throws CompileError where host/ops refuses, and InternalError where the program
// computes elements of another type than the plan stores.
// `sizes` are empty, or the values of n0, n1, ..., which are then numbers of the program.
lang::Program group_program(const KernelKey& key, const std::string& name, const std::vector<std::int64_t>& sizes = {});

// Whether the program would have the same expressions for the sizes of its result as for those of this input, which is
// one of GroupKernel::updatable. Both are the same numbers in any case.
bool has_shape_of(const KernelKey& key, std::size_t input);

}  // namespace ferry::graph
