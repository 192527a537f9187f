// A user's choice of a kernel and of its schedule.
#pragma once

#include <string>
#include <vector>

#include "ferry/error_ratios.h"
#include "ferry/int8_mode.h"

namespace ferry {

// Names accepted instead of a schedule file: the default schedule, and serial loops in the order of the definition.
inline constexpr const char* kDefaultSchedule = "default";
inline constexpr const char* kUnscheduled = "none";

struct ScheduleOptions {
  std::string file;                    // a file of directives, or one of the names above; "-": stdin
  std::string text;                    // instead of a file: directives with ';' or newlines between them
  std::string text_name = "schedule";  // in messages
  std::vector<std::string> knobs;      // NAME=VALUE
  // Values for knobs of the default schedule, each "C: tile=4x2, order=rows_outside": docs/autoschedule.md.
  std::vector<std::string> points = {};
  std::string point_name = "point";  // in messages
};

struct KernelOptions {
  std::string file;        // K.tc, C, C++ or CUDA C, LLVM IR, assembly, an object or K.ferry; "-": stdin
  std::string expression;  // instead of a file, with expression_name in messages
  std::string expression_name = "kernel.tc";
  std::string function;  // empty: the only function
  ScheduleOptions schedule;
  std::string signature = {};              // for a kernel that ferry did not write
  std::string launch = {};                 // for a kernel in CUDA C: "grid=(n + 255) / 256, block=256"
  std::string c_flags = {};                // for its compiler, separated by spaces
  std::vector<std::string> fixed = {};     // sizes to compile for alone, each "M=512,N=512"
  std::vector<std::string> bindings = {};  // inputs of a network with their contents, each "shape=@shape.npy"
  bool winograd = true;  // convolutions of a network may be computed by Winograd's algorithm, which rounds differently
  Int8Mode int8 = Int8Mode::automatic;      // how products of dequantized integers in a network are computed
  ErrorRatios max_error = kMaxErrorRatios;  // the limit for Winograd's algorithm
  bool debug = false;                       // with source lines
};

}  // namespace ferry
