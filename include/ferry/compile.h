// Compiles kernels on this machine, for any target: a text, or programs of ferry/lang.h with schedules of
// ferry/schedule.h.
//
//     auto device = ferry::connect("127.0.0.1:9090");
//     auto mm = device.load(ferry::compile(source, ferry::target_of(device)))["mm"];
//
// Everything here throws CompileError.
#pragma once

#include "ferry/api.h"
#include "ferry/client.h"
#include "ferry/error.h"
#include "ferry/schedule/schedule_text.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ferry {

namespace lang {
struct Program;
}
namespace schedule {
class Schedule;
}

// Parses a target as the user writes it: "host", "raspberry-pi-4", "llvm -mtriple=... -mcpu=... -mattr=...".
FERRY_API Target target(std::string_view text);
// Returns the target to compile for so that the code runs on the device.
FERRY_API Target target_of(const Device& device);

// Compiles every function of a text in the notation of docs/language.md; `file` is the name of the text in messages.
FERRY_API CompiledModule compile(std::string_view source, const Target& target, std::string_view file = "kernel.tc");
// Compiles with the user's own schedules (docs/schedules.md): functions without a section in the text get the default
// one.
FERRY_API CompiledModule compile(std::string_view source, const Target& target, const ScheduleText& schedule,
                                 std::string_view file = "kernel.tc");
// Compiles programs built with ferry/lang.h. `source` is stored in the module for people to read.
FERRY_API CompiledModule compile(const lang::Program& program, const Target& target, std::string source = {});
FERRY_API CompiledModule compile(std::span<const lang::Program> programs, const Target& target,
                                 std::string source = {});
FERRY_API CompiledModule compile(const lang::Program& program, const schedule::Schedule& schedule, const Target& target,
                                 std::string source = {});
// Compiles with one schedule for each program.
FERRY_API CompiledModule compile(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                                 const Target& target, std::string source = {});

// Returns the source line of an address in a linked image, for ConnectOptions::source_line: "mm.tc:3", or an empty text
// when its debug information does not cover it or is missing.
FERRY_API std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address);

}  // namespace ferry
