#include "host/client/blob_upload.h"

#include <algorithm>
#include <deque>

namespace ferry::detail {

namespace {

// Their hashes fit into one request.
constexpr std::size_t kBlobsAtOnce = 16'384;
constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
// Number of unanswered pieces: enough to keep the connection busy, and few enough to learn soon that the disk is full.
constexpr std::size_t kPiecesInFlight = 4;

class PieceSender {
 public:
  PieceSender(session::Client& client, const BlobSource& source) : client_(client), source_(source) {}

  void send(const Blob& blob) {
    for (std::uint64_t done = 0; done < blob.bytes; done += piece_.size()) {
      piece_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(blob.bytes - done, kPieceBytes)));
      source_.read(blob.hash, done, piece_);
      wait_until(kPiecesInFlight - 1);
      in_flight_.push_back(client_.send(rpc::PutBlob{blob.hash, blob.bytes, done}, piece_));
    }
  }
  void finish() { wait_until(0); }

 private:
  void wait_until(std::size_t most) {
    for (; in_flight_.size() > most; in_flight_.pop_front()) in_flight_.front().get();
  }

  session::Client& client_;
  const BlobSource& source_;
  std::vector<std::uint8_t> piece_;
  std::deque<session::Pending<rpc::Empty>> in_flight_;
};

}  // namespace

BlobUpload::BlobUpload(session::Client& client, std::vector<Blob> blobs) : blobs_(std::move(blobs)) {
  for (std::size_t first = 0; first < blobs_.size(); first += kBlobsAtOnce) {
    rpc::FindBlobs request;
    const std::size_t end = std::min(blobs_.size(), first + kBlobsAtOnce);
    for (std::size_t i = first; i < end; ++i) request.blobs.push_back(blobs_[i].hash);
    answers_.push_back(client.send(request));
  }
}

void BlobUpload::send_missing(session::Client& client, const BlobSource* source, session::DirectSession* direct) {
  std::vector<Blob> missing;
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    for (const std::uint32_t position : answers_[i].get().missing) {
      const std::size_t index = i * kBlobsAtOnce + position;
      if (index >= blobs_.size())
        throw Error(ErrorCode::protocol_error, "find_blobs: expected a blob below " + std::to_string(blobs_.size()) +
                                                   ", got " + std::to_string(index));
      missing.push_back(blobs_[index]);
    }
  }
  for (const Blob& blob : missing) {
    if (source != nullptr && source->has(blob.hash)) continue;
    throw Error(ErrorCode::not_found, client.peer() + " lacks blob " + to_hex(blob.hash) + " of " +
                                          std::to_string(blob.bytes) +
                                          " bytes, and the module comes without its contents");
  }
  if (missing.empty()) return;
  if (direct != nullptr) {
    for (const Blob& blob : missing) direct->put_blob(blob, *source);
    return;
  }
  PieceSender sender(client, *source);
  for (const Blob& blob : missing) sender.send(blob);
  sender.finish();
}

std::vector<Blob> blobs_to_bind(const Manifest& manifest, const FunctionInfo& function) {
  std::vector<bool> is_read(manifest.blobs.size());
  for (const Step& step : function.init.steps) {
    for_each_operand(step, [&](const Operand& operand) {
      if (operand.kind == OperandKind::constant) is_read[manifest.constants[operand.index].blob] = true;
    });
  }
  std::vector<Blob> blobs;
  for (std::size_t i = 0; i < is_read.size(); ++i)
    if (is_read[i]) blobs.push_back(manifest.blobs[i]);
  return blobs;
}

}  // namespace ferry::detail
