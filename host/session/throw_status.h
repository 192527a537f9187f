// Converts the wire's Status to exceptions.
#pragma once

#include <utility>

#include "base/status.h"
#include "host/session/ferry.h"

namespace ferry::session {

inline void check(const Status& status) {
  if (!status.is_ok()) throw Error(status.code(), status.message());
}

// Returns the value, or throws its failure.
template <class T>
T take(Result<T> result) {
  check(result.status());
  return std::move(result.value());
}

}  // namespace ferry::session
