// The messages of errors in terms of the command line.
#pragma once

#include <exception>
#include <string>

namespace ferry::cli {

// Returns the error's message, with the name of the option if it is about one: "--size Q=1: mm has no size 'Q'".
std::string error_message(const std::exception& error);

}  // namespace ferry::cli
