#include "host/run/wanted_tensors.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "base/quantity_text.h"
#include "base/suggest.h"
#include "ferry/kernel/option_error.h"

namespace ferry {

namespace {

bool is_folder(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// What a kernel computes, by the names that a user may say.
struct Computed {
  std::string function;
  std::vector<std::string> inputs, outputs;  // the function's
  std::vector<std::string> tensors;          // a network's, its outputs among them
  std::map<std::string, std::string> nodes;
  std::map<std::string, std::string> parameters;  // outputs by the names that their parameters have

  std::vector<std::string> all() const {
    std::vector<std::string> names = tensors;
    for (const std::string& output : outputs)
      if (std::ranges::find(tensors, output) == tensors.end()) names.push_back(output);
    return names;
  }
};

Computed computed_by(const KernelSource& source, const std::string& function) {
  Computed computed;
  const FunctionInfo info = function_of(source, function);
  computed.function = info.name;
  if (const NetworkKernel* network = source.as_network()) {
    computed.tensors = network->network->names().tensors;
    computed.nodes = network->network->names().nodes;
  }
  const std::vector<std::string> names = names_of_parameters(source, info);
  for (std::size_t p = 0; p < names.size(); ++p) {
    if (info.parameters[p].direction != Direction::out) computed.inputs.push_back(names[p]);
    if (info.parameters[p].direction == Direction::in) continue;
    computed.outputs.push_back(names[p]);
    computed.parameters.emplace(info.parameters[p].name, names[p]);
  }
  return computed;
}

class Finder {
 public:
  explicit Finder(const RunRequest& request)
      : computed_(computed_by(request.kernels.source, request.function)), all_(computed_.all()) {}

  // Returns the tensor that a user names.
  std::string find(Option option, const std::string& name, const std::string& typed) const {
    if (std::ranges::find(all_, name) != all_.end()) return name;
    if (const auto output = computed_.parameters.find(name); output != computed_.parameters.end())
      return output->second;
    if (const auto node = computed_.nodes.find(name); node != computed_.nodes.end()) return node->second;
    if (computed_.tensors.empty())
      throw OptionError(option, typed + ": " + computed_.function + " has no output '" + name +
                                    "'; expected one of: " + join(", ", computed_.outputs));
    throw OptionError(option, typed + ": " + unknown_name("tensor or node", name, all_));
  }

  void add_folder(const std::string& folder, WantedTensors& wanted) const {
    if (mkdir(folder.c_str(), 0777) != 0 && !is_folder(folder))
      throw OptionError(Option::dump, folder + ": expected a folder that can be written to");
    const std::map<std::string, std::string> files = tensor_file_names(names_for_files());
    for (const std::string& name : all_) wanted.tensors[name].file = folder + "/" + files.at(name);
    for (const std::string& name : computed_.inputs) wanted.inputs[name] = folder + "/" + files.at(name);
  }

  void expect_folder(const std::string& folder, WantedTensors& wanted) const {
    std::map<std::string, std::string> tensor_of;
    for (const auto& [name, file] : tensor_file_names(names_for_files())) tensor_of[file] = name;
    std::set<std::string> files;
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()), closedir);
    if (opened == nullptr)
      throw OptionError(Option::expected, "cannot read the folder '" + folder + "': " + strerror(errno));
    while (const dirent* entry = readdir(opened.get()))
      if (std::string_view(entry->d_name).ends_with(".npy")) files.insert(entry->d_name);
    if (files.empty()) throw OptionError(Option::expected, folder + ": expected a folder with .npy files");
    for (const std::string& file : files) {
      const auto found = tensor_of.find(file);
      if (found == tensor_of.end())
        throw OptionError(Option::expected, folder + "/" + file + ": no tensor of the kernel has a file of this name");
      const bool is_input = std::ranges::find(computed_.inputs, found->second) != computed_.inputs.end();
      if (!is_input) wanted.tensors[found->second].expected = folder + "/" + file;
    }
  }

  std::vector<std::string> inner(const WantedTensors& wanted) const {
    std::vector<std::string> names;
    for (const std::string& name : computed_.tensors)
      if (wanted.tensors.contains(name) && std::ranges::find(computed_.outputs, name) == computed_.outputs.end())
        names.push_back(name);
    return names;
  }

 private:
  std::vector<std::string> names_for_files() const {
    std::vector<std::string> names = computed_.inputs;
    for (const std::string& name : all_)
      if (std::ranges::find(computed_.inputs, name) == computed_.inputs.end()) names.push_back(name);
    return names;
  }

  Computed computed_;
  std::vector<std::string> all_;
};

}  // namespace

std::map<std::string, std::string> tensor_file_names(const std::vector<std::string>& tensors) {
  constexpr std::size_t kMostBytes = 200;
  std::map<std::string, std::string> files;
  std::set<std::string> taken;
  for (const std::string& tensor : tensors) {
    std::string stem = tensor.substr(0, kMostBytes);
    for (char& letter : stem)
      if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.' && letter != '-') letter = '_';
    if (stem.empty() || stem[0] == '.') stem.insert(0, "_");
    std::string file = stem + ".npy";
    for (int copy = 2; !taken.insert(file).second; ++copy) file = stem + "_" + std::to_string(copy) + ".npy";
    files[tensor] = file;
  }
  return files;
}

WantedTensors wanted_tensors(const RunRequest& request) {
  WantedTensors wanted;
  if (request.files.empty() && request.expected.empty() && request.dump.empty() && request.expected_folder.empty())
    return wanted;
  const Finder finder(request);
  if (!request.dump.empty()) finder.add_folder(request.dump, wanted);
  if (!request.expected_folder.empty()) finder.expect_folder(request.expected_folder, wanted);
  for (const auto& [name, file] : request.files)
    wanted.tensors[finder.find(Option::output, name, name + "=@" + file)].file = file;
  for (const auto& [name, file] : request.expected)
    wanted.tensors[finder.find(Option::expected, name, name + "=@" + file)].expected = file;
  wanted.inner = finder.inner(wanted);
  return wanted;
}

std::vector<std::string> names_of_parameters(const KernelSource& source, const FunctionInfo& function) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : function.parameters) names.push_back(parameter.name);
  const NetworkKernel* network = source.as_network();
  if (network == nullptr) return names;
  const NetworkNames& own = network->network->names();
  std::copy(own.inputs.begin(), own.inputs.end(), names.begin());
  std::copy(own.outputs.begin(), own.outputs.end(), names.begin() + static_cast<std::ptrdiff_t>(own.inputs.size()));
  return names;
}

}  // namespace ferry
