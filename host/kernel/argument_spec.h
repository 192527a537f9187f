// Parses how a user writes the arguments and the sizes of a call.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/distribution.h"
#include "module/manifest.h"

namespace ferry {

// "A=f32[64,128]", "A=f32[64]:ones", "A=:iota", "I=i32[64]:below(100)", "A=@a.npy", "n=5".
struct ArgumentSpec {
  std::string name;
  std::string file;  // the .npy file; empty: none
  std::optional<DType> dtype;
  std::optional<Shape> shape;
  FillKind kind = FillKind::random;
  std::optional<Distribution> distribution;  // instead of the kind
  bool has_contents = false;                 // one of them was typed
  std::optional<Argument::Scalar> number;
  std::string text;  // as it was typed
};

// `names` are those of the parameters; one may contain '='. If there are none, the name ends at the first '=' behind
// which there is a value. Throws OptionError (argument) that shows the text and what was expected.
ArgumentSpec parse_argument(const std::string& text, const std::vector<std::string>& names = {});
// The names of a function's parameters, for parse_argument().
std::vector<std::string> parameter_names(const FunctionInfo& function);

// Parses "M=512,N=512" in each of the texts. Throws OptionError about `option`, which is size or fixed_size.
std::map<std::string, std::int64_t> parse_sizes(const std::vector<std::string>& texts, Option option = Option::size);

}  // namespace ferry
