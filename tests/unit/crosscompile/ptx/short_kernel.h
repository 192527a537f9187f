// Runs PTX of a few lines on the interpreter.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "crosscompile/ptx/launch.h"

namespace ferry::ptx::test {

inline constexpr Word kIn = Word{1} << 40, kOut = Word{2} << 40;

inline std::string kernel(const std::string& body, const std::string& shared = "") {
  return ".version 7.8\n.target sm_80\n.address_size 64\n" + shared +
         ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n"
         ".reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 %d<20>;\n.reg .f64 %e<9>;\n"
         "ld.param.u64 %d0, [k_param_0];\nld.param.u64 %d1, [k_param_1];\nmov.u32 %r0, %tid.x;\n" +
         body + "\nret;\n}\n";
}

struct Run {
  std::vector<std::uint8_t> in = std::vector<std::uint8_t>(256), out = std::vector<std::uint8_t>(256);
  unsigned threads = 1, blocks = 1;
  std::size_t dynamic = 0;
  std::uint64_t seed = 0;

  void operator()(const std::string& text) {
    const Program program = parse(text);
    Launch launch;
    launch.program = &program;
    launch.kernel = program.functions.at("k").get();
    launch.block[0] = threads;
    launch.grid[0] = blocks;
    launch.dynamic_bytes = dynamic;
    launch.seed = seed;
    launch.most_steps = 1 << 20;
    launch.parameters.resize(16);
    std::memcpy(launch.parameters.data(), &kIn, 8);
    std::memcpy(launch.parameters.data() + 8, &kOut, 8);
    run(launch, {{kIn, in.size(), in.data()}, {kOut, out.size(), out.data()}});
  }
  template <class T>
  T at(std::size_t i) const {
    T value;
    std::memcpy(&value, out.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

// Returns the bits that one instruction leaves in %r1 (or another 32-bit register).
inline std::uint32_t bits_of_result(const std::string& code, const std::string& result = "%r1") {
  Run once;
  once(kernel(code + "\nst.global.b32 [%d1], " + result + ";"));
  return once.at<std::uint32_t>(0);
}
inline std::uint64_t long_bits(const std::string& code, const std::string& result = "%d2") {
  Run once;
  once(kernel(code + "\nst.global.b64 [%d1], " + result + ";"));
  return once.at<std::uint64_t>(0);
}
inline float float_of(const std::string& code) {
  const std::uint32_t bits = bits_of_result(code, "%f1");
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

inline void expect_fault(FaultKind kind, const std::string& words, Run run, const std::string& text) {
  INFO(text);
  try {
    run(text);
    FAIL_CHECK("expected a fault: " << words);
  } catch (const Fault& fault) {
    INFO(std::string(fault.what()));
    CHECK(fault.kind == kind);
    CHECK(std::string(fault.what()).find(words) != std::string::npos);
  }
}
inline Run with_threads(unsigned threads, unsigned blocks = 1) {
  Run run;
  run.threads = threads;
  run.blocks = blocks;
  return run;
}

inline const std::string kSharedArray = ".shared .align 4 .b8 s[256];\n";
inline const std::string kOwnPlace =
    "mul.wide.u32 %d3, %r0, 4;\nadd.s64 %d4, %d1, %d3;\nmov.u64 %d5, s;\nadd.s64 %d6, %d5, %d3;\n";

}  // namespace ferry::ptx::test
