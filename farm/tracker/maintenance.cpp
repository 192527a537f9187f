#include "farm/tracker/maintenance.h"

#include <utility>

#include "farm/tracker/relay_connections.h"

namespace ferry::farm {
namespace {

constexpr std::size_t kPurgedAtOnce = 1000;
constexpr std::chrono::minutes kPurgePeriod{10};

}  // namespace

void Maintenance::tick() {
  write_sessions();
  expire_relays(core_);
  purge();
}

void Maintenance::write_sessions() {
  core_.sessions_of.clear();
  if (core_.sessions.empty()) return;
  core_.database->ask(
      [sessions = std::exchange(core_.sessions, {})](Store& store) { return store.add_sessions(sessions); },
      [this](const Status& written) {
        if (!written.is_ok()) core_.log("sessions could not be recorded: " + written.message());
      });
}

void Maintenance::purge() {
  const auto now = std::chrono::steady_clock::now();
  if (now < purge_at_) return;
  purge_at_ = now + kPurgePeriod;
  const Time before = core_.scheduler->now() - kRetention;
  core_.database->ask([before](Store& store) { return store.purge(before, kPurgedAtOnce); },
                      [this](const Result<bool>& purged) {
                        if (purged.is_ok() && purged.value()) purge_at_ = {};
                      });
}

}  // namespace ferry::farm
