#include "device-runtime/session/state/session_blobs.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace ferry::device {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

unsigned long long printed_count(std::uint64_t value) { return value; }

}  // namespace

SessionBlobs::Entry* SessionBlobs::entry_of(const Hash& hash) {
  for (Entry& entry : entries_) {
    if (entry.hash == hash) return &entry;
  }
  return nullptr;
}

SessionBlobs::Entry& SessionBlobs::make_entry(const Hash& hash) {
  Entry* const entry = entry_of(hash);
  return entry != nullptr ? *entry : entries_.emplace_back(hash);
}

Result<SessionBlobs::Shared> SessionBlobs::find(const Hash& hash) {
  if (const Entry* entry = entry_of(hash); entry != nullptr && entry->blob != nullptr) return entry->blob;
  FERRY_ASSIGN(Shared blob, store_.find(hash, budget_));
  if (blob != nullptr) make_entry(hash).blob = blob;
  return blob;
}

Result<bool> SessionBlobs::reserve(const Hash& hash) {
  FERRY_ASSIGN(const Shared blob, find(hash));
  if (blob == nullptr) return false;
  make_entry(hash).is_reserved = true;
  return true;
}

Result<SessionBlobs::Shared> SessionBlobs::get(RequestContext& context, const Blob& blob) {
  FERRY_ASSIGN(Shared found, find(blob.hash));
  if (found != nullptr && found->bytes().size() == blob.bytes) return found;
  const std::string name = "blob " + to_hex(blob.hash);
  if (found != nullptr) {
    return Status(ErrorCode::invalid_argument, format("%s: expected %llu bytes, as the manifest says, got %zu",
                                                      name.c_str(), printed_count(blob.bytes), found->bytes().size()));
  }
  if (const Entry* entry = entry_of(blob.hash); entry != nullptr && entry->failed != 0) {
    return context.aborted(entry->failed, format("%s was to be sent by request %llu, which failed", name.c_str(),
                                                 printed_count(entry->failed)));
  }
  const bool is_incomplete = upload_ != nullptr && upload_->hash() == blob.hash;
  return Status(ErrorCode::not_found,
                format("the server has no %s, of which %llu of %llu bytes have been sent", name.c_str(),
                       printed_count(is_incomplete ? upload_->received() : 0), printed_count(blob.bytes)));
}

void SessionBlobs::release(const Manifest& manifest) {
  for (const Blob& blob : manifest.blobs) {
    if (Entry* const entry = entry_of(blob.hash)) entry->is_reserved = false;
  }
  drop_unused();
}

void SessionBlobs::drop_unused() {
  std::erase_if(entries_, [](const Entry& entry) {
    return !entry.is_reserved && entry.failed == 0 && entry.blob.use_count() <= 1;
  });
}

void SessionBlobs::fail(const Hash& hash, std::uint64_t cause) {
  upload_.reset();
  if (entries_.size() < kMaxBlobs || entry_of(hash) != nullptr) make_entry(hash).failed = cause;
}

Status SessionBlobs::receive(RequestContext& context, const rpc::PutBlob& request) {
  Entry* const entry = entry_of(request.hash);
  const bool continues = upload_ != nullptr && upload_->hash() == request.hash && request.offset != 0;
  if (!continues && request.offset != 0 && entry != nullptr && entry->failed != 0) {
    return context.aborted(entry->failed, format("request %llu, which was to send the blob's earlier bytes, failed",
                                                 printed_count(entry->failed)));
  }
  const std::uint64_t expected = continues ? upload_->received() : 0;
  if (request.offset != expected || (continues && request.bytes != upload_->bytes())) {
    return {ErrorCode::invalid_argument,
            format("expected byte %llu of a blob of %llu, got byte %llu of %llu", printed_count(expected),
                   printed_count(continues ? upload_->bytes() : request.bytes), printed_count(request.offset),
                   printed_count(request.bytes))};
  }
  std::uint64_t left = context.payload_bytes();
  if (left == 0 || left > request.bytes - request.offset) {
    return {ErrorCode::invalid_argument, format("expected 1 to %llu bytes of the blob, got %llu",
                                                printed_count(request.bytes - request.offset), printed_count(left))};
  }
  if (!continues) {
    upload_.reset();
    if (entry != nullptr) entry->failed = 0;
    FERRY_ASSIGN(upload_, BlobUpload::begin(store_, request.hash, request.bytes));
  }
  std::vector<std::uint8_t> buffer(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceBytes)));
  for (; left != 0; left -= buffer.size()) {
    buffer.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPieceBytes)));
    FERRY_TRY(context.receive_payload(buffer));
    FERRY_TRY(upload_->add(buffer));
  }
  if (upload_->received() != upload_->bytes()) return {};
  FERRY_ASSIGN(Shared blob, upload_->finish(budget_));
  upload_.reset();
  make_entry(request.hash) = {request.hash, std::move(blob), true, 0};
  return {};
}

}  // namespace ferry::device
