// A library that ferry's kernels are compared with. Libraries are loaded when they are needed, each into a process of
// its own: two versions of one library do not get along.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/kernels/operation.h"

namespace ferry::bench {

class PeerKernel {
 public:
  virtual ~PeerKernel() = default;
  virtual void run() = 0;
  // The result of the last run, dense and row-major.
  virtual void copy_result(void* into) = 0;
  // Which of the library's implementations runs, and for which instructions.
  virtual std::string implementation() const { return ""; }
};

class Peer {
 public:
  virtual ~Peer() = default;
  // Name and version.
  virtual std::string name() const = 0;
  // The instruction set it says it uses on this machine.
  virtual std::string instructions() const = 0;
  // On one thread; null for what the library does not have. Inputs stay where they are as long as the kernel lives.
  virtual std::unique_ptr<PeerKernel> prepare(const Operation& operation, const std::vector<const void*>& inputs) = 0;
};

struct PeerLibrary {
  std::string key;     // what the command line calls it
  std::string plugin;  // shared object that wraps it (see onednn.cpp), or empty
};

// All that can be compared with; some may not be installed.
const std::vector<PeerLibrary>& peer_libraries();
// Throws std::runtime_error, with what is missing, when it cannot be loaded.
std::unique_ptr<Peer> load_peer(const PeerLibrary& library);

}  // namespace ferry::bench
