#include "host/media/media_arguments.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "base/printable.h"
#include "ferry/kernel/option_error.h"
#include "host/client/npy/npy.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/file.h"
#include "host/media/npz.h"
#include "host/media/preprocess.h"
#include "host/media/texts.h"
#include "module/manifest.h"

namespace ferry::media {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 30;
constexpr std::size_t kMaxPictures = 1024;

std::vector<std::uint8_t> bytes_of_file(const std::string& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMaxFileBytes && !error)
    throw UsageError(path + ": expected a file of at most 1 GiB");
  const std::string content = read_file(path);
  return {content.begin(), content.end()};
}

// Returns the size if it does not depend on sizes that are not given.
std::optional<std::int64_t> known_size(const ManifestExpr& size, const FunctionInfo& function,
                                       const std::map<std::string, std::int64_t>& sizes) {
  std::vector<std::int64_t> values;
  for (const std::string& symbol : function.symbols) {
    const auto given = sizes.find(symbol);
    values.push_back(given == sizes.end() ? 0 : given->second);
  }
  for (const ManifestInstruction& step : size.code)
    if (step.op == ManifestOp::symbol && !sizes.contains(function.symbols.at(static_cast<std::size_t>(step.value))))
      return std::nullopt;
  const Result<std::int64_t> value = evaluate(size, values);
  return value.is_ok() ? std::optional(value.value()) : std::nullopt;
}

std::vector<std::string> pictures_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(error) && !at->path().filename().string().starts_with('.'))
      files.push_back(at->path().string());
  if (error) throw UsageError("cannot read the folder '" + folder + "': " + error.message());
  if (files.empty()) throw UsageError(folder + ": expected a folder with pictures, got none");
  if (files.size() > kMaxPictures)
    throw UsageError(folder + ": expected at most " + std::to_string(kMaxPictures) + " pictures");
  std::ranges::sort(files);
  return files;
}

GivenTensor given_pictures(const MediaInput& input, const std::vector<std::string>& files, const std::string& source,
                           const Preprocess& preprocess, const Observer& observer) {
  std::vector<Picture> pictures;
  for (const std::string& file : files) pictures.push_back(read_picture(bytes_of_file(file), file, channels_of(input)));
  MediaTensor tensor = tensor_of(input, pictures, preprocess);
  observer.tell(input.name + " from " + source +
                (files.size() == 1 ? ": " : ": " + std::to_string(files.size()) + " pictures, the first ") +
                tensor.what);
  return {input.dtype, std::move(tensor.shape), std::move(tensor.bytes), source};
}

// Returns nothing for a file of another kind, such as .npy. `texts` are those in whose place the input has their
// indices; null for other inputs.
std::optional<GivenTensor> read_one(const MediaInput& input, const std::string& path, const Preprocess& preprocess,
                                    const std::vector<std::string>* texts, const Observer& observer) {
  std::error_code error;
  if (fs::is_directory(path, error)) return given_pictures(input, pictures_in(path), path, preprocess, observer);
  if (path == "-" || !fs::is_regular_file(path, error)) return std::nullopt;
  const std::vector<std::uint8_t> bytes = bytes_of_file(path);
  const auto given = [&](MediaTensor tensor) {
    observer.tell(input.name + " from " + path + ": " + tensor.what);
    return GivenTensor{input.dtype, std::move(tensor.shape), std::move(tensor.bytes), path};
  };
  if (texts != nullptr && !is_npz(bytes) && !npy::is_npy(bytes))
    return given(tensor_of(input, read_texts(bytes, path), *texts));
  if (is_picture(bytes)) return given_pictures(input, {path}, path, preprocess, observer);
  if (is_sound(bytes)) return given(tensor_of(input, read_sound(bytes, path), preprocess));
  if (!is_npz(bytes)) return std::nullopt;
  npy::Array array = npy::parse(read_npz(bytes, path, input.name), path);
  return GivenTensor{array.dtype, std::move(array.shape), std::move(array.bytes), path};
}

// Returns the texts in whose place inputs of a network have their indices, by the inputs' positions.
std::map<std::size_t, std::vector<std::string>> texts_of_inputs(const KernelSource& source) {
  std::map<std::size_t, std::vector<std::string>> texts;
  const NetworkKernel* network = source.as_network();
  if (network == nullptr) return texts;
  const NetworkNames& names = network->network->names();
  for (std::size_t i = 0; i < names.inputs.size(); ++i)
    if (const auto found = names.input_labels.find(names.inputs[i]); found != names.input_labels.end())
      texts[i] = found->second;
  return texts;
}

}  // namespace

void read_media(const KernelSource& source, const std::string& function, const std::string& preprocess,
                CallOptions& call, const Observer& observer) {
  const Preprocess how = parse_preprocess(preprocess);
  const bool has_files =
      std::ranges::any_of(call.arguments, [](const std::string& text) { return text.find("=@") != std::string::npos; });
  if (!has_files) return;
  const FunctionInfo info = function_of(source, function);
  const std::vector<std::string> names = parameter_names(info);
  const std::map<std::string, std::int64_t> sizes = parse_sizes(call.sizes);
  const std::map<std::size_t, std::vector<std::string>> texts = texts_of_inputs(source);
  std::erase_if(call.arguments, [&](const std::string& text) {
    const ArgumentSpec spec = parse_argument(text, names);
    const auto parameter = std::ranges::find(info.parameters, spec.name, &ParameterInfo::name);
    if (spec.file.empty() || parameter == info.parameters.end() || parameter->kind != ParameterKind::tensor)
      return false;
    MediaInput input{spec.name, parameter->dtype, {}};
    for (const ManifestExpr& size : parameter->shape) input.shape.push_back(known_size(size, info, sizes));
    const auto known = texts.find(static_cast<std::size_t>(parameter - info.parameters.begin()));
    std::optional<GivenTensor> tensor =
        read_one(input, spec.file, how, known == texts.end() ? nullptr : &known->second, observer);
    if (tensor && !call.given.emplace(spec.name, *std::move(tensor)).second)
      throw OptionError(Option::argument, text + ": expected one value for " + spec.name + ", got a second one");
    return tensor.has_value();
  });
}

}  // namespace ferry::media
