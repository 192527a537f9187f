// Tests the derivation of the farm's keys. The expected values were computed with Python's hashlib.blake2b.
#include "farm/keys/derive_key.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "ferry/hash.h"

namespace ferry::farm {
namespace {

secure::Key sample_master() {
  secure::Key master;
  std::iota(master.bytes.begin(), master.bytes.end(), std::uint8_t{0});
  return master;
}

KeySalt sample_salt() {
  KeySalt salt;
  std::iota(salt.begin(), salt.end(), std::uint8_t{100});
  return salt;
}

std::string hex_of(const secure::Key& key) {
  Hash bytes;
  std::copy(key.bytes.begin(), key.bytes.end(), bytes.begin());
  return to_hex(bytes);
}

std::string derived(KeyKind kind, const std::vector<std::uint64_t>& id) {
  return hex_of(derive_key(sample_master(), kind, id, sample_salt()));
}

TEST_CASE("a key is what FARM.md says it is") {
  CHECK(derived(KeyKind::board, {7}) == "eaa9eacc08c9e3ef170ee6c8aacb50ca653e5c65a895bedd86905c87cd160545");
  CHECK(derived(KeyKind::lease, {9, 7, 1025}) == "708932e1fbb26a801677a2b283b7ed7510abbdebb291d0560c22c6d42e220c46");
}

TEST_CASE("the number of a holder is what FARM.md says it is, and another one for each holder and farm") {
  CHECK(number_of_holder(sample_master(), "anna") == 0x63aede432e9b1e03u);
  CHECK(number_of_holder(sample_master(), "berta") == 0xace9aab45ea0bf1bu);
  secure::Key other = sample_master();
  other.bytes[0] ^= 1;
  CHECK(number_of_holder(other, "anna") != number_of_holder(sample_master(), "anna"));
}

TEST_CASE("another kind, id, salt or master key makes another key") {
  std::vector<std::string> keys{derived(KeyKind::board, {7}),    derived(KeyKind::client, {7}),
                                derived(KeyKind::board, {8}),    derived(KeyKind::lease, {7}),
                                derived(KeyKind::lease, {7, 0}), derived(KeyKind::lease, {7, 0, 0})};
  KeySalt salt = sample_salt();
  salt[15] ^= 1;
  keys.push_back(hex_of(derive_key(sample_master(), KeyKind::board, std::vector<std::uint64_t>{7}, salt)));
  secure::Key master = sample_master();
  master.bytes[31] ^= 1;
  keys.push_back(hex_of(derive_key(master, KeyKind::board, std::vector<std::uint64_t>{7}, sample_salt())));
  std::sort(keys.begin(), keys.end());
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
}

}  // namespace
}  // namespace ferry::farm
