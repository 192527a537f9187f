// The targets that examples are compiled for, and the tools that decide what comes out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ferry/target/target.h"

namespace ferry::test {

struct PinnedTarget {
  std::string name;  // as --target takes it
  // "c" or "cuda": the text that --emit prints. Empty: a module.
  std::string emit;
  Target target;
  std::vector<std::string> tools;  // names in tool_versions()

  std::string options() const { return "--target '" + name + "'" + (emit.empty() ? "" : " --emit " + emit); }
};

// Every target of "ferry targets" but the host, and of CUDA one for each kind of GPU that code differs for. NVRTC and
// libdevice are those of build/venv unless the environment names others.
std::vector<PinnedTarget> pinned_targets();

// Returns the versions of the tools on this machine: "LLVM" -> "19.1.7".
std::map<std::string, std::string> tool_versions();

}  // namespace ferry::test
