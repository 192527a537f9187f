// Sends a server the blobs of a module that it lacks.
#pragma once

#include <vector>

#include "ferry/client.h"
#include "host/client/client.h"
#include "host/client/connect/direct_session.h"
#include "module/manifest.h"

namespace ferry::detail {

class BlobUpload {
 public:
  BlobUpload() = default;
  // Asks, without waiting, which of these blobs the server lacks; it keeps the others for the next module or instance
  // that needs them.
  BlobUpload(session::Client& client, std::vector<Blob> blobs);
  // Sends those, or hands them over to a session in this process (`direct`, otherwise null). Throws Error: with
  // not_found when `source` does not have one.
  void send_missing(session::Client& client, const BlobSource* source, session::DirectSession* direct);

 private:
  std::vector<Blob> blobs_;
  std::vector<session::Pending<rpc::FindBlobsReply>> answers_;  // for kBlobsAtOnce of them each
};

// Returns the blobs that the init plan of a function reads.
std::vector<Blob> blobs_to_bind(const Manifest& manifest, const FunctionInfo& function);

}  // namespace ferry::detail
