#include "host/kernel/network_source.h"

#include "host/client/npy/npy.h"
#include "host/kernel/argument_spec.h"

namespace ferry {

NetworkSource network_source(const std::string& file, const std::vector<std::string>& sizes,
                             const std::vector<std::string>& bindings, Option size_option) {
  NetworkSource source = {file, parse_sizes(sizes, size_option), {}};
  for (const std::string& text : bindings) {
    const std::size_t at = text.find("=@");
    if (at == std::string::npos || at == 0 || at + 2 == text.size()) {
      throw OptionError(Option::binding, text + ": expected NAME=@FILE.npy");
    }
    npy::Array array = npy::read(text.substr(at + 2));
    BoundTensor tensor = {array.dtype, std::move(array.shape), std::move(array.bytes)};
    if (!source.bindings.emplace(text.substr(0, at), std::move(tensor)).second) {
      throw OptionError(Option::binding, text + ": expected each input once");
    }
  }
  return source;
}

}  // namespace ferry
