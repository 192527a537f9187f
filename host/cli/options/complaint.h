// Tells a user about an error, in terms of the command line.
#pragma once

#include <string>

#include "ferry/error.h"

namespace ferry::cli {

// Returns the error's message, with the name of the option if it is about one: "--size Q=1: mm has no size 'Q'".
std::string complaint(const Error& error);

}  // namespace ferry::cli
