// A user's description of a call's arguments.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ferry/types.h"

namespace ferry {

// An input that is there already.
struct GivenTensor {
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  // dense, row-major and little-endian
  std::string source;               // where it is from, in messages: "cat.jpg"
};

struct CallOptions {
  // "A=f32[64,128]" (random), with ":zeros", ":ones", ":iota", ":below(N)", ":uniform(A,B)", ":full" or ":normal" after
  // it; "A=:ones"; "A=@FILE.npy"; "n=5". Inputs that are not given are random, and as large as the sizes say: floats
  // from -1 to 1 and integers from -8 to 7, or, for a kernel that ferry did not write, ":full".
  std::vector<std::string> arguments;
  std::vector<std::string> sizes;                 // "M=512,N=512"
  std::uint64_t seed = 0;                         // random inputs are drawn from it
  std::map<std::string, GivenTensor> given = {};  // inputs by name, which no argument gives
};

}  // namespace ferry
