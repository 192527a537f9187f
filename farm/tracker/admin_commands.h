// Commands that change which boards belong to the farm, who may use it, and which leases go on. Most are for admins
// alone.
#pragma once

#include <functional>

#include "farm/tracker/answer.h"
#include "farm/tracker/audit_log.h"
#include "farm/tracker/credential_service.h"

namespace ferry::farm {

class AdminCommands {
 public:
  // All must outlive this object. on_change() is called when what listings show changes.
  AdminCommands(const ActiveScheduler& scheduler, BoardRegistry& boards, CredentialService& credentials,
                AuditLog& audit, Database& database, std::function<void()> on_change)
      : scheduler_(scheduler),
        boards_(boards),
        credentials_(credentials),
        audit_(audit),
        database_(database),
        on_change_(std::move(on_change)) {}
  AdminCommands(const AdminCommands&) = delete;
  AdminCommands& operator=(const AdminCommands&) = delete;

  // Require that the tracker schedules. Say no to roles that may not ask this.
#define FERRY_ANSWER(tag, request, reply, name, directions) \
  void answer(const Caller& caller, const wire::request& query, const Answer<wire::reply>& then);
  FERRY_FARM_COMMANDS(FERRY_ANSWER)
#undef FERRY_ANSWER

 private:
  Status check_enrolment(const wire::EnrolBoard& query) const;
  void give_key(const Credential& credential, const Answer<wire::KeyMade>& then);

  const ActiveScheduler& scheduler_;
  BoardRegistry& boards_;
  CredentialService& credentials_;
  AuditLog& audit_;
  Database& database_;
  std::function<void()> on_change_;
};

}  // namespace ferry::farm
