#include "tests/golden/examples/module_record.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

#include "crosscompile/compile.h"
#include "crosscompile/make_backend.h"
#include "ferry/compile.h"
#include "ferry/intrinsics.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"
#include "module/manifest_codec.h"
#include "module/module_file.h"

namespace ferry::test {

namespace {

const char* const kHeading =
    R"(# Records of the module of every example: bytes of the .ferry file, its hash, the hashes of its parts. Files are
# compiled without the example's source.
)";

std::string short_hash(std::span<const std::uint8_t> bytes, std::size_t digits = 8) {
  return to_hex(blake2b(bytes)).substr(0, digits);
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

bool calls_c(const ExampleCase& example) {
  const Context* context = example.programs.front().context.get();
  return context != nullptr && !context->tensor_intrinsic_names().empty();
}

// "manifest" -> its hash, "elf" -> ...; "bytes" -> the size and "file" -> the whole file's hash.
std::map<std::string, std::string> parts_of(const std::string& record) {
  std::map<std::string, std::string> parts;
  std::istringstream words(record);
  words >> parts["bytes"] >> parts["file"] >> parts["file"];
  for (std::string name, hash; words >> name >> hash;) parts[name] = hash;
  return parts;
}

bool is_refusal(const std::string& record) { return record.starts_with("refused: "); }

}  // namespace

ModuleKey key_of(const ExampleCase& example, const PinnedTarget& target) {
  return {example.command, target.name + (target.emit.empty() ? "" : " --emit " + target.emit)};
}

ModuleRecords read_records(const std::string& path) {
  ModuleRecords records;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string command;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    if (line.starts_with("tool "))
      records.tools[line.substr(5, colon - 5)] = line.substr(colon + 2);
    else if (!line.starts_with("  "))
      command = line;
    else
      records.modules[{command, line.substr(2, colon - 2)}] = line.substr(colon + 2);
  }
  return records;
}

void write_records(const std::string& path, const ModuleRecords& records) {
  std::ofstream file(path);
  file << kHeading;
  for (const auto& [tool, version] : records.tools) file << "tool " << tool << ": " << version << "\n";
  std::string command;
  for (const auto& [key, record] : records.modules) {
    if (key.command != command) file << "\n" << key.command << "\n";
    command = key.command;
    file << "  " << key.target << ": " << record << "\n";
  }
}

std::vector<std::uint8_t> compiled_bytes(const ExampleCase& example, const PinnedTarget& target) {
  const std::vector<schedule::Schedule> schedules = example.schedules(target.target);
  if (target.emit.empty() && !(calls_c(example) && target.target.is_for_cpu()))
    return compile(example.programs, schedules, target.target).bytes();
  const std::vector<ir::Function> functions = lower::lower_module(example.programs, schedules);
  if (target.emit.empty())
    return compile_object(functions, target.target, {"", autoschedule::to_text(example.programs, schedules)});
  const std::string text = make_backend(target.target)->text(TextForm::source, functions, {});
  return {text.begin(), text.end()};
}

std::string record_of(std::span<const std::uint8_t> bytes, const PinnedTarget& target) {
  std::string record = std::to_string(bytes.size()) + " bytes " + short_hash(bytes, 16);
  if (!target.emit.empty()) return record;
  const Result<ModuleFile> read = read_module(bytes);
  if (!read.is_ok()) return record;  // an object
  const ModuleFile& module = read.value();
  record += " manifest " + short_hash(encode_manifest(module.manifest));
  record += " schedule " + short_hash(bytes_of(module.schedule));
  for (const CodeImage& image : module.images) record += " " + image.name() + " " + short_hash(image.bytes);
  return record;
}

std::string compile_record(const ExampleCase& example, const PinnedTarget& target) {
  try {
    return record_of(compiled_bytes(example, target), target);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    return "refused: " + message.substr(0, message.find('\n'));
  }
}

std::string explain_difference(const ExampleCase& example, const PinnedTarget& target, const std::string& expected,
                               const std::string& got) {
  std::string text = example.command + ", target " + key_of(example, target).target + "\n";
  if (is_refusal(expected) || is_refusal(got)) {
    text += "  expected " + expected + "\n  got      " + got + "\n";
  } else {
    auto before = parts_of(expected), now = parts_of(got);
    text += "  expected " + before["bytes"] + " bytes with the hash " + before["file"] + ", got " + now["bytes"] +
            " with " + now["file"] + "\n";
    for (auto* parts : {&before, &now}) parts->erase("bytes"), parts->erase("file");
    std::string same, different;
    for (const auto& [name, hash] : now) {
      std::string& list = before.contains(name) && before[name] == hash ? same : different;
      list += (list.empty() ? "" : ", ") + name;
    }
    for (const auto& [name, hash] : before)
      if (!now.contains(name)) different += (different.empty() ? "no more " : ", no more ") + name;
    if (!now.empty() || !before.empty())
      text += "  differs: " + (different.empty() ? "what holds the parts together" : different) +
              "; the same: " + (same.empty() ? "nothing" : same) + "\n";
  }
  if (example.is_cpp)
    return text + "  the command line does not compile it: run golden_modules of both builds with --modules FOLDER\n";
  return text + "  ferry compile " + example.command + " " + target.options() + " -o new" +
         (target.emit.empty() ? ".ferry" : "." + target.emit) + "\n";
}

}  // namespace ferry::test
