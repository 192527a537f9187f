// What each step of a network's plan computes: the nodes, the shape of the result, and the work, for people; and which
// outputs have sizes that depend on data (module/counted_output.h). Servers do not read them.
#pragma once

#include "base/status.h"
#include "module/counted_output.h"
#include "module/module_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry {

// The expressions are over the function's symbols. Those without code are unknown.
struct StepDescription {
  std::string node;  // printable
  DType dtype = DType::f32;
  std::vector<ManifestExpr> shape;  // the result's
  ManifestExpr flops;               // operations, as in FunctionInfo
  ManifestExpr bytes;               // read and written, each tensor counted once
  bool operator==(const StepDescription&) const = default;
};

// Returns the contents of ModuleFile::descriptions. Names are made printable, and those above kMaxNameBytes end in
// "...".
std::vector<std::uint8_t> encode_step_descriptions(std::vector<StepDescription> steps,
                                                   const std::vector<CountedOutput>& counted = {});
// Returns a description for each step of the plan of the module's only function; none if the module has none. Fails
// with invalid_argument unless they are as MODULE.md says.
Result<std::vector<StepDescription>> step_descriptions(const ModuleFile& module);

// Both parts of the section.
struct StepDescriptions {
  std::vector<StepDescription> steps;
  std::vector<CountedOutput> counted;
};
Result<StepDescriptions> read_descriptions(const ModuleFile& module);

}  // namespace ferry
