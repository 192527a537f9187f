// Two pieces of pinned memory through which all bytes between this process and a GPU go: while the GPU copies one, the
// other is filled from the network or emptied into it.
#pragma once

#include <array>
#include <span>

#include "device-runtime/cuda/cuda_api.h"
#include "device-runtime/device/device.h"

namespace ferry::device {

class CudaStaging {
 public:
  // Memory is taken with the first copy. The api and the stream must stay.
  CudaStaging(const CudaApi& api, CuStream stream) : api_(api), stream_(stream) {}
  CudaStaging(const CudaStaging&) = delete;
  CudaStaging& operator=(const CudaStaging&) = delete;
  ~CudaStaging();

  Status write(CuDevicePointer to, std::uint64_t bytes, const Device::FillPiece& fill);
  Status read(CuDevicePointer from, std::uint64_t bytes, const Device::TakePiece& take);

 private:
  struct Piece {
    void* memory = nullptr;
    CuEvent copied = nullptr;  // what was last copied from it or into it
  };

  Status prepare();
  Status fill_all(CuDevicePointer to, std::uint64_t bytes, const Device::FillPiece& fill);
  Status take_all(CuDevicePointer from, std::uint64_t bytes, const Device::TakePiece& take);
  Status finish(Status status);

  const CudaApi& api_;
  CuStream stream_;
  std::array<Piece, 2> pieces_;
};

}  // namespace ferry::device
