// Tensors of a session of the local server in memory that this process has mapped too: they are written and read
// without a copy by the connection.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "host/client/client.h"
#include "host/client/connect/shared_object.h"

namespace ferry::session {

class SharedTensors {
 public:
  explicit SharedTensors(std::unique_ptr<SharedObject> object);

  struct Part {
    rpc::Handle buffer = 0;
    std::uint64_t offset = 0, bytes = 0;  // whole pages
    bool is_zero = true;                  // otherwise it contains what it was used for before
    std::size_t failures_before = 0;      // requests that had failed when it was taken
  };

  // Returns a buffer for a tensor of the CPU; nothing if such a tensor is not shared: the session is to allocate it. No
  // request that has not been answered uses the part. Throws Error if the connection is lost.
  std::optional<Part> allocate(Client& client, std::uint64_t bytes);
  // Takes a buffer back, which is kept for tensors to come or freed.
  void free(Client& client, const Part& part);
  std::uint8_t* at(const Part& part) const { return object_->at(part.offset); }

 private:
  struct Dropped {
    Part part;
    std::shared_ptr<const Answer> answer;  // when this has arrived, no request uses the part any more; null: none does
  };

  std::optional<Part> take_kept(std::uint64_t bytes);
  std::optional<Part> take_unused(std::uint64_t bytes);
  void keep(const Part& part);
  void free_in_session(Client& client, const Part& part);
  void collect_dropped(Client& client, std::uint64_t most_kept);
  void discard(const Part& part);

  std::unique_ptr<SharedObject> object_;
  std::optional<bool> is_served_;  // nothing: the server has not been asked yet
  std::vector<Dropped> dropped_, freed_;
  std::vector<Part> kept_;  // the last one was used last
  std::uint64_t kept_bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> unused_;  // offset and size of what has no pages, apart from each other
};

}  // namespace ferry::session
