// Inputs that show more than random ones of one magnitude do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/types.h"
#include "host/kernel/call_plan.h"
#include "host/stats/random.h"

namespace ferry::verify {

// Whether nobody has described the contents of this input, so that a kernel must take any.
bool is_free_input(const FunctionInfo& info, const CallPlan& plan, std::size_t parameter);

// Replaces the contents of an input.
void set_contents(CallPlan& plan, std::size_t parameter, std::vector<std::uint8_t> bytes);

// The elements of a float type, so many of all that `share` says, the others are 0: odd integers of as many bits as the
// type has, at most 12 (26 for float64), of either sign; and 1 and -1.
int bits_of_integers(DType dtype);
std::vector<std::uint8_t> draw_integers(DType dtype, std::uint64_t count, double share, std::uint64_t seed);
std::vector<std::uint8_t> draw_signs(DType dtype, std::uint64_t count, double share, std::uint64_t seed);

// Inputs with which kernels fail that are right for usual numbers.
enum class AdversarialSet : std::uint8_t {
  large,       // magnitudes at which exponentials overflow, and sums do not
  huge,        // magnitudes whose squares and sums overflow; for integers the ends of the type's range
  offset,      // numbers that differ little beside their size
  mixed,       // magnitudes of many scales
  subnormal,   // subnormal numbers among others
  equal,       // all elements the same
  equal_rows,  // rows, along the last dimension, that are the same
  one_hot,     // a single 1 in each row, 0 elsewhere
  not_finite,  // NaN and infinities among -1, 0 and 1
};
inline constexpr AdversarialSet kAdversarialSets[] = {
    AdversarialSet::large,      AdversarialSet::huge,      AdversarialSet::offset,
    AdversarialSet::mixed,      AdversarialSet::subnormal, AdversarialSet::equal,
    AdversarialSet::equal_rows, AdversarialSet::one_hot,   AdversarialSet::not_finite};
// Returns "subnormal numbers", "equal rows".
std::string to_text(AdversarialSet set);

// Draws a free input of a float type; or of an integer type, of which a set without integers leaves the result empty.
std::vector<std::uint8_t> draw_adversarial(AdversarialSet set, const CallPlan& plan, std::size_t parameter,
                                           std::uint64_t seed);

// Returns the call with such contents of all free inputs; nothing if it has none that the set changes.
std::optional<CallPlan> adversarial_call(const FunctionInfo& info, const CallPlan& plan, AdversarialSet set,
                                         stats::Random& random);

}  // namespace ferry::verify
