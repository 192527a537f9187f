// The supervisor's side of a session's FileBroker: opens for the session what it may read, and nothing else. What a
// session asks for is hostile until it is checked.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/cache_folder.h"
#include "base/descriptor.h"
#include "device-runtime/broker/messages.h"
#include "device-runtime/supervisor/cleaners.h"
#include "rpc/server/event_loop.h"

namespace ferry::device {

// The folders of files for later sessions. Only the server's own user can reach them.
struct Caches {
  CacheFolder modules;
  CacheFolder blobs;
  bool sessions_are_own_user = true;  // rather than a user of their own
  std::string folder = {};            // the work folder

  // Whose files the sessions find and store (base/cache_folder.h).
  void set_holder(std::uint64_t holder) {
    modules.set_holder(holder);
    blobs.set_holder(holder);
  }
  const CacheFolder& operator[](Cache which) const { return which == Cache::modules ? modules : blobs; }
  // Empty folders keep nothing.
  CacheLimits largest() const {
    return {folder, modules.folder().empty() ? 0 : modules.max_bytes(), blobs.folder().empty() ? 0 : blobs.max_bytes()};
  }
};

class FileService {
 public:
  // All arguments must outlive it. Without descriptors the session gets no files.
  FileService(server::EventLoop& loop, const Caches& caches, Cleaners& cleaners);
  FileService(FileService&&) noexcept;
  FileService& operator=(FileService&&) = delete;
  // Ends what still runs for the session.
  ~FileService();

  // The socket's end for the session's process; -1 if there is none.
  int session_end() const { return session_end_.number(); }
  // Called after the fork.
  void close_session_end() { session_end_ = Descriptor(); }

 private:
  class Server;
  std::unique_ptr<Server> server_;
  Descriptor session_end_;
};

}  // namespace ferry::device
