// The task of one process: passed to ferry_kernel_duel as JSON and answered in JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/kernels/operation.h"

namespace ferry::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Operation, kind, m, n, k, channels, filters, size, numbers, constant_weights,
                                   own_layout, winograd_tile)

struct Request {
  Operation operation;
  std::string module;  // path of the .ferry file
  std::string peer;    // key in peer_libraries(), or one of the two below
  unsigned threads = 1;
  int rounds = 15;
  double bytes = 0;      // the least that the kernel must move; also the size of the copy
  bool blocked = false;  // ferry's images and filters are in blocks of 16 channels; not the filters for Winograd
};

inline constexpr const char* kCopyPeer = "copy";        // memcpy
inline constexpr const char* kSinglePeer = "1 thread";  // the same kernel on one thread

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Request, operation, module, peer, threads, rounds, bytes, blocked)

}  // namespace ferry::bench
