// Says why a request waits that no lease keeps waiting: the boards that could serve it are away, or are being checked.
#pragma once

#include <string>

#include "farm/core/lease/state.h"

namespace ferry::farm {

// "both boards that fit are not connected (emu-1 since 14:36:15 UTC, emu-2)". Empty where some board that fits is in
// use or about to be.
std::string wait_reason(const State& state, const Entry& entry);

}  // namespace ferry::farm
