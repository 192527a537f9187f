#include "host/media/texts.h"

#include <cstring>
#include <map>
#include <string_view>

#include "base/lines.h"
#include "ferry/error.h"

namespace ferry::media {

std::vector<std::string> read_texts(std::span<const std::uint8_t> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.find('\0') != std::string_view::npos)
    throw UsageError(name + ": expected a file of texts, a line each, got one with bytes of 0");
  std::vector<std::string> texts;
  for (std::string_view line : lines_of(text)) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    texts.emplace_back(line);
  }
  return texts;
}

MediaTensor tensor_of(const MediaInput& input, const std::vector<std::string>& texts,
                      const std::vector<std::string>& known) {
  MediaTensor tensor;
  std::int64_t entries = 1, open = 0;
  for (const std::optional<std::int64_t>& size : input.shape) {
    entries *= size.value_or(1);
    open += size ? 0 : 1;
  }
  const auto count = static_cast<std::int64_t>(texts.size());
  const bool fits = open == 0 ? count == entries : open == 1 && entries > 0 && count % entries == 0;
  if (!fits)
    throw UsageError(input.name + ": expected " + (open == 0 ? "" : "a multiple of ") + std::to_string(entries) +
                     " texts" + (open > 1 ? " and all sizes but one, from --size" : "") + ", got " +
                     std::to_string(count));
  for (const std::optional<std::int64_t>& size : input.shape) tensor.shape.push_back(size.value_or(count / entries));

  std::map<std::string, std::int64_t> index_of;
  for (std::size_t i = 0; i + 1 < known.size(); ++i) index_of.emplace(known[i], i);
  std::int64_t others = 0;
  for (const std::string& text : texts) {
    const auto found = index_of.find(text);
    const bool is_known = found != index_of.end();
    const std::int64_t index = is_known ? found->second : static_cast<std::int64_t>(known.size()) - 1;
    others += is_known ? 0 : 1;
    const std::size_t at = tensor.bytes.size();
    tensor.bytes.resize(at + sizeof index);
    std::memcpy(tensor.bytes.data() + at, &index, sizeof index);
  }
  tensor.what = std::to_string(count) + " texts, " + std::to_string(others) + " of them not among the " +
                std::to_string(known.size() - 1) + " that the network knows";
  return tensor;
}

}  // namespace ferry::media
