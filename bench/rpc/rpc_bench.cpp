// Measures the cost of remote calls, as ratios to bare sockets in the same run where such a peer exists. Prints a table
// in Markdown; with --json FILE also writes the figures.
//
//   ferry_rpc_bench FERRY RPC_SERVER [--json FILE]      the two programs to measure

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "bench/rpc/encrypted.h"
#include "bench/rpc/pings.h"
#include "bench/rpc/raw_peer.h"
#include "bench/rpc/report.h"
#include "bench/support/comparison.h"
#include "ferry/compile.h"
#include "host/client/state.h"
#include "tests/support/listening_server.h"

namespace {

using namespace ferry;
using bench::Comparison;
using bench::median;
using bench::Report;
using bench::seconds_of;

constexpr int kCpu = 1;
constexpr std::size_t kBulk = std::size_t{256} << 20;
constexpr const char* kPacking =
    "B: cache_read global -> packed\npacked: transform_layout (k, n) -> (n / 16, k, n % 16)";
constexpr const char* kSmallKernel = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2.0 }";

std::string format(const char* pattern, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, pattern, value);
  return buffer;
}

nlohmann::json figures_of(const Comparison& comparison) {
  return {{"ratio", comparison.ratio()},
          {"ratio_low", comparison.lowest()},
          {"ratio_high", comparison.highest()},
          {"ours_s", median(comparison.ours)},
          {"theirs_s", median(comparison.theirs)}};
}

// Both ends of both connections share one CPU, so that work is compared and not the wake-up of idle cores.
void null_call(const std::string& program, Report& report) {
  test::ListeningServer server(program, {}, {"--threads", "1"});
  const Device device = connect(server.address());
  bench::RawPeer raw;
  const Comparison ping = bench::compare_pings(*device.state()->client, raw);
  report.row("ping, against a 64-byte ping-pong of blocking sockets, all on one CPU",
             ping.text() + format("; %.1f us", median(ping.ours) * 1e6), "1.25", ping.ratio() <= 1.25,
             figures_of(ping));

  const Module module = device.load(compile(kSmallKernel, target_of(device)));
  const Function function = module["twice"];
  const std::vector<Argument> arguments = {device.filled(DType::f32, {1}, FillKind::ones),
                                           device.empty(DType::f32, {1})};
  function.call(arguments);
  const Comparison call = bench::compare_to_pings([&] { function.call(arguments); }, raw);
  report.row("call of a kernel over one element, against the same ping-pong",
             call.text() + format("; %.1f us", median(call.ours) * 1e6), "1.25", call.ratio() <= 1.25,
             figures_of(call));
}

// A product with packed weights as one of the same weights that are no constant, which packs them in every call.
void packed_calls(const std::string& program, Report& report) {
  test::ListeningServer server(program, {}, {"--threads", "1"});
  const Device device = connect(server.address());
  const auto product = [&](const char* weights) {
    const std::string text =
        std::string("def mm(float(M,K) A, ") + weights + " float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
    return device.load(compile(text, target_of(device), ScheduleText{kPacking}));
  };
  const Module constant = product("const"), variable = product("");
  const std::vector<float> numbers(64 * 64, 1);
  DeviceTensor weights = device.put(view(numbers, {64, 64}));
  const std::vector<Argument> arguments = {device.filled(DType::f32, {1, 64}, FillKind::ones), weights,
                                           device.empty(DType::f32, {1, 64})};
  const auto times = [&](const Module& module, bool writes) {
    const Function function = module["mm"];
    return bench::seconds_each([&] {
      if (writes) weights.write(numbers.data());
      function.call(arguments);
    });
  };
  const auto row = [&](const char* what, bool writes) {
    const Comparison call =
        bench::compare(25, [&] { return times(constant, writes); }, [&] { return times(variable, writes); });
    report.row(
        what,
        call.text() + format("; %.1f us", median(call.ours) * 1e6) + format(" and %.1f us", median(call.theirs) * 1e6),
        writes ? "2" : "1", call.ratio() <= (writes ? 2 : 1), figures_of(call));
  };
  row("call of a 1x64 product with 64x64 weights packed once, against one that packs in each call", false);
  row("the same after a write to the weights, which packs them again", true);
}

