// The tensors that a request wants of a call: written to files, or compared with files. Those of a network may be any
// that its nodes compute; the ones that are no outputs become outputs for this call, wherever its kernels would
// otherwise keep them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/run/run_once.h"

namespace ferry {

struct WantedTensor {
  std::string file;      // to write it to; empty: none
  std::string expected;  // the file with what it should be; empty: none
};

struct WantedTensors {
  std::map<std::string, WantedTensor> tensors;  // by name: of a network the model's name, otherwise the parameter's
  std::vector<std::string> inner;               // those of a network that are no outputs of it, in its order
  std::map<std::string, std::string> inputs;    // files for inputs, by name
};

// Returns a file name for each tensor: its name with '_' in place of characters that are not in all file systems alike,
// ".npy", and "_2" in between where an earlier tensor would have the same.
std::map<std::string, std::string> tensor_file_names(const std::vector<std::string>& tensors);

// Finds what the request wants. A node's name stands for its first output. Creates the folder of a dump. Throws
// OptionError (output, expected, dump) for what the kernel does not compute, and for files that cannot be read.
WantedTensors wanted_tensors(const RunRequest& request);

// Returns the name by which WantedTensors knows each parameter of the function that a kernel was compiled to.
std::vector<std::string> names_of_parameters(const KernelSource& source, const FunctionInfo& function);

}  // namespace ferry
