#include <cstdio>
#include <memory>
#include <string>

#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/check_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/text/style.h"
#include "host/verify/check.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  CallOptions call;
  CheckOptions check;
  std::string target;
  std::string against;  // path of a file
  std::string junit;    // path of a file
  double call_deadline = verify::CheckRequest().call_deadline;
  bool json = false;
  bool verbose = false;
};

text::Json to_json(const verify::CheckReport& found, const Options& options) {
  return {{"schema", "ferry.check/1"},
          {"function", found.function},
          {"target", found.target},
          {"fine", found.is_fine()},
          {"mistake", found.mistake.empty() ? text::Json(nullptr) : text::Json(found.mistake)},
          {"report", found.details},
          {"not_confined", found.not_confined},
          {"isolation", "none"},
          {"seed", options.call.seed},
          {"check", checks_json(found.findings.checks)},
          {"compared", comparisons_json(found.findings.compared)},
          {"probes", probes_json(found.findings.probes)},
          {"warnings", found.findings.warnings}};
}

void print_fine(const verify::CheckReport& found, const Options& options, bool sanitized) {
  const std::string head = found.function + ": " + text::painted(stdout, text::Color::green, "fine");
  if (is_cuda_source(options.kernel.file)) {
    printf(
        "%s: no race, no access outside of a tensor or a shared array, and nothing read before it was written, as "
        "compiled for %s\n",
        head.c_str(), target_text(found.target, options.verbose).c_str());
  } else if (sanitized) {
    printf("%s: clang's sanitizers found nothing with these inputs\n", head.c_str());
  } else {
    printf("%s: no race, and every index inside of its tensor, as compiled for %s\n", head.c_str(),
           target_text(found.target, options.verbose).c_str());
  }
}

int run_check(const Compiler& compiler, const Options& options, text::JUnitReport& report) {
  const bool sanitized = is_foreign(options.kernel.file);
  expect_checked(options.check, !sanitized || !options.against.empty());
  const verify::CheckReport found = verify::check(compiler,
                                                  {options.kernel, options.call, options.target, options.against,
                                                   options.check.limits, options.check.thorough, options.call_deadline},
                                                  terminal(options.kernel.deadline));
  const std::string& name = found.function;
  report.cases.push_back(
      {.name = name + (sanitized && !is_cuda_source(options.kernel.file) ? " under sanitizers" : " thread by thread"),
       .failure = found.mistake});
  add_cases(found.findings, options.against, report);
  for (const std::string& missing : found.not_confined) text::print_note("not confined: " + missing);
  if (options.json) {
    text::print_json(to_json(found, options));
  } else {
    for (const std::string& line : lines_of(found.findings, options.against)) printf("%s\n", line.c_str());
    if (found.mistake.empty()) print_fine(found, options, sanitized);
    printf("%s\n", inputs_text(options.call.seed).c_str());
    printf("isolation: none: results are checked, and no time is taken\n");
  }
  print_warnings(found.findings);
  if (found.is_fine()) return kExitFine;
  fflush(stdout);
  if (!found.mistake.empty()) {
    if (!options.json) fputs(found.details.c_str(), stderr);
    text::print_error(name + ": " + found.mistake);
  }
  print_mistakes(found.findings, options.kernel.file, options.against);
  return kExitWrongResult;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      *app.add_subcommand("check", "Run a kernel's loops, blocks and threads step by step and look for mistakes");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, K.c, K.cpp, K.cu, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  command
      .add_option(
          "--target", options->target,
          "What it is compiled for (default: cuda for CUDA C, opencl when the schedule binds loops to threads, else "
          "this machine); see 'ferry targets'")
      ->type_name("TARGET");
  CLI::Option* const seed = &add_call_options(command, options->call, DefaultSeed::if_checked);
  add_tolerance_options(command, options->check);
  add_check_against_option(command, options->against);
  add_deadline(command, "--call-deadline", options->call_deadline,
               "Limit for running a kernel in C, C++ or CUDA C once (default: 60)");
  add_json_option(command, options->json);
  add_junit_option(command, options->junit);
  add_verbose_option(command, options->verbose);
  command.footer(
      "Nothing runs on a device: each thread runs from barrier to barrier, every index is checked against its tensor,\n"
      "every value must have been written before it is read, and no two threads may meet at an element that one of\n"
      "them writes. Then the results are compared with the definition. Small sizes find most mistakes; this is "
      "slow.\n"
      "A kernel in C or C++ runs on this machine, compiled with clang's sanitizers of addresses and undefined "
      "behaviour.\n"
      "One in CUDA C is compiled to PTX by NVRTC, whose blocks and threads are interpreted likewise.\n"
      "Compilers and kernels are confined, since these may be anybody's: no network, no files but those of the\n"
      "compiler, of the kernel's folder and of -I folders.\n\n"
      "Exit codes: 0 no mistake; 1 a race, an index outside, a wrong result; others as of every command.\n\n"
      "Examples:\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=33,N=65,K=17\n"
      "  ferry check mm.tc --schedule gpu.schedule --size M=64,N=64,K=64 --target 'cuda -arch=sm_80'\n"
      "  ferry check mine.c --size M=33,N=65,K=17 --check-against mm.tc\n"
      "  ferry check mine.cu --size M=33,N=65,K=17 --check-against mm.tc");
  command.callback([options, seed, &chosen] {
    if (!options->against.empty()) draw_seed(*seed, options->kernel.file, options->call);
    chosen = [options](const Compiler* compiler) {
      const Compiler& needed = expect_compiler(compiler, "ferry check");
      return with_junit(options->junit, "ferry check " + options->kernel.file,
                        [&](text::JUnitReport& report) { return run_check(needed, *options, report); });
    };
  });
}

}  // namespace ferry::cli