// Returns the kilobytes in this line of a file of a process, and of all that it has started.
long kilobytes_with_children(pid_t pid, const std::string& file, const std::string& line) {
  const std::string folder = "/proc/" + std::to_string(pid) + "/";
  long total = 0;
  std::ifstream text(folder + file);
  for (std::string word; total == 0 && text >> word;)
    if (word == line + ":") text >> total;
  std::ifstream children(folder + "task/" + std::to_string(pid) + "/children");
  for (pid_t child; children >> child;) total += kilobytes_with_children(child, file, line);
  return total;
}

// Reports the memory that a measurement takes beside its tensors. Session and runners share memory, so it is counted in
// parts.
void measured_memory(const std::string& program, Report& report) {
  constexpr std::int64_t kElements = 16 << 20;
  constexpr double kTensor = 64;  // MiB
  test::ListeningServer server(program, {}, {"--threads", "1"});
  const Device device = connect(server.address());
  const Module module =
      device.load(compile("def total(float(N) A) -> (S) { S +=! A(i) where i in 0:N }", target_of(device)));
  const DeviceTensor input = device.filled(DType::f32, {kElements}, FillKind::random);
  const DeviceTensor output = device.empty(DType::f32, {});
  std::atomic<bool> has_ended = false;
  long most = 0;
  std::thread watcher([&] {
    while (!has_ended) most = std::max(most, kilobytes_with_children(server.pid(), "smaps_rollup", "Pss"));
  });
  BenchOptions options{.number = 1, .repeat = 20, .min_repeat_ms = 0, .warmup_ms = 0};
  options.isolated = options.fresh_inputs = true;
  options.poison = {1, 1};
  module["total"].measure({input, output}, options);
  has_ended = true;
  watcher.join();
  const double megabytes = static_cast<double>(most) / 1024;
  report.row("peak Pss of the server while a sum over 64 MiB is measured with new inputs",
             format("%.1f MiB", megabytes), "144 MiB: the client's tensor and that of the runners",
             megabytes <= 2 * kTensor + 16, {{"MiB", megabytes}});
}

void bandwidth(const std::string& program, Report& report) {
  test::ListeningServer server(program);
  const Device device = connect(server.address());
  bench::RawPeer raw;
  std::vector<std::uint8_t> bytes(kBulk, 7);
  DeviceTensor tensor = device.empty(DType::u8, {static_cast<std::int64_t>(kBulk)});
  const Comparison write = bench::compare(
      9,
      [&] {
        return seconds_of([&] {
          tensor.write(bytes.data());
          device.synchronize();
        });
      },
      [&] { return seconds_of([&] { raw.write(bytes); }); });
  const Comparison read = bench::compare(
      9, [&] { return seconds_of([&] { tensor.read(bytes.data()); }); },
      [&] { return seconds_of([&] { raw.read(bytes); }); });
  for (const auto& [name, comparison] : {std::pair{"write", &write}, {"read", &read}}) {
    const double speed = 1 / comparison->ratio();
    report.row(std::string(name) + " of 256 MiB, speed against bare sockets",
               format("%.2f", speed) + format("; %.2f GB/s", kBulk / median(comparison->ours) / 1e9), "0.9",
               speed >= 0.9, figures_of(*comparison));
  }
  const double megabytes = static_cast<double>(kilobytes_with_children(server.pid(), "status", "VmHWM")) / 1024;
  report.row("peak memory of the server for one 256 MiB tensor", format("%.1f MiB", megabytes), "272 MiB",
             megabytes <= 272, {{"MiB", megabytes}});
}

void compile_time(Report& report) {
  for (const char* name : {"x86-64-v3", "raspberry-pi-3", "raspberry-pi-4",
                           "llvm -mtriple=armv7-unknown-linux-gnueabihf -mcpu=cortex-a7 -mattr=+neon",
                           "llvm -mtriple=riscv64-unknown-linux-gnu -mattr=+m,+a,+f,+d,+c,+v"}) {
    const Target for_target = target(name);
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) times.push_back(seconds_of([&] { compile(kSmallKernel, for_target); }));
    times.erase(times.begin());
    const double milliseconds = median(times) * 1e3;
    report.row("compile a small kernel, warm, for " + for_target.arch_name + " " + for_target.cpu,
               format("%.1f ms", milliseconds), "30 ms", milliseconds <= 30, {{"ms", milliseconds}});
  }
}

