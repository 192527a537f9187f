#include "host/graph/compile/network_blob.h"

#include "base/hash_stream.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// As tensors of GPUs are aligned, so that the blob is the same for every target.
constexpr std::uint64_t kConstantAlignment = 256;

}  // namespace

NetworkBlob::NetworkBlob(const Graph& graph, std::span<const TensorId> constants) {
  for (const TensorId id : constants) {
    contents_.push_back(graph.tensor(id).constant);
    const std::size_t bytes = contents_.back()->bytes.size();
    const std::uint64_t begin = (blob_.bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment;
    constants_.push_back({.offset = begin, .bytes = bytes});
    blob_.bytes = begin + bytes;
  }
  // A blob has at least one byte, also if all constants are empty.
  if (!constants_.empty()) blob_.bytes = std::max<std::uint64_t>(blob_.bytes, 1);
}

void NetworkBlob::hash_contents() {
  const std::vector<std::uint8_t> zeros(kConstantAlignment);
  HashStream hash;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    hash.add(std::span(zeros).first(constants_[i].offset - end));
    hash.add(contents_[i]->bytes);
    end = constants_[i].offset + constants_[i].bytes;
  }
  hash.add(std::span(zeros).first(blob_.bytes - end));
  blob_.hash = hash.finish();
}

bool NetworkBlob::take_hash_from(const Manifest& manifest) {
  const auto is_same_range = [](const Constant& a, const Constant& b) {
    return a.blob == b.blob && a.offset == b.offset && a.bytes == b.bytes;
  };
  // Behind them are those that a second device reads too.
  const bool has_constants =
      manifest.constants.size() >= constants_.size() &&
      std::equal(constants_.begin(), constants_.end(), manifest.constants.begin(), is_same_range);
  if (!has_constants || manifest.blobs.size() != (constants_.empty() ? 0U : 1U)) return false;
  if (manifest.blobs.empty()) return true;
  if (manifest.blobs.front().bytes != blob_.bytes) return false;
  blob_.hash = manifest.blobs.front().hash;
  return true;
}

void NetworkBlob::read(const Hash&, std::uint64_t offset, std::span<std::uint8_t> into) const {
  std::ranges::fill(into, std::uint8_t{0});
  const std::uint64_t end = offset + into.size();
  // The first constant that ends behind the offset.
  const auto first = std::ranges::upper_bound(
      constants_, offset, {}, [](const Constant& constant) { return constant.offset + constant.bytes; });
  for (auto at = first; at != constants_.end() && at->offset < end; ++at) {
    const std::span<const std::uint8_t> bytes = contents_[static_cast<std::size_t>(at - constants_.begin())]->bytes;
    const std::uint64_t from = std::max(offset, at->offset), to = std::min(end, at->offset + at->bytes);
    const auto part = bytes.subspan(from - at->offset, to - from);
    std::ranges::copy(part, into.begin() + static_cast<std::ptrdiff_t>(from - offset));
  }
}

}  // namespace ferry::graph
