// Exports a kernel or a network that a user named to the files that a C program links.
#pragma once

#include <string>
#include <vector>

#include "host/kernel/kernel.h"

namespace ferry {

struct ExportOptions {
  std::string function = {};            // empty: the only one
  std::vector<std::string> sizes = {};  // "M=512,N=512", to choose default schedules by, and of the call in the example
  std::string name = {};                // names the files and the C functions; empty: the function's name
  ExportForm form = ExportForm::object;
  bool weights_file = false;  // weights in a file of their own
};

// Throws OptionError for a target that is no CPU and for sizes that the kernel has not, UsageError for a kernel that
// was compiled already or by another compiler, and CompileError. The init plan of a network runs on this machine, for
// which a server is started: throws Error where that fails.
std::vector<ExportedFile> export_kernel(const KernelSource& source, const Target& target, const ExportOptions& options,
                                        const Observer& observer = {});

// Writes the files into a folder, which is made if there is none. Throws UsageError that says what cannot be written.
void write_files(const std::string& folder, const std::vector<ExportedFile>& files);

}  // namespace ferry
