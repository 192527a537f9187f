// Why a request or a lease ended, and whose matter that is.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::farm {

enum class FailureClass : std::uint8_t { infrastructure, user, timeout, thermal };

// The values are stored and are never reused.
#define FERRY_END_REASONS(X)                                                                        \
  X(1, released, user)                      /* by its holder */                                     \
  X(2, cancelled, user)                     /* by its holder, while it waited */                    \
  X(3, client_gone, user)                   /* the connection that it is attached to has ended */   \
  X(4, client_silent, timeout)              /* nothing was heard on that connection */              \
  X(5, not_attached_again, timeout)         /* after the tracker's restart */                       \
  X(6, lease_expired, timeout)              /* the lease has lasted for as long as it may */        \
  X(7, wait_expired, timeout)               /* no board became available in time */                 \
  X(8, too_hot, thermal)                    /* as before, but a board had only to cool */           \
  X(9, invalid, user)                       /* outside of the limits */                             \
  X(10, unservable, user)                   /* no board of the farm could ever serve it */          \
  X(11, no_longer_servable, infrastructure) /* the boards that could serve it have left the pool */ \
  X(12, board_lost_lease, infrastructure)   /* the board's server has restarted */                  \
  X(13, unknown_lease, infrastructure)      /* the tracker's data is from before the lease */       \
  X(14, revoked, infrastructure)            /* by an admin */                                       \
  X(15, queue_full, infrastructure)         /* too many requests wait */

enum class EndReason : std::uint8_t {
#define FERRY_ENUM(value, name, failure_class) name = value,
  FERRY_END_REASONS(FERRY_ENUM)
#undef FERRY_ENUM
};

const char* end_reason_name(EndReason reason);
const char* failure_class_name(FailureClass failure_class);
FailureClass class_of(EndReason reason);

}  // namespace ferry::farm
