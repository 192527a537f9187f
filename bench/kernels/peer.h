// A library that ferry's kernels are compared with. Libraries are loaded on demand, each in a process of its own,
// because two versions of one library conflict.
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
  // Copies the result of the last run, dense and row-major.
  virtual void copy_result(void* into) = 0;
  // Name of the library's implementation and of the instructions that it uses.
  virtual std::string implementation() const { return ""; }
};

class Peer {
 public:
  virtual ~Peer() = default;
  // Name and version.
  virtual std::string name() const = 0;
  // The instruction set that the library reports for this machine.
  virtual std::string instructions() const = 0;
  // Prepares the operation on one thread; returns null if the library does not support it. The inputs must outlive the
  // kernel.
  virtual std::unique_ptr<PeerKernel> prepare(const Operation& operation, const std::vector<const void*>& inputs) = 0;
};

struct PeerLibrary {
  std::string key;     // name on the command line
  std::string plugin;  // shared object that wraps it (see onednn.cpp), or empty
};

// Returns all supported libraries; some may not be installed.
const std::vector<PeerLibrary>& peer_libraries();
// Throws std::runtime_error, with the missing item, if the library cannot be loaded.
std::unique_ptr<Peer> load_peer(const PeerLibrary& library);

}  // namespace ferry::bench
