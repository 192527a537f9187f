// Two pieces of pinned memory through which all transfers between this process and a GPU pass: while the GPU copies
// one, the other is filled from the network or sent to it.
#pragma once

#include <array>
#include <span>

#include "device-runtime/cuda/cuda_api.h"
#include "device-runtime/device/device.h"

namespace ferry::device {

class CudaStaging {
 public:
  // Memory is allocated by the first transfer. The api and the stream must outlive this object.
  CudaStaging(const CudaApi& api, CuStream stream) : api_(api), stream_(stream) {}
  CudaStaging(const CudaStaging&) = delete;
  CudaStaging& operator=(const CudaStaging&) = delete;
  ~CudaStaging();

  Status write(CuDevicePointer to, std::uint64_t bytes, const Device::FillPiece& fill);
  Status read(CuDevicePointer from, std::uint64_t bytes, const Device::TakePiece& take);

 private:
  struct Piece {
    void* memory = nullptr;
    CuEvent copied = nullptr;  // recorded after the last copy from or to this piece
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
