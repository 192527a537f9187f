#include "farm/protocol/lease/lease_guard.h"

#include <algorithm>

namespace ferry::lease {

LeaseGuard::Effects LeaseGuard::announce(const Announcement& announcement, BootTime now) {
  Effects effects = check_end(now);
  if (current_ && announcement.key == current_->key) return extend(announcement);
  if (announcement.key.epoch <= highest_ || announcement.key.epoch > kMaxEpoch || announcement.end <= now) {
    effects.refused = announcement.key;
    return effects;
  }
  if (current_) end_lease(effects);
  current_ = announcement;
  highest_ = announcement.key.epoch;
  if (highest_ > ceiling_) effects.write_ceiling = highest_ + kEpochsAhead;
  acknowledge_if_ready(effects);
  return effects;
}

LeaseGuard::Effects LeaseGuard::extend(const Announcement& announcement) {
  Effects effects;
  // A repeated or delayed announcement changes nothing, and an extension never shortens.
  if (announcement.extension > current_->extension) {
    current_->extension = announcement.extension;
    current_->end = std::max(current_->end, announcement.end);
  }
  if (is_acknowledged_) effects.acknowledged = current_;
  return effects;
}

LeaseGuard::Effects LeaseGuard::withdraw(const LeaseKey& key) {
  Effects effects;
  // The announcement may be on its way still; it must not be accepted after its withdrawal.
  highest_ = std::max(highest_, key.epoch);
  if (current_ && current_->key == key) end_lease(effects);
  return effects;
}

LeaseGuard::Effects LeaseGuard::ceiling_written(Epoch ceiling) {
  Effects effects;
  ceiling_ = std::max(ceiling_, ceiling);
  acknowledge_if_ready(effects);
  return effects;
}

LeaseGuard::Effects LeaseGuard::session_ended() {
  Effects effects;
  has_session_ = false;
  acknowledge_if_ready(effects);
  return effects;
}

LeaseGuard::Effects LeaseGuard::check_end(BootTime now) {
  Effects effects;
  if (current_ && now >= current_->end) end_lease(effects);
  return effects;
}

AdmitResult LeaseGuard::admit(const LeaseKey& key, BootTime now) {
  if (!current_ || !is_acknowledged_ || now >= current_->end) return AdmitResult::no_lease;
  if (current_->key != key) return AdmitResult::other_lease;
  if (has_session_) return AdmitResult::occupied;
  has_session_ = true;
  return AdmitResult::admitted;
}

std::optional<BootTime> LeaseGuard::end() const {
  if (!current_) return std::nullopt;
  return current_->end;
}

std::optional<LeaseKey> LeaseGuard::serving() const {
  if (!current_ || !is_acknowledged_) return std::nullopt;
  return current_->key;
}

void LeaseGuard::end_lease(Effects& effects) {
  effects.over = current_->key;
  effects.end_session = has_session_;
  current_.reset();
  is_acknowledged_ = false;
}

void LeaseGuard::acknowledge_if_ready(Effects& effects) {
  if (!current_ || is_acknowledged_ || has_session_ || current_->key.epoch > ceiling_) return;
  is_acknowledged_ = true;
  effects.acknowledged = current_;
}

}  // namespace ferry::lease
