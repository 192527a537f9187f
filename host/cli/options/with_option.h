// Names the option that a service's error is about.
#pragma once

#include <string>

#include "ferry/error.h"

namespace ferry::cli {

// Returns the result of `work`. A UsageError that it throws gets the option in front: "--sweep N=8..2: expected ...".
template <class Work>
auto with_option(const std::string& option, const Work& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(option + " " + error.what());
  }
}

}  // namespace ferry::cli
