// Reads a compiled module from a file, for display.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "module/cubin.h"
#include "module/module_file.h"
#include "module/step_description.h"

namespace ferry {

struct InspectedModule {
  ModuleFile module;
  std::size_t bytes = 0;  // without its blobs
  std::string hash;
  bool contains_blobs = false;
  std::vector<StepDescription> steps;  // those of a network's only function; none: the file does not say
  // For each image the report of NVIDIA's assembler on its kernels; empty for images that are no cubins.
  std::vector<std::vector<CubinKernel>> kernels;

  // Whether there are cubins and no PTX, without which it cannot run on GPUs that no cubin is for.
  bool lacks_ptx() const;
};

// Throws UsageError that names the file and says what is wrong with it.
InspectedModule inspect_module(const std::string& file);

}  // namespace ferry
