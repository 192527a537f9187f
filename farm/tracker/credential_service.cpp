#include "farm/tracker/credential_service.h"

#include <utility>

namespace ferry::farm {

void CredentialService::write(std::vector<Credential> credentials, std::function<void(const Status&)> then) {
  database_.ask(
      [credentials](Store& store) {
        for (const Credential& one : credentials) FERRY_TRY(store.replace_credential(one));
        return Status();
      },
      [this, credentials, then = std::move(then)](const Status& written) {
        if (written.is_ok())
          for (const Credential& one : credentials) keys_.put(one);
        then(written);
      });
}

void CredentialService::shut_out(const std::vector<Credential>& revoked) {
  for (const Credential& one : revoked) keys_.put(one);
  for (const Credential& one : revoked) revoke_access(one);
}

void CredentialService::revoke_access(const Credential& credential) {
  peers_.close_key(keys_.key_of(credential).id(), "this key was revoked");
  // The end of a connection may have ended this tracker's turn.
  if (credential.kind != CredentialKind::client || !scheduler_) return;
  const Credential* const other = keys_.find_label(CredentialKind::client, credential.label);
  if (other != nullptr && !other->revoked) return;
  std::vector<LeaseId> leases;
  for (const RequestView& lease : scheduler_.machine().leases())
    if (lease.request->holder == credential.label) leases.push_back(lease.request->id);
  for (const QueuedRequest& request : scheduler_.machine().queue(scheduler_.now()))
    if (request.holder == credential.label) leases.push_back(request.id);
  for (const LeaseId lease : leases) scheduler_.handle(LeaseRevoked{lease});
}

void CredentialService::confirm_enrolment(BoardId board) {
  const Credential* const enrolment = keys_.find_id(CredentialKind::enrolment, static_cast<std::uint64_t>(board));
  if (enrolment == nullptr || enrolment->revoked) return;
  Credential consumed = *enrolment;
  consumed.revoked = scheduler_.now();
  if (const Status noted = note_revocation_(consumed); !noted.is_ok()) return log_(noted.message());
  keys_.put(consumed);
  write({consumed}, [this, board](const Status& written) {
    log_(boards_.name_of(board) + ": " +
         (written.is_ok() ? "its enrolment is complete" : "its enrolment stays open: " + written.message()));
  });
}

}  // namespace ferry::farm
