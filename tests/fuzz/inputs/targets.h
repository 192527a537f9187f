// Fuzz targets for all code that parses untrusted bytes: each target must return for any input, whether it accepts it
// or not. libFuzzer runs them (scripts/fuzz_inputs.sh), and every test run replays the corpora in tests/fuzz/corpus.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::fuzz {

using Input = std::span<const std::uint8_t>;

void fuzz_frame(Input input);     // preamble, frames, every message's body
void fuzz_dispatch(Input input);  // a session after its opening
void fuzz_farm(Input input);      // messages between a farm's tracker, boards and clients, and a board's leases
void fuzz_manifest(Input input);  // .ferry files, manifests, their expressions
void fuzz_plan(Input input);      // manifests, with their plans bound for several sizes
void fuzz_elf(Input input);       // the loader of code images, and the data passed to debuggers
void fuzz_http(Input input);      // the routes of a farm's page and JSON interface
void fuzz_npy(Input input);
void fuzz_media(Input input);  // pictures, sound and archives of arrays
void fuzz_tc(Input input);     // the text notation
void fuzz_toml(Input input);   // farm.toml and the gate's suites
void fuzz_onnx(Input input);   // networks in ONNX's format

struct Target {
  const char* name;
  void (*run)(Input);
};

inline constexpr Target kTargets[] = {{"frame", fuzz_frame},       {"dispatch", fuzz_dispatch}, {"farm", fuzz_farm},
                                      {"manifest", fuzz_manifest}, {"plan", fuzz_plan},         {"elf", fuzz_elf},
                                      {"npy", fuzz_npy},           {"media", fuzz_media},       {"tc", fuzz_tc},
                                      {"onnx", fuzz_onnx},         {"http", fuzz_http},         {"toml", fuzz_toml}};

}  // namespace ferry::fuzz
