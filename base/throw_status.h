// Converts failures that are values to exceptions.
#pragma once

#include <utility>

#include "base/status.h"
#include "ferry/error.h"

namespace ferry {

inline void throw_failure(const Status& status) {
  if (!status.is_ok()) throw Error(status.code(), status.message());
}

// Returns the value, or throws its failure.
template <class T>
T value_or_throw(Result<T> result) {
  throw_failure(result.status());
  return std::move(result.value());
}

}  // namespace ferry
