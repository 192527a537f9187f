#include "farm/keys/derive_key.h"

#include <sodium/crypto_generichash.h>

#include <algorithm>
#include <cstring>

#include "ferry/hash.h"

namespace ferry::farm {
namespace {

constexpr std::string_view kContext = "ferry farm key 1";

}  // namespace

secure::Key derive_key(const secure::Key& master, KeyKind kind, std::span<const std::uint64_t> id,
                       const KeySalt& salt) {
  crypto_generichash_state state;
  const auto add = [&state](const void* bytes, std::size_t count) {
    crypto_generichash_update(&state, static_cast<const unsigned char*>(bytes), count);
  };
  const std::array<std::uint8_t, 2> head{static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(id.size())};
  secure::Key key;
  crypto_generichash_init(&state, master.bytes.data(), master.bytes.size(), key.bytes.size());
  add(kContext.data(), kContext.size());
  add(head.data(), head.size());
  add(id.data(), id.size_bytes());
  add(salt.data(), salt.size());
  crypto_generichash_final(&state, key.bytes.data(), key.bytes.size());
  secure::wipe(&state, sizeof state);
  return key;
}

std::uint64_t number_of_holder(const secure::Key& master, std::string_view holder) {
  const Hash name = blake2b({reinterpret_cast<const std::uint8_t*>(holder.data()), holder.size()});
  std::array<std::uint64_t, sizeof name / sizeof(std::uint64_t)> id;
  std::memcpy(id.data(), name.data(), name.size());
  const secure::Key key = derive_key(master, KeyKind::holder, id, {});
  std::uint64_t number = 0;
  std::memcpy(&number, key.bytes.data(), sizeof number);
  return std::max<std::uint64_t>(number, 1);  // 0 is nobody
}

}  // namespace ferry::farm
