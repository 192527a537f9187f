#include "farm/tracker/key_directory.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "farm/protocol/lease_id.h"
#include "ferry/hash.h"
#include "rpc/secure/secret.h"

namespace ferry::farm {
namespace {

constexpr std::string_view kTokenStart = "ferry_";
constexpr std::size_t kTokenBytes = 24;

TokenHash hash_of(std::string_view token) {
  const Hash hash = blake2b({reinterpret_cast<const std::uint8_t*>(token.data()), token.size()});
  TokenHash result{};
  std::copy_n(hash.begin(), result.size(), result.begin());
  return result;
}

KeyKind key_kind(CredentialKind kind) {
  switch (kind) {
    case CredentialKind::board: return KeyKind::board;
    case CredentialKind::enrolment: return KeyKind::enrolment;
    default: return KeyKind::client;
  }
}

}  // namespace

std::uint64_t id_of(const Credential& credential) {
  std::uint64_t id = 0;
  std::from_chars(credential.id.data(), credential.id.data() + credential.id.size(), id);
  return id;
}

void KeyDirectory::load(std::span<const Credential> credentials) {
  by_key_.clear();
  by_token_.clear();
  credentials_.clear();
  for (const Credential& one : credentials) put(one);
}

void KeyDirectory::put(const Credential& credential) {
  const auto key = std::pair(credential.kind, credential.id);
  if (const auto found = credentials_.find(key); found != credentials_.end()) {
    const auto is_old = [&](const auto& entry) { return entry.second == &found->second; };
    std::erase_if(by_key_, is_old);
    std::erase_if(by_token_, is_old);
  }
  Credential& kept = credentials_[key] = credential;
  if (kept.revoked) return;
  if (kept.kind == CredentialKind::token) {
    if (kept.token_hash) by_token_[*kept.token_hash] = &kept;
  } else {
    by_key_[key_of(kept).id()] = &kept;
  }
}

Credential KeyDirectory::make(CredentialKind kind, std::uint64_t id, std::string label, Role role) {
  Credential credential;
  credential.kind = kind;
  credential.id = std::to_string(id);
  secure::fill_with_random(credential.salt);
  credential.label = std::move(label);
  credential.role = role;
  return credential;
}

KeyDirectory::NewToken KeyDirectory::make_token(std::string label, Role role) {
  NewToken made{make(CredentialKind::token, random_id(), std::move(label), role), std::string(kTokenStart)};
  std::array<std::uint8_t, kTokenBytes> random{};
  secure::fill_with_random(random);
  for (const std::uint8_t byte : random) {
    constexpr char kDigits[] = "0123456789abcdef";
    made.token += kDigits[byte >> 4];
    made.token += kDigits[byte & 15];
  }
  made.credential.token_hash = hash_of(made.token);
  return made;
}

Result<std::optional<secure::Key>> KeyDirectory::find(const secure::KeyId& id) const {
  const Credential* const holder = holder_of(id);
  if (holder == nullptr) return std::optional<secure::Key>();
  return std::optional(key_of(*holder));
}

const Credential* KeyDirectory::holder_of(const secure::KeyId& id) const {
  const auto found = by_key_.find(id);
  return found == by_key_.end() ? nullptr : found->second;
}

const Credential* KeyDirectory::holder_of_token(std::string_view token, Time now) const {
  // The text that is looked up is a hash, so the time that it takes says nothing about the tokens that exist.
  const auto found = by_token_.find(hash_of(token));
  if (found == by_token_.end()) return nullptr;
  const std::optional<Time>& expires = found->second->expires;
  return expires && *expires <= now ? nullptr : found->second;
}

const Credential* KeyDirectory::find_label(CredentialKind kind, std::string_view label) const {
  const Credential* best = nullptr;
  for (const auto& [key, one] : credentials_) {
    if (one.kind != kind || one.label != label) continue;
    if (best == nullptr || !one.revoked || (best->revoked && *best->revoked < *one.revoked)) best = &one;
    if (!best->revoked) return best;
  }
  return best;
}

const Credential* KeyDirectory::find_id(CredentialKind kind, std::uint64_t id) const {
  const auto found = credentials_.find({kind, std::to_string(id)});
  return found == credentials_.end() ? nullptr : &found->second;
}

std::vector<const Credential*> KeyDirectory::all() const {
  std::vector<const Credential*> list;
  for (const auto& [key, one] : credentials_) list.push_back(&one);
  return list;
}

secure::Key KeyDirectory::make_own(const std::string& holder) {
  std::erase_if(by_key_, [this](const auto& entry) { return entry.second == &own_; });
  own_ = make(CredentialKind::client, random_id(), holder, Role::user);
  const secure::Key key = key_of(own_);
  by_key_[key.id()] = &own_;
  return key;
}

secure::Key KeyDirectory::key_of(const Credential& credential) const {
  const std::uint64_t id[] = {id_of(credential)};
  return derive_key(master_, key_kind(credential.kind), id, credential.salt);
}

secure::Key KeyDirectory::lease_key(std::uint64_t lease, std::uint64_t board, std::uint64_t epoch) const {
  const std::uint64_t id[] = {lease, board, epoch};
  const Credential* const credential = find_id(CredentialKind::board, board);
  return derive_key(master_, KeyKind::lease, id, credential == nullptr ? KeySalt{} : credential->salt);
}

}  // namespace ferry::farm
