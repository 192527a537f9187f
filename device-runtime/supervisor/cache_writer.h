// The process that adds one file to a cache for a session. It computes the hash of what it writes, and nobody else can
// write to the file, so a file's contents are what its name says.
#pragma once

#include <sys/types.h>

#include "base/cache_folder.h"
#include "device-runtime/broker/messages.h"

namespace ferry::device {

// Forks. The child receives request.bytes bytes from `stream`, gives the file its name once they have request.hash, and
// answers with a BrokerReply and, `with_reader`, with a descriptor for reading the file. Returns -1 if that is
// impossible; otherwise the file is the child's.
pid_t start_cache_writer(const CacheFolder& cache, NewCacheFile& file, const BrokerRequest& request, bool with_reader,
                         int stream);

}  // namespace ferry::device
