// Another implementation that computes a network on this machine: ONNX Runtime, in a process of a Python that has it.
#pragma once

#include <string>
#include <vector>

#include "host/compiler/api/compiler.h"
#include "host/kernel/tensor_file.h"

namespace ferry {

struct NamedTensor {
  std::string name;
  TensorFile tensor;
};

struct Peer {
  std::string name = {};    // "onnxruntime"; empty: none
  std::string python = {};  // the program, searched for in PATH
  // results_of_peer(), which a program without networks does not contain.
  std::vector<NamedTensor> (*results)(const Peer& peer, const Network& network, const std::vector<NamedTensor>& inputs,
                                      const std::vector<std::string>& outputs) = nullptr;
};

// Returns what the peer computes for these outputs, which may be any tensors of the network's file, from inputs with
// the names that the file gives them. Texts become the indices that ferry has in their place (NetworkNames::labels).
// Outputs that are no tensors of numbers even so are left out. Throws UsageError that says what the peer lacks or
// refuses. The tensors pass through a folder in the temporary one.
std::vector<NamedTensor> results_of_peer(const Peer& peer, const Network& network,
                                         const std::vector<NamedTensor>& inputs,
                                         const std::vector<std::string>& outputs);

}  // namespace ferry
