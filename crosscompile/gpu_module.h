// What a module holds for a GPU: plans instead of code of its own, and images that the device's driver takes.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"
#include "rpc/abi/module_file.h"

#include <span>
#include <vector>

namespace ferry {

// Of a function that went through all passes.
Plan plan_of(const ir::Function& function, const Target& target);

// Of all functions together: OpenCL C as text, or a cubin for each architecture that the target names.
std::vector<CodeImage> gpu_images(std::span<const ir::Function> functions, const Target& target);

}  // namespace ferry
