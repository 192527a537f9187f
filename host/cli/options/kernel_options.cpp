#include "host/cli/options/kernel_options.h"

#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/schedule_option.h"

#include <charconv>
#include <optional>

namespace ferry::cli {
namespace {

// Returns nothing for a text that is no ratios.
std::optional<ErrorRatios> error_ratios(const std::string& text) {
  ErrorRatios ratios;
  const char* const end = text.data() + text.size();
  std::from_chars_result read = std::from_chars(text.data(), end, ratios.rms);
  ratios.largest = 2 * ratios.rms;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == ',')
    read = std::from_chars(read.ptr + 1, end, ratios.largest);
  const bool is_valid = read.ec == std::errc() && read.ptr == end && ratios.rms >= 0 && ratios.largest >= 0;
  return is_valid ? std::optional(ratios) : std::nullopt;
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelCommand& options, const char* file_help) {
  options.expression_name = "-e";
  command.add_option("kernel", options.file, file_help)->type_name("FILE");
  command.add_option("-e,--expression", options.expression, "The kernel's text, instead of a file")->type_name("TEXT");
  command.add_flag("-g", options.debug, "Let debuggers and reports of crashes know the lines of the source");
  command.add_option("--fn", options.function, "The function to take, where there are several")->type_name("NAME");
  command
      .add_option(
          "--fix", options.fixed,
          "Compile for these sizes alone: M=512,N=512. They are constants of the code then, and no longer arguments")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("--bind", options.bindings,
                  "The contents that an input of a network has in every call, where shapes depend on them. They are "
                  "constants of the code then, and no longer arguments")
      ->type_name("NAME=@FILE.npy")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option_function<std::string>(
          "--winograd", [&options](const std::string& word) { options.winograd = word == "on"; },
          "Whether convolutions of a network may be computed by Winograd's algorithm, which rounds differently "
          "(default: on)")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}));
  command
      .add_option_function<std::string>(
          "--int8",
          [&options](const std::string& word) {
            options.int8 = word == "auto" ? Int8Mode::automatic : word == "off" ? Int8Mode::off : Int8Mode::always;
          },
          "Whether convolutions and products of dequantized 8-bit integers in a network sum up products of the "
          "integers, which rounds differently: always, never, or but for layers that take less time in float32 "
          "(default: auto)")
      ->type_name("auto|always|off")
      ->check(CLI::IsMember({"auto", "always", "off"}));
  command
      .add_option_function<std::string>(
          "--max-error", [&options](const std::string& text) { options.max_error = *error_ratios(text); },
          "Limits the errors of Winograd's algorithm, as multiples of a direct convolution's on random data:\n"
          "the root mean square, and the largest, which is twice that if it is not given (default: 4,8)")
      ->type_name("RMS[,LARGEST]")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return error_ratios(text) ? "" : "expected RMS or RMS,LARGEST, numbers of at least 0, got '" + text + "'";
          },
          ""));
  add_schedule_options(command, options.schedule);
  add_compile_deadline(command, options.deadline);
}

void add_foreign_options(CLI::App& command, KernelOptions& options) {
  command
      .add_option(
          "--signature", options.signature,
          "How to call a kernel in C, C++, CUDA C, LLVM IR or an object: 'saxpy(f32 a, in f32[n] x, inout f32[n] y)';\n"
          "or a comment '// ferry: saxpy(...)' in the file")
      ->type_name("TEXT");
  command
      .add_option(
          "--launch", options.launch,
          "How a kernel in CUDA C is launched, over the sizes of its signature, behind which it may stand too:\n"
          "'grid=(ceildiv(n, 16), ceildiv(m, 16)), block=(16, 16), shared=4 * n'")
      ->type_name("TEXT");
  command
      .add_option("--cflags", options.c_flags,
                  "More options for clang, which compiles it with -O3, or for NVRTC; a later -O or -f option replaces "
                  "one of ferry's")
      ->type_name("FLAGS");
}

void add_foreign_pair_options(CLI::App& command, KernelCommand& a, KernelCommand& b) {
  add_foreign_options(command, a);
  command.add_option("--launch-a", a.own_launch, "How A is launched, if it is CUDA C, in place of --launch")
      ->type_name("TEXT");
  command.add_option("--launch-b", b.own_launch, "The same for B")->type_name("TEXT");
  command.add_option("--cflags-a", a.own_c_flags, "More options for clang, behind those of --cflags, for A alone")
      ->type_name("FLAGS");
  command.add_option("--cflags-b", b.own_c_flags, "The same for B")->type_name("FLAGS");
}

void add_kernel_pair_options(CLI::App& command, KernelCommand& a, KernelCommand& b) {
  command.add_option("A", a.file, "One kernel: K.tc, K.c, K.cpp, K.cu, K.ll, K.o or a compiled K.ferry")
      ->type_name("FILE")
      ->required();
  command.add_option("B", b.file, "The other one")->type_name("FILE")->required();
  command.add_option("--fn-a", a.function, "The function to take of A, where there are several")->type_name("NAME");
  command.add_option("--fn-b", b.function, "The function to take of B, where there are several")->type_name("NAME");
  command.add_option("--schedule-a", a.schedule.file, "How A is to be computed")->type_name("FILE");
  command.add_option("--schedule-b", b.schedule.file, "How B is to be computed")->type_name("FILE");
  add_knob_option(command, a.schedule.knobs, "--knob-a");
  add_knob_option(command, b.schedule.knobs, "--knob-b");
  a.schedule.point_name = "--point-a";
  b.schedule.point_name = "--point-b";
  add_point_option(command, a.schedule.points, "--point-a", " of A");
  add_point_option(command, b.schedule.points, "--point-b", " of B");
  add_compile_deadline(command, a.deadline);
}

}  // namespace ferry::cli
