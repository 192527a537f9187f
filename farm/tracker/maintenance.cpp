#include "farm/tracker/maintenance.h"

namespace ferry::farm {
namespace {

constexpr std::size_t kPurgedAtOnce = 1000;
constexpr std::chrono::minutes kPurgePeriod{10};

}  // namespace

void Maintenance::tick() {
  sessions_.write();
  relays_.expire();
  purge();
}

void Maintenance::purge() {
  const auto now = std::chrono::steady_clock::now();
  if (now < purge_at_) return;
  purge_at_ = now + kPurgePeriod;
  const Time before = scheduler_.now() - kRetention;
  database_.ask([before](Store& store) { return store.purge(before, kPurgedAtOnce); },
                [this](const Result<bool>& purged) {
                  if (purged.is_ok() && purged.value()) purge_at_ = {};
                });
}

}  // namespace ferry::farm
