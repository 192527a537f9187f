// What --arg, --size and --out say.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/session/ferry.h"

namespace ferry::cli {

// "A=f32[64,128]", "A=f32[64]:ones", "A=:iota", "A=@a.npy", "n=5".
struct ArgumentSpec {
  std::string name;
  std::string file;  // of the .npy; empty: none
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  FillKind kind = FillKind::random;
  std::optional<Argument::Scalar> number;
  std::string text;  // as it was typed
};

// UsageError shows the text and what was expected.
ArgumentSpec parse_argument(const std::string& text);

// "M=512,N=512", in as many texts as there are.
std::map<std::string, std::int64_t> parse_sizes(const std::vector<std::string>& texts,
                                                const std::string& option = "--size");

// "C=@c.npy" or "C=c.npy": output name to file.
std::map<std::string, std::string> parse_outputs(const std::vector<std::string>& texts);

}  // namespace ferry::cli
