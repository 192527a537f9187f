// The blobs of one session: those that modules use, those that have been found or sent for the next module, and the one
// that is arriving.
#pragma once

#include <memory>
#include <vector>

#include "device-runtime/session/state/blob_store.h"
#include "device-runtime/session/state/request_context.h"
#include "module/manifest.h"

namespace ferry::device {

class SessionBlobs {
 public:
  using Shared = std::shared_ptr<const MappedBlob>;

  // The budget must outlive the blobs.
  SessionBlobs(const BlobStore& store, MemoryBudget& budget) : store_(store), budget_(budget) {}

  // Returns whether there is such a blob, which then stays until a module uses it.
  Result<bool> reserve(const Hash& hash);
  // Returns a blob that a manifest names; not_found if there is none, aborted if its upload failed.
  Result<Shared> get(RequestContext& context, const Blob& blob);
  // Maps a part of it, which stays mapped without the rest; null if that is no longer possible.
  Result<Shared> find_part(const Hash& hash, const MappedBlob& whole, std::uint64_t offset, std::uint64_t bytes) {
    return store_.find_part(hash, whole, offset, bytes, budget_);
  }
  // Adds a blob that nobody sends, for the next module.
  void provide(const Hash& hash, Shared blob) { make_entry(hash) = {hash, std::move(blob), true, 0}; }
  // Ends the reservations for this module; its blobs stay as long as somebody shares them.
  void release(const Manifest& manifest);
  // Unmaps blobs that nobody shares and that are not reserved.
  void drop_unused();

  // Receives the next piece of a blob from the request's payload.
  Status receive(RequestContext& context, const rpc::PutBlob& request);
  // Records that the request `cause` should have brought the blob.
  void fail(const Hash& hash, std::uint64_t cause);

 private:
  struct Entry {
    Hash hash;
    Shared blob;
    bool is_reserved = false;
    std::uint64_t failed = 0;  // the request whose failure ended the upload; 0: none
  };

  // Returns null if there is none.
  Entry* entry_of(const Hash& hash);
  Entry& make_entry(const Hash& hash);
  // Returns null if neither the session nor the store has the blob.
  Result<Shared> find(const Hash& hash);

  BlobStore store_;
  MemoryBudget& budget_;
  std::vector<Entry> entries_;
  std::unique_ptr<BlobUpload> upload_;
};

}  // namespace ferry::device
