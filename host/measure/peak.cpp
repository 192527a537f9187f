#include "host/measure/peak.h"

#include <algorithm>

#include "crosscompile/ir/expr.h"
#include "ferry/lang/program.h"
#include "ferry/lang/tensor.h"
#include "ferry/operators.h"

namespace ferry::bench {

namespace {

using ir::Expr;
using ir::For;
using ir::ForKind;
using ir::Stmt;

// More than latency times throughput of any core's multiply-add units, and few enough to stay in 16 registers.
constexpr int kChains = 12;
const BenchOptions kOptions{1, 7, 3, 3};

ir::BufferRef buffer(const char* name, DType dtype, std::vector<Expr> shape, ir::Scope scope) {
  auto made = std::make_shared<ir::Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

// Makes independent chains of x * a + b in registers, `rounds` long, with one set of chains for each task. The default
// schedule would give a reduction one chain; this is an upper bound for hand-scheduled kernels.
ir::Function chains_function(DType dtype, int lanes) {
  const Expr tasks = ir::Var::make("tasks"), rounds = ir::Var::make("rounds");
  const Expr task = ir::Var::make("task"), round = ir::Var::make("round");
  const auto factors = buffer("factors", dtype, {2 * lanes}, ir::Scope::parameter);
  const auto sums = buffer("sums", dtype, {tasks, lanes}, ir::Scope::parameter);
  const auto chains = buffer("chains", dtype, {kChains, lanes}, ir::Scope::local);

  // for chain (unrolled) for lane (vectorized) body(chain, lane)
  const auto everywhere = [&](auto body) {
    const Expr chain = ir::Var::make("chain"), lane = ir::Var::make("lane");
    return For::make(chain, 0, kChains, ForKind::unrolled,
                     For::make(lane, 0, lanes, ForKind::vectorized, body(chain, lane)));
  };
  const auto at = [&](const Expr& chain, const Expr& lane) { return ir::Load::make(chains, {chain, lane}); };
  const Stmt start = everywhere([&](const Expr& chain, const Expr& lane) {
    return ir::Store::make(chains, {chain, lane}, ir::cast(dtype, chain));
  });
  const Stmt step = everywhere([&](const Expr& chain, const Expr& lane) {
    const Expr a = ir::Load::make(factors, {lane}), b = ir::Load::make(factors, {lane + lanes});
    return ir::Store::make(chains, {chain, lane}, at(chain, lane) * a + b);
  });
  const Expr lane = ir::Var::make("lane");
  Expr sum = at(0, lane);
  for (int chain = 1; chain < kChains; ++chain) sum = sum + at(chain, lane);
  const Stmt finish = For::make(lane, 0, lanes, ForKind::vectorized, ir::Store::make(sums, {task, lane}, sum));
  const Stmt body =
      ir::Allocate::make(chains, ir::Block::make({start, For::make(round, 0, rounds, ForKind::serial, step), finish}));

  ir::Function function;
  function.name = "chains";
  function.parameters = {{"factors", ParameterKind::tensor, Direction::in, factors, {}},
                         {"tasks", ParameterKind::scalar, Direction::in, nullptr, tasks},
                         {"rounds", ParameterKind::scalar, Direction::in, nullptr, rounds},
                         {"sums", ParameterKind::tensor, Direction::out, sums, {}}};
  function.symbols = {tasks, rounds};
  function.flops = tasks * rounds * (2 * kChains * lanes);
  function.body = For::make(task, 0, tasks, ForKind::parallel, body);
  return function;
}

// Returns the number of threads with which the server runs a parallel loop.
std::int64_t threads_of(const Device& device, const BenchOptions& bench) {
  constexpr std::uint32_t kMost = 4096;
  std::uint32_t threads = std::clamp(device.facts().threads, 1u, kMost);
  if (bench.threads != 0) threads = std::min(threads, bench.threads);
  if (!bench.cores.empty()) threads = std::min(threads, static_cast<std::uint32_t>(bench.cores.size()));
  return threads;
}

BenchOptions options_like(const BenchOptions& bench) {
  BenchOptions options = kOptions;
  options.threads = bench.threads;
  options.cores = bench.cores;
  // In the session's own process their code could rule it, as far as the server knows.
  options.isolated = bench.isolated;
  return options;
}

// The shortest time of a call, which is long enough for every clock. Throws Error with protocol_error if it is 0.
double shortest(const Timing& timing) {
  if (timing.minimum() > 0) return timing.minimum();
  throw Error(ErrorCode::protocol_error, "evaluate: expected the time of a peak to be above 0 s, got 0");
}

// Returns a function that measures operations a second.
std::function<double()> flops_meter(const Device& device, const Compiler& compiler, const Target& target, DType dtype,
                                    const BenchOptions& bench) {
  const int lanes = static_cast<int>(std::max(1u, target.lanes(static_cast<std::uint32_t>(dtype_bytes(dtype)))));
  const ir::Function function = chains_function(dtype, lanes);
  const Function chains = device.load(CompiledModule(compiler.compile(std::span(&function, 1), target)))["chains"];
  // Factors of zero keep every chain finite and normal whatever its length.
  const DeviceTensor factors = device.filled(dtype, {2 * lanes}, FillKind::zeros);
  const std::int64_t tasks = threads_of(device, bench);
  const BenchOptions options = options_like(bench);
  BenchOptions once = options;
  once.repeat = 1;
  once.min_repeat_ms = once.warmup_ms = 0;
  std::int64_t rounds = 1000;
  while (chains.measure({factors, tasks, rounds}, once).minimum() <= 300e-6 && rounds <= 1'000'000) rounds *= 4;
  return [=] {
    const double seconds = shortest(chains.measure({factors, tasks, rounds}, options));
    return static_cast<double>(tasks * rounds * 2 * kChains * lanes) / seconds;
  };
}

}  // namespace

std::function<double()> copy_meter(const Device& device, const Compiler& compiler, const Target& target,
                                   std::uint64_t traffic_bytes, const BenchOptions& bench) {
  constexpr std::uint64_t kLeast = 16 << 10, kMost = 256 << 20;
  const std::uint64_t traffic = std::clamp(traffic_bytes, kLeast, kMost);
  const Expr count = lang::var("N");
  const lang::Tensor from = lang::placeholder({count}, DType::f32, "A");
  const lang::Tensor to = lang::compute({count}, [&](const std::vector<Expr>& i) { return from(i[0]); }, "B");
  const lang::Program program = lang::make_program("copy", {lang::in(from), lang::out(to)});
  const Scheduled scheduled{std::span(&program, 1)};
  const Function copy = device.load(CompiledModule(compiler.compile({scheduled, target}).module))["copy"];
  const DeviceTensor source = device.filled(DType::f32, {static_cast<std::int64_t>(traffic / 8)}, FillKind::ones);
  const BenchOptions options = options_like(bench);
  return [=] { return static_cast<double>(traffic) / shortest(copy.measure({source}, options)); };
}

std::function<Peak()> peak_meter(const Device& device, const Compiler& compiler, const Target& target, DType dtype,
                                 std::uint64_t traffic_bytes, const BenchOptions& bench) {
  return [flops = flops_meter(device, compiler, target, dtype, bench),
          bytes = copy_meter(device, compiler, target, traffic_bytes, bench)] { return Peak{flops(), bytes()}; };
}

Peak better(const Peak& a, const Peak& b) { return {std::max(a.flops, b.flops), std::max(a.bytes, b.bytes)}; }

}  // namespace ferry::bench
