// Compares one ferry kernel with one peer by running them in turns in this process. Reads a Request as JSON from a file
// and prints the result as JSON: seconds per run of each, round by round. A separate process for each comparison keeps
// the libraries apart from each other and from LLVM.
//
//   ferry_kernel_duel REQUEST

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iostream>

#include "bench/kernels/ferry_kernel.h"
#include "bench/kernels/peer.h"
#include "bench/kernels/reference.h"
#include "bench/kernels/request.h"
#include "bench/kernels/tensors.h"
#include "bench/support/comparison.h"

namespace {

using namespace ferry;
using bench::seconds_of;

constexpr double kSecondsASample = 0.02;
constexpr std::int64_t kCheckedElements = 1000;

// Runs a function often enough to time it accurately; returns seconds per run.
class Sampler {
 public:
  explicit Sampler(std::function<void()> run) : run_(std::move(run)) {
    run_();
    const double once = seconds_of(run_);
    while (once * number_ < kSecondsASample && number_ < 1'000'000) number_ *= 2;
  }
  double operator()() const {
    return seconds_of([&] {
             for (int i = 0; i < number_; ++i) run_();
           }) /
           number_;
  }

 private:
  std::function<void()> run_;
  int number_ = 1;
};

// memcpy of half the bytes, since as many bytes are read as are written.
class Copy final : public bench::PeerKernel {
 public:
  explicit Copy(double bytes) : from_(static_cast<std::size_t>(bytes / 2), 1), to_(from_.size()) {}
  void run() override { std::memcpy(to_.data(), from_.data(), from_.size()); }
  void copy_result(void*) override {}

 private:
  std::vector<std::uint8_t> from_, to_;
};

class SingleThread final : public bench::PeerKernel {
 public:
  SingleThread(std::span<const std::uint8_t> module, const std::vector<void*>& memory) : kernel_(module, 1) {
    kernel_.set_arguments(memory);
  }
  void run() override { kernel_.run(); }
  void copy_result(void*) override {}

 private:
  bench::FerryKernel kernel_;
};

struct Opponent {
  std::unique_ptr<bench::Peer> loaded;
  std::unique_ptr<bench::PeerKernel> kernel;  // null: the library does not support the operation
  std::string name, instructions;
};

Opponent find_opponent(const bench::Request& request, std::span<const std::uint8_t> module,
                       const bench::Tensors& tensors) {
  if (request.peer == bench::kCopyPeer) return {nullptr, std::make_unique<Copy>(request.bytes), "memcpy", ""};
  if (request.peer == bench::kSinglePeer) {
    return {nullptr, std::make_unique<SingleThread>(module, tensors.for_ferry()), "ferry, 1 thread", ""};
  }
  for (const bench::PeerLibrary& library : bench::peer_libraries()) {
    if (library.key != request.peer) continue;
    Opponent opponent;
    opponent.loaded = bench::load_peer(library);
    opponent.kernel = opponent.loaded->prepare(request.operation, tensors.plain_inputs());
    opponent.name = opponent.loaded->name();
    opponent.instructions = opponent.loaded->instructions();
    return opponent;
  }
  throw std::runtime_error("expected a peer of the list, got '" + request.peer + "'");
}

nlohmann::json deviation_of(const bench::Request& request, const bench::Tensors& tensors, const void* result) {
  const bench::Deviation deviation = bench::check_result(request.operation, tensors.plain_inputs(), result,
                                                         tensors.result_elements(), kCheckedElements);
  return {{"largest", deviation.absolute},
          {"allowed", deviation.allowed},
          {"checked", deviation.checked},
          {"good", deviation.is_good}};
}

std::vector<std::uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json fight(const bench::Request& request) {
  // Pins the process before a library determines how many processors it may use.
  if (request.threads == 1) bench::pin_to_cpu(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) - 1);
  const std::vector<std::uint8_t> module = read_file(request.module);
  bench::FerryKernel ferry(module, request.threads);
  const bench::Tensors tensors(ferry, request);
  ferry.set_arguments(tensors.for_ferry());
  const Opponent opponent = find_opponent(request, module, tensors);
  if (opponent.kernel == nullptr) return {{"absent", true}};

  const bench::Comparison comparison =
      bench::compare(static_cast<std::size_t>(request.rounds), Sampler([&] { ferry.run(); }),
                     Sampler([&] { opponent.kernel->run(); }));
  nlohmann::json answer = {{"ours", comparison.ours},
                           {"theirs", comparison.theirs},
                           {"peer", opponent.name},
                           {"instructions", opponent.instructions},
                           {"implementation", opponent.kernel->implementation()}};
  answer["deviation"] = deviation_of(request, tensors, tensors.ferry_result().data());
  if (opponent.loaded != nullptr) {
    std::vector<std::uint8_t> result(tensors.ferry_result().size());
    opponent.kernel->copy_result(result.data());
    answer["peer_deviation"] = deviation_of(request, tensors, result.data());
  }
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  nlohmann::json answer;
  try {
    if (argc != 2) throw std::runtime_error("expected the path of a request");
    std::ifstream file(argv[1]);
    answer = fight(nlohmann::json::parse(file).get<bench::Request>());
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  // A library may have written to stdout before, so the answer gets a line of its own.
  std::cout << "\n" << answer.dump() << std::endl;
  _exit(0);  // without the destructors of a library's thread pool
}
