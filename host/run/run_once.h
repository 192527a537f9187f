// Runs a kernel once on a device, brings back what it computed, and checks it.
//
//     verify::CheckedPair kernels = verify::read_checked_pair(compiler.get(), {.file = "mm.tc"}, "");
//     const RunReport report = run_once(open, {.kernels = std::move(kernels),
//                                              .call = {.sizes = {"M=4,N=4,K=4"}},
//                                              .by_definition = true});
//     if (!report.findings.is_fine()) std::cerr << report.findings.mistake();
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/kernel/retry.h"
#include "host/run/peer.h"
#include "host/verify/check_against.h"

namespace ferry {

struct RunRequest {
  verify::CheckedPair kernels;
  std::string function = {};  // empty: the only function
  CallOptions call = {};
  std::string target = {};     // empty: that of the device
  bool by_definition = false;  // compare with the kernel's own definition
  verify::CheckLimits limits = {};
  bool thorough = false;  // check with adversarial inputs and other sizes too
  // Outputs by name, and the .npy files to write them to. Of a network, any tensor of its nodes, or a node, has a name.
  std::map<std::string, std::string> files = {};
  std::string dump = {};  // a folder to write the inputs and all of these tensors to; empty: none
  // What outputs or tensors should be: by name, in .npy files, and all that a folder contains, as a dump names them.
  std::map<std::string, std::string> expected = {};
  std::string expected_folder = {};
  Peer peer = {};                   // what else computes the network, on this machine
  std::uint64_t most_elements = 0;  // outputs of up to so many elements are read back in any case
  bool wait_for_debugger = false;
};

struct RunOutput {
  std::size_t parameter = 0;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t elements = 0;
  std::string name;                      // as a network's file names the tensor, otherwise the parameter's
  bool is_inner = false;                 // it is a network's tensor that is no output of the network itself
  std::string file = {};                 // the file that it was written to; or empty
  std::vector<std::uint8_t> bytes = {};  // empty if it was not read back
};

struct RunReport {
  std::string device;  // the names of the device and, if that is no CPU, of the processor
  std::string target;  // the target that the kernel was compiled for
  bool is_emulated = false;
  double compile_ms = 0;
  std::size_t module_bytes = 0;
  FunctionInfo function;
  std::vector<RunOutput> outputs;
  bool has_random_inputs = false;  // they are drawn from the call's seed
  double seconds = 0;              // how long the call took
  std::vector<StepTime> steps;     // kernels of the call, if a GPU timed each
  verify::Findings findings;
};

// The session ends before definitions are evaluated on this machine. A session that is lost before anything ran there
// is opened again. Throws OptionError (output, expected, dump) as wanted_tensors() does, KernelFailed if
// the kernel itself fails, CompileError, and Error for what the device refuses.
RunReport run_once(const OpenSession& open, const RunRequest& request, const Observer& observer = {});

}  // namespace ferry
