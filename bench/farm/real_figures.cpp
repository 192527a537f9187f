#include <atomic>
#include <thread>

#include "bench/farm/figures.h"
#include "bench/support/comparison.h"
#include "ferry/client.h"
#include "ferry/compile.h"

namespace ferry::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kNullKernel = "def twice(float(N) A) -> (B) { B(i) = A(i) * 2.0 }";

// One lease, or one session with a server that belongs to no farm, in which the kernel is called for so long.
void run_session(const std::string& remote, const std::string& key_file, const CompiledModule& module,
                 std::chrono::milliseconds work = {}) {
  ConnectOptions options;
  options.key_file = key_file;
  const Device device = connect(remote, options);
  const Module loaded = device.load(module);
  const Function function = loaded["twice"];
  const std::vector<Argument> arguments = {device.filled(DType::f32, {1}, FillKind::ones),
                                           device.empty(DType::f32, {1})};
  const auto until = Clock::now() + work;
  do {
    function.call(arguments);
  } while (Clock::now() < until);
}

CompiledModule null_module(const std::string& remote, const std::string& key_file) {
  ConnectOptions options;
  options.key_file = key_file;
  return compile(kNullKernel, target_of(connect(remote, options)));
}

// Returns cycles a second.
double rate(const RealFarm& farm, std::size_t clients, std::chrono::seconds duration) {
  const CompiledModule module = null_module(farm.remote("b0"), farm.key_file());
  std::atomic<std::size_t> cycles{0};
  const auto begin = Clock::now(), until = begin + duration;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < clients; ++i) {
    threads.emplace_back([&] {
      for (; Clock::now() < until; ++cycles) run_session(farm.remote("tag:busy"), farm.key_file(), module);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(cycles) / std::chrono::duration<double>(Clock::now() - begin).count();
}

void measure_rate(const Programs& programs, Report& report, Database database, int fsync_ms, std::size_t clients,
                  double aim) {
  RealFarm farm({programs.ferry, programs.rpc_server, programs.slow_fsync, database, fsync_ms, clients, clients});
  for (std::size_t i = 0; i < clients; ++i) farm.start_board(i);
  farm.wait_for_boards(clients);
  const double found = rate(farm, clients, programs.duration);
  report.row(std::string("lease, session, null call, release: ") + name_of(database) +
                 (fsync_ms > 0 ? ", " + std::to_string(fsync_ms) + " ms added to each fsync" : std::string()) +
                 (clients == 1 ? ", in sequence" : ", " + std::to_string(clients) + " clients and boards"),
             text_of("%.0f/s", found), text_of("%.0f/s", aim), found >= aim, {{"per_second", found}});
}

}  // namespace

void measure_cycles(const Programs& programs, Report& report) {
  measure_rate(programs, report, Database::sqlite, 0, 1, 150);
  measure_rate(programs, report, Database::postgres, 0, 1, 120);
  measure_rate(programs, report, Database::sqlite, 10, 1, 40);
  measure_rate(programs, report, Database::postgres, 10, 1, 40);
  measure_rate(programs, report, Database::sqlite, 10, 32, 300);
  measure_rate(programs, report, Database::postgres, 10, 32, 300);
}

void measure_overhead(const Programs& programs, Report& report) {
  RealFarm farm({programs.ferry, programs.rpc_server, programs.slow_fsync});
  farm.start_board(0);
  farm.wait_for_boards(1);
  const std::string plain = farm.start_plain_server();
  const CompiledModule module = null_module(plain, farm.key_file());
  const auto seconds = [&](const std::string& remote) {
    return seconds_of([&] { run_session(remote, farm.key_file(), module, std::chrono::milliseconds(100)); });
  };
  const Comparison times = compare(15, [&] { return seconds(farm.remote("b0")); }, [&] { return seconds(plain); });
  const double overhead = (median(times.ours) - median(times.theirs)) * 1e3;
  report.row("a lease around a session of 100 ms, beyond the session", text_of("%.1f ms", overhead), "5 ms",
             overhead <= 5, {{"milliseconds", overhead}});
}

}  // namespace ferry::bench
