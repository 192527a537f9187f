#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {
namespace {

namespace fs = std::filesystem;

// A folder with the file weights.bin of 16 bytes, in which models are saved.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("ferry-onnx-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "net");
    write(path_ / "net/weights.bin", raw<float>({1, 2, 3, 4}));
    write(path_ / "secret.bin", raw<float>({5, 6}));
  }
  ~Folder() { fs::remove_all(path_); }

  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  fs::path path() const { return path_; }

  // Imports x + w with the contents of w outside the model. Returns the contents, or the message of the refusal.
  std::string weights(const std::string& location, const std::string& offset = "", const std::string& length = "") {
    ModelBytes model;
    model.input("x", {2}).initializer(external(tensor("w", kFloat, {2}), location, offset, length));
    const fs::path file = path_ / "net/net.onnx";
    write(file, model.node("Add", {"x", "w"}, {"y"}).output("y").text());
    try {
      const graph::Graph graph = graph::onnx::import_graph(graph::onnx::read_model(file.string()));
      const auto& bytes = graph.tensor(graph.nodes[0].inputs[1]).constant->bytes;
      return {bytes.begin(), bytes.end()};
    } catch (const UsageError& error) {
      const std::string message = error.what();
      return message.substr(message.find("'w': ") + 5);
    }
  }

 private:
  fs::path path_;
};

TEST_CASE("external data are read from a range of a file beside the model") {
  Folder folder;
  CHECK(folder.weights("weights.bin", "0", "8") == raw<float>({1, 2}));
  CHECK(folder.weights("weights.bin", "8", "8") == raw<float>({3, 4}));
  CHECK(folder.weights("weights.bin", "8") == raw<float>({3, 4}));
}

TEST_CASE("external data outside the model's folder are refused") {
  Folder folder;
  CHECK(folder.weights("../secret.bin") == "expected external data inside the model's folder, got '../secret.bin'");
  CHECK(
      folder.weights((folder.path() / "secret.bin").string()).starts_with("expected external data inside the model's"));
  CHECK(folder.weights("a/../../secret.bin").starts_with("expected external data inside the model's folder"));
  CHECK(folder.weights("") == "expected external data inside the model's folder, got ''");
  fs::create_symlink("../secret.bin", folder.path() / "net/link.bin");
  CHECK(folder.weights("link.bin") ==
        "expected external data inside the model's folder, got 'link.bin', a symbolic link out of it");
  fs::create_symlink("weights.bin", folder.path() / "net/inside.bin");
  CHECK(folder.weights("inside.bin", "0", "8") == raw<float>({1, 2}));
}

TEST_CASE("a range beyond the end of the file is refused") {
  Folder folder;
  CHECK(folder.weights("weights.bin", "12", "8") ==
        "expected external data inside 'weights.bin' of 16 bytes, got 8 bytes at offset 12");
  CHECK(folder.weights("weights.bin", "9223372036854775807", "8").starts_with("expected external data inside"));
  CHECK(folder.weights("weights.bin", "-4", "8") ==
        "expected a number as offset and length of external data, got '-4'");
  CHECK(folder.weights("weights.bin", "0", "12") == "expected 8 bytes of f32, got 12");
}

TEST_CASE("an external file that is missing, a folder or a pipe is refused") {
  Folder folder;
  CHECK(folder.weights("none.bin") == "cannot read the external data 'none.bin': No such file or directory");
  fs::create_directory(folder.path() / "net/sub");
  CHECK(folder.weights("sub").ends_with("it is not a regular file"));
  CHECK(folder.weights(".").ends_with("it is not a regular file"));
}

}  // namespace
}  // namespace ferry::test
