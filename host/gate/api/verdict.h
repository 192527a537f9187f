// The gate's verdict about a case on a board.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::gate {

enum class Verdict : std::uint8_t {
  unchanged,       // source and compiler, or the code, equal the baseline's: not measured
  first,           // there was no baseline: stored, not compared
  no_change,       // the interval lies within the tolerance
  faster,          // the interval lies below it
  slower,          // the interval lies above it
  cannot_tell,     // the budget is spent and the interval crosses the tolerance, or the pairs are correlated
  wrong,           // the results differ from the baseline's, or the kernel fails where it runs
  over_limit,      // the current side exceeds an absolute limit
  failed,          // the case cannot be compiled or called as the suite says: the user's mistake
  infrastructure,  // no board could measure it: nobody's mistake
  interrupted,     // the run ended before the case did
};

// "no change", "cannot tell", ...: for people.
std::string to_text(Verdict verdict);
// "no_change", "cannot_tell", ...: for JSON.
const char* name_of(Verdict verdict);

}  // namespace ferry::gate
