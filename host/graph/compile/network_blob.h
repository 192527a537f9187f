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
