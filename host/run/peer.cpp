#include "host/run/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/exec_words.h"
#include "base/printable.h"
#include "ferry/error.h"
#include "host/kernel/file.h"

extern char** environ;

namespace ferry {

namespace {

namespace fs = std::filesystem;

constexpr int kCannotImport = 3;

// Its arguments are the model and a folder with the names of inputs and outputs, and the inputs. An output that the
// model does not have is added to it; weights outside of the file are then found beside the file.
constexpr const char* kScript = R"(
import os, sys
try:
    import numpy, onnxruntime
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)
path, folder = sys.argv[1:]
with open(os.path.join(folder, "names"), encoding="utf-8", errors="surrogateescape") as file:
    count, *names = file.read().split("\0")[:-1]
inputs, outputs = names[:int(count)], names[int(count):]
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
model = path
known = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
known_outputs = [output.name for output in known.get_outputs()]
if set(outputs) - set(known_outputs):
    try:
        import onnx
    except ImportError as error:
        print("tensors that are no outputs need the package onnx:", error, file=sys.stderr)
        sys.exit(3)
    changed = onnx.load(path, load_external_data=False)
    for name in outputs:
        if name not in known_outputs:
            changed.graph.output.append(onnx.ValueInfoProto(name=name))
    model = changed.SerializeToString()
    options.add_session_config_entry("session.model_external_initializers_file_folder_path",
                                     os.path.dirname(os.path.abspath(path)))
    known = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
def texts_in(file):
    path = os.path.join(folder, file)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read().split("\0")[:-1]
feed = {name: numpy.load(os.path.join(folder, f"in{i}.npy")) for i, name in enumerate(inputs)}
for i, name in enumerate(inputs):
    texts = texts_in(f"texts{i}")
    if texts is not None:
        feed[name] = numpy.array(texts, object)[feed[name]]
for i, value in enumerate(known.run(outputs, feed)):
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        value = numpy.array([list(one.values()) for one in value])
    value = value if isinstance(value, list) else numpy.asarray(value)
    texts = texts_in(f"labels{i}")
    if texts is not None and isinstance(value, numpy.ndarray) and value.dtype.kind in "OSU":
        value = numpy.array([texts.index(str(one)) for one in value.ravel()], numpy.int64).reshape(value.shape)
    if isinstance(value, numpy.ndarray) and value.dtype.kind in "biuf":
        numpy.save(os.path.join(folder, f"out{i}.npy"), value)
)";

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "ferry-peer-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr)
      throw UsageError("cannot make a temporary folder like '" + path_ + "': " + strerror(errno));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs a program with its output in a file, and returns its status as waitpid() does.
int run_program(const std::vector<std::string>& words, const std::string& output) {
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, words[0].c_str(), &actions, nullptr, exec_words(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    throw UsageError("cannot run '" + words[0] + "': " + strerror(failed) +
                     "; FERRY_PYTHON names a Python that can import onnxruntime");
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw UsageError("cannot wait for '" + words[0] + "': " + strerror(errno));
  return status;
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', end);
  return printable(
      text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1));
}

}  // namespace

std::vector<NamedTensor> results_of_peer(const Peer& peer, const Network& network,
                                         const std::vector<NamedTensor>& inputs,
                                         const std::vector<std::string>& outputs) {
  const TemporaryFolder folder;
  std::vector<NamedTensor> given = inputs;
  for (const auto& [name, tensor] : network.source().bindings)
    given.push_back({name, {tensor.dtype, tensor.shape, tensor.bytes}});
  std::string names = std::to_string(given.size()) + '\0';
  for (std::size_t i = 0; i < given.size(); ++i) {
    const TensorFile& tensor = given[i].tensor;
    names += given[i].name + '\0';
    write_tensor(folder.file("in" + std::to_string(i) + ".npy"), tensor.dtype, tensor.shape, tensor.bytes);
  }
  for (const std::string& name : outputs) names += name + '\0';
  write_file(folder.file("names"), names.data(), names.size());
  const auto write_texts = [&](const std::string& file, const auto& labels, const std::string& name) {
    const auto found = labels.find(name);
    if (found == labels.end()) return;
    std::string texts;
    for (const std::string& text : found->second) texts += text + '\0';
    write_file(folder.file(file), texts.data(), texts.size());
  };
  const NetworkNames& known = network.names();
  for (std::size_t i = 0; i < given.size(); ++i)
    write_texts("texts" + std::to_string(i), known.input_labels, given[i].name);
  for (std::size_t i = 0; i < outputs.size(); ++i) write_texts("labels" + std::to_string(i), known.labels, outputs[i]);
  const std::string said = folder.file("said");
  const int status = run_program({peer.python, "-c", kScript, network.source().file, folder.path()}, said);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string why = last_line(read_file(said));
    if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotImport)
      throw UsageError("'" + peer.python + "' has no ONNX Runtime (" + why +
                       "); FERRY_PYTHON names a Python that can import onnxruntime");
    throw UsageError(peer.name + " does not compute this network: " + (why.empty() ? "its process ended" : why));
  }
  std::vector<NamedTensor> results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string file = folder.file("out" + std::to_string(i) + ".npy");
    if (fs::exists(file)) results.push_back({outputs[i], read_tensor(file)});
  }
  return results;
}

}  // namespace ferry
