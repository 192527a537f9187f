#include "farm/tracker/takeover.h"

#include <sys/resource.h>

#include <algorithm>

#include "farm/core/lease/check_snapshot.h"

namespace ferry::farm {

Result<Takeover> take_over(Store& store) {
  Takeover takeover;
  FERRY_ASSIGN(takeover.term, store.take_term());
  FERRY_ASSIGN(takeover.snapshot, store.load());
  FERRY_TRY(check_snapshot(takeover.snapshot));
  FERRY_ASSIGN(takeover.credentials, store.credentials());
  FERRY_ASSIGN(takeover.health, store.health_states());
  FERRY_ASSIGN(takeover.now, store.now());
  return takeover;
}

std::size_t allow_connections(std::size_t wanted, std::size_t handshakes) {
  constexpr rlim_t kOthers = 3072;  // the HTTP server, relays, and connections that wait for theirs
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + handshakes + kOthers;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min<rlim_t>(needed, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
  }
  const rlim_t others = std::min<rlim_t>(handshakes + kOthers, limit.rlim_cur / 2);
  return std::min<std::size_t>(wanted, limit.rlim_cur - others);
}

}  // namespace ferry::farm
