#include "host/cli/options/measure_options.h"

#include "ferry/error.h"
#include "host/cli/options/option_checks.h"
#include "host/measure/cores.h"

namespace ferry::cli {

void add_measure_options(CLI::App& command, SamplingCommand& options) {
  BenchOptions& bench = options.bench;
  const char* const group = "Measuring";
  const auto milliseconds = [&](const char* name, double& value, const char* help) {
    command.add_option(name, value, help)->type_name("MS")->check(number(0, 1e6))->capture_default_str()->group(group);
  };
  command.add_option("--number", bench.number, "Calls in a sample, at least; 0: as many as the device's clock needs")
      ->type_name("N")
      ->check(whole_number(0, 1'000'000'000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--repeat", bench.repeat, "Number of samples, at least")
      ->type_name("N")
      ->check(whole_number(1, 50'000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--max-repeat", bench.max_repeat, "Take up to so many samples until the tolerance is met")
      ->type_name("N")
      ->check(whole_number(0, 50'000))
      ->capture_default_str()
      ->group(group);
  command.add_option("--tolerance", options.tolerance_percent, "How precisely the median must be known, in percent")
      ->type_name("PERCENT")
      ->check(number(0, 100))
      ->capture_default_str()
      ->group(group);
  milliseconds("--min-repeat-ms", bench.min_repeat_ms, "A sample takes at least this long");
  milliseconds("--warmup-ms", bench.warmup_ms, "Calls for this long come first and are not counted");
  milliseconds("--timeout-ms", bench.timeout_ms, "No sample starts later; 0: none");
  milliseconds("--cooldown-ms", bench.cooldown_ms, "Rest before each sample");
  CLI::Option* cold =
      command.add_flag("--cold", bench.cold, "Empty the caches before each sample, which is then one call")
          ->group(group);
  command
      .add_flag_callback(
          "--warm", [&options] { options.fresh_inputs = false; },
          "Give all calls the same inputs, as other tools do, instead of new ones")
      ->excludes(cold)
      ->group(group);
  command
      .add_option_function<std::string>(
          "--secret-seed", [&options](const std::string& text) { options.secret = parse_secret_seed(text); },
          "Repeat what an earlier measurement drew for each call, from the seed that it told afterwards")
      ->type_name("HEX")
      ->group(group);
  command
      .add_option("--cores", options.core_names,
                  "Where threads may run: any, big or little ones, or numbers such as 0,2-3")
      ->type_name("CORES")
      ->group(group);
  command.add_option("--threads", bench.threads, "Threads of parallel loops, at most")
      ->type_name("N")
      ->check(whole_number(1, 4096))
      ->group(group);
}

bench::SamplingOptions sampling_of(const SamplingCommand& options) {
  bench::SamplingOptions sampling = options;
  sampling.bench.tolerance = options.tolerance_percent / 100;
  if (sampling.bench.cold && sampling.bench.number > 1) {
    throw UsageError("--cold with --number " + std::to_string(sampling.bench.number) +
                     ": the second call of a sample would find the caches warm");
  }
  if (!options.core_names.empty()) bench::set_cores(options.core_names, sampling);
  return sampling;
}

}  // namespace ferry::cli