// Returns a module that no server has seen: its source text is unique and pads the module to 15 KB.
CompiledModule fresh_module(const Target& for_target, int number) {
  const std::size_t bare = compile(kSmallKernel, for_target).bytes().size();
  std::string text = std::string("# ") + std::to_string(number) + "\n";
  text.resize(std::max(text.size(), std::size_t{15000} - std::min<std::size_t>(bare, 14000)), '#');
  return compile(text + "\n" + kSmallKernel, for_target);
}

void new_module(const std::string& program, bool isolated, Report& report) {
  test::ListeningServer server(program, {}, {"--threads", "1"});
  const Device device = connect(server.address());
  const DeviceTensor input = device.filled(DType::f32, {16}, FillKind::ones), output = device.empty(DType::f32, {16});
  device.synchronize();
  std::vector<double> times;
  std::uint64_t round_trips = 0;
  std::size_t bytes = 0;
  for (int i = 0; i < 101; ++i) {
    const CompiledModule module = fresh_module(target_of(device), i);
    bytes = module.bytes().size();
    session::Client& client = *device.state()->client;
    const std::uint64_t before = client.round_trips();
    BenchOptions once;
    once.number = once.repeat = 1;
    once.min_repeat_ms = once.warmup_ms = 0;
    once.isolated = isolated;
    times.push_back(seconds_of([&] { device.load(module)["twice"].measure({input, output}, once); }));
    round_trips = std::max(round_trips, client.round_trips() - before);
  }
  times.erase(times.begin());
  const double milliseconds = median(times) * 1e3;
  const nlohmann::json figures = {{"ms", milliseconds}, {"round_trips", round_trips}, {"bytes", bytes}};
  if (isolated) {
    return report.row("the same with the kernel in a process of its own", format("%.2f ms", milliseconds), "-", true,
                      figures);
  }
  report.row("upload, load and time once a module of " + std::to_string(bytes) + " bytes",
             format("%.2f ms", milliseconds), "0.9 ms (aim 0.3)", milliseconds <= 0.9, figures);
  report.row("round trips for that", std::to_string(round_trips), "2", round_trips <= 2, figures);
}

void cold_run(const std::string& ferry, Report& report) {
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    times.push_back(seconds_of([&] {
      const pid_t child = fork();
      if (child == 0) {
        if (freopen("/dev/null", "w", stdout) == nullptr) _exit(127);
        execl(ferry.c_str(), "ferry", "run", "-e", kSmallKernel, "--size", "N=16", static_cast<char*>(nullptr));
        _exit(127);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) throw std::runtime_error("ferry run failed");
    }));
  }
  const double milliseconds = median(times) * 1e3;
  report.row("ferry run of a small kernel with its own server, start to end of the process",
             format("%.0f ms", milliseconds), "200 ms", milliseconds <= 200, {{"ms", milliseconds}});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3 && !(argc == 5 && std::string(argv[3]) == "--json")) {
    std::cerr << "usage: " << argv[0] << " FERRY RPC_SERVER [--json FILE]\n";
    return 2;
  }
  Report report;
  std::cout << "| what | median | goal | met |\n| --- | --- | --- | --- |\n";
  bench::pin_to_cpu(kCpu);
  null_call(argv[2], report);
  packed_calls(argv[2], report);
  bench::encrypted_calls(argv[2], report);
  new_module(argv[2], false, report);
  new_module(argv[2], true, report);
  compile_time(report);
  // Bulk transfers are fastest with one end on each CPU, for ferry as for the bare sockets.
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all);
  bandwidth(argv[2], report);
  measured_memory(argv[2], report);
  bench::encrypted_bandwidth(argv[2], report);
  cold_run(argv[1], report);
  if (argc == 5) std::ofstream(argv[4]) << report.json().dump(2) << "\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "ferry_rpc_bench: " << error.what() << "\n";
  return 1;
}
