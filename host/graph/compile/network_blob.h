// The constants of a network as one blob, which does not depend on how the network is compiled: a device that has it
// needs only the new code.
#pragma once

#include "ferry/blob_source.h"
#include "host/graph/graph.h"
#include "module/manifest.h"

#include <memory>
#include <span>
#include <vector>

namespace ferry::graph {

class NetworkBlob final : public BlobSource {
 public:
  // Keeps the contents in memory, or mapped, as long as it lives.
  NetworkBlob(const Graph& graph, std::span<const TensorId> constants);

  // Computes the hash of the contents; call it once, before everything below but constants().
  void hash_contents();
  // Takes the hash from the manifest of a module that was compiled from the same network; returns false, and leaves the
  // hash as it was, if its constants are others.
  bool take_hash_from(const Manifest& manifest);

  const Blob& blob() const { return blob_; }
  // One for each tensor, in order.
  const std::vector<Constant>& constants() const { return constants_; }

  bool has(const Hash& blob) const override { return blob == blob_.hash; }
  void read(const Hash& blob, std::uint64_t offset, std::span<std::uint8_t> into) const override;

 private:
  std::vector<std::shared_ptr<const ConstantData>> contents_;
  std::vector<Constant> constants_;
  Blob blob_;
};

}  // namespace ferry::graph
