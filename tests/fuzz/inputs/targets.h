// What takes bytes from strangers: each target must come back from any input, whatever it says of it. Run by libFuzzer
// (scripts/fuzz_inputs.sh), and over the corpora in tests/fuzz/corpus with every test run.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::fuzz {

using Input = std::span<const std::uint8_t>;

void fuzz_frame(Input input);     // preamble, frames, every message's body
void fuzz_dispatch(Input input);  // a session, after its opening
void fuzz_manifest(Input input);  // .ferry files, manifests, their expressions
void fuzz_elf(Input input);       // the loader of code images, and what debuggers are given
void fuzz_npy(Input input);
void fuzz_tc(Input input);  // the text notation

struct Target {
  const char* name;
  void (*run)(Input);
};

inline constexpr Target kTargets[] = {{"frame", fuzz_frame}, {"dispatch", fuzz_dispatch}, {"manifest", fuzz_manifest},
                                      {"elf", fuzz_elf},     {"npy", fuzz_npy},           {"tc", fuzz_tc}};

}  // namespace ferry::fuzz
