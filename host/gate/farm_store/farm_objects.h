// Objects of a farm, in pieces over one connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "farm/client/farm_client.h"
#include "ferry/hash.h"

namespace ferry::gate {

// The pauses, together, while a farm is busy, and while another tracker replaces the one before.
struct Patience {
  std::chrono::milliseconds busy = std::chrono::seconds(15), away = std::chrono::seconds(3);
};

// Thread-safe. Throws like open_farm_store().
class FarmObjects {
 public:
  explicit FarmObjects(farm::FarmAccess farm, const Patience& patience = {})
      : client_(std::move(farm)), patience_(patience) {}

  // Calls work() with a client of the farm, and again after pauses while the farm is busy or a tracker has just
  // been replaced by another one.
  void ask(const std::function<Status(farm::FarmClient&)>& work);

  // In whose name the farm is asked; empty before the first answer.
  std::string holder();

  // Which of them the farm has.
  std::vector<bool> has(std::span<const Hash> objects);
  // Sends an object of so many bytes, which read(offset, into) fills in.
  using Read = std::function<void(std::uint64_t offset, std::span<std::uint8_t> into)>;
  void put(const Hash& object, std::uint64_t bytes, const Read& read);
  // Returns nothing if the farm has no such object. Does not check the contents.
  std::optional<std::vector<std::uint8_t>> get(const Hash& object);
  // Fills `into` with the contents from `offset` on.
  void read(const Hash& object, std::uint64_t offset, std::span<std::uint8_t> into);

 private:
  Status read_pieces(farm::FarmClient& client, const Hash& object, std::uint64_t offset, std::span<std::uint8_t> into);

  std::mutex mutex_;
  farm::FarmClient client_;
  const Patience patience_;
};

}  // namespace ferry::gate
