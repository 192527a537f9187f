// Between the wire's Status and the host's exceptions.
#pragma once

#include <utility>

#include "host/session/ferry.h"
#include "rpc/base/status.h"

namespace ferry::session {

inline void check(const Status& status) {
  if (!status.is_ok()) throw RemoteError(status.code(), status.message());
}

// The value, or its failure thrown.
template <class T>
T take(Result<T> result) {
  check(result.status());
  return std::move(result.value());
}

}  // namespace ferry::session
