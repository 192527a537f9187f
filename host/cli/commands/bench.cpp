#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/printable.h"
#include "host/bench/measure.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/measure_options.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/options/with_option.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  CallOptions call;
  SamplingCommand sampling{bench::MeasureOptions().sampling};
  RemoteOptions remote;
  std::vector<std::string> addresses;
  std::string target;
  std::string sweep;
  bool without_peak = false;
  bool json = false;
};

BenchFailure failure_of(const bench::FailedDevice& device) {
  const auto failure = [&](const std::string& code, const std::exception& error, int exit_code) {
    return BenchFailure{device.name, code, error.what(), exit_code};
  };
  try {
    std::rethrow_exception(device.error);
  } catch (const KernelFailed& error) {
    return failure("kernel_failed", error, kExitWrongResult);
  } catch (const UsageError& error) {
    return failure("usage", error, kExitUserError);
  } catch (const CompileError& error) {
    return failure("compile", error, kExitUserError);
  } catch (const Error& error) {
    return failure(error_name(error.code()), error, exit_code_of(error.code()));
  } catch (const RemoteError& error) {
    return failure(error_name(error.code()), error, exit_code_of(error.code()));
  }
}

BenchRun measure(const Options& options) {
  bench::MeasureOptions how;
  how.sampling = sampling_of(options.sampling);
  how.peak = !options.without_peak;
  bench::Sweep sweep;
  if (!options.sweep.empty()) sweep = with_option("--sweep", [&] { return bench::parse_sweep(options.sweep); });
  const bench::MeasuredKernel kernel{read_kernel(options.kernel, terminal()), options.kernel.function, options.target,
                                     options.call};
  std::vector<bench::NamedDevice> devices;
  for (const std::string& address : options.addresses) {
    RemoteOptions remote = options.remote;
    remote.address = address;
    devices.push_back({address, opening(remote)});
  }
  if (devices.empty()) devices.push_back({"this machine", opening(options.remote)});
  const Observer observer = terminal(first_deadline(options.kernel.deadline, options.remote.deadlines.session));
  bench::Measurements found = bench::measure_on(devices, kernel, sweep, how, observer);
  if (devices.size() == 1 && found.done.empty()) std::rethrow_exception(found.failures.front().error);
  BenchRun run{std::move(found.done), {}};
  for (const bench::FailedDevice& device : found.failures) run.failures.push_back(failure_of(device));
  return run;
}

int bench(const Options& options) {
  const BenchRun run = measure(options);
  if (options.json) {
    print_json(to_json(run));
  } else if (run.reports.size() == 1) {
    print_report(run.reports.front());
  } else if (!run.reports.empty()) {
    print_table(run.reports);
  }
  fflush(stdout);
  int code = kExitFine;
  for (const BenchFailure& failure : run.failures) {
    fprintf(stderr, "ferry: %s: %s\n", failure.device.c_str(), printable_lines(failure.message).c_str());
    code = std::max(code, failure.exit_code);
  }
  return code;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("bench", "Time a kernel on its device, or on several");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.ll, K.o, a compiled K.ferry, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_remotes_option(command, options->addresses, options->remote);
  add_target_option(command, options->target);
  add_call_options(command, options->call);
  command.add_option("--sweep", options->sweep, "Measure for each size: N=2^8..2^24, N=100..500+100 or N=1,7,64")
      ->type_name("NAME=SIZES");
  add_measure_options(command, options->sampling);
  command.add_flag("--no-peak", options->without_peak, "Do not measure what the device can do at best");
  add_json_option(command, options->json);
  command.footer(
      "docs/measuring.md says how times are taken, what the numbers mean and what --json prints.\n\n"
      "Examples:\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512 --schedule mm.schedule\n"
      "  ferry bench add.tc --sweep N=2^8..2^24 --cold --cores big --threads 1\n"
      "  ferry bench mm.ferry --size M=512,N=512,K=512 -r 192.168.1.17:9090 -r 192.168.1.18:9090 --json");
  command.callback([options, &chosen, &command] {
    // An explicit number of samples is not extended.
    if (command.count("--repeat") > 0 && command.count("--max-repeat") == 0) options->sampling.bench.max_repeat = 0;
    chosen = [options] { return bench(*options); };
  });
}

}  // namespace ferry::cli
