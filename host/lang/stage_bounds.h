// Shows that the elements which a stage made in C++ reads exist, as the text notation does for its statements.
#pragma once

#include "host/lang/gather.h"
#include "host/lang/stage.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::lang {

// Who shows that a stage reads no elements that do not exist.
enum class IndexChecks : std::uint8_t {
  stage,   // the stage: by requirements on sizes, and by checks when the kernel runs
  sizes,   // the stage, by requirements on sizes; indices whose bounds these cannot express are right
  caller,  // whoever makes it
};

struct StageBounds {
  std::vector<ir::Requirement> requirements;
  std::vector<UncheckedIndex> unchecked;
};

// Throws CompileError for a read that is certainly not always in bounds. Data-dependent indices are left to
// gather_checks(). `sequence` may be null.
StageBounds bounds_of_reads(const std::vector<ir::Axis>& axes, const std::vector<Expr>& values, const std::string& name,
                            const Sequence* sequence);

}  // namespace ferry::lang
