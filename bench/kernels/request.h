// What one process is to measure: handed to ferry_kernel_duel as JSON, answered with JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/kernels/operation.h"

namespace ferry::bench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Operation, kind, m, n, k, channels, filters, size, numbers, constant_weights,
                                   own_layout)

struct Request {
  Operation operation;
  std::string module;  // path of the .ferry file
  std::string peer;    // of peer_libraries(), or one of the two below
  unsigned threads = 1;
  int rounds = 15;
  double bytes = 0;      // that the kernel must move at least: what a copy is made to move
  bool blocked = false;  // ferry's images and filters are in blocks of 16 channels
};

inline constexpr const char* kCopyPeer = "copy";        // memcpy
inline constexpr const char* kSinglePeer = "1 thread";  // the same kernel

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Request, operation, module, peer, threads, rounds, bytes, blocked)

}  // namespace ferry::bench
