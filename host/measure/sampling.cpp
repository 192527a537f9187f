#include "host/measure/sampling.h"

#include "ferry/bench/environment.h"
#include "ferry/error.h"
#include "host/measure/cores.h"

namespace ferry::bench {

BenchOptions options_for(const SamplingOptions& options, const Device& device) {
  BenchOptions bench = options.bench;
  bench.isolated = options.isolated;
  bench.fresh_inputs = options.fresh_inputs;
  if (bench.cold) {
    if (bench.number > 1) {
      throw UsageError("cold caches with " + std::to_string(bench.number) +
                       " calls a sample: the second call of a sample would find the caches warm");
    }
    bench.number = 1;
    bench.min_repeat_ms = 0;
  }
  if (options.cores != CoreKind::any) {
    if (!bench.cores.empty()) throw UsageError("expected either a kind of cores or their numbers, got both");
    bench.cores = cores_of_kind(device, options.cores);
  }
  for (std::string& path : watched_paths()) bench.watch.push_back(std::move(path));
  return bench;
}

SecretSeed secret_for(const SamplingOptions& options) {
  return options.secret.exists() ? options.secret : draw_secret_seed();
}

}  // namespace ferry::bench
