#include "host/kernel/file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ferry/error.h"
#include "host/npy/whole_file.h"

namespace ferry {

namespace {

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

}  // namespace

std::string read_file(const std::string& name) {
  const std::unique_ptr<FILE, CloseFile> opened(name == "-" ? nullptr : fopen(name.c_str(), "rb"));
  FILE* file = name == "-" ? stdin : opened.get();
  if (file == nullptr) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  std::string content;
  char piece[65536];
  while (const std::size_t count = fread(piece, 1, sizeof piece, file)) content.append(piece, count);
  if (ferror(file) != 0) throw UsageError("cannot read '" + name + "': " + strerror(errno));
  return content;
}

void write_file(const std::string& name, const void* bytes, std::size_t count) {
  const int failed = npy::write_whole_file(name, {static_cast<const std::uint8_t*>(bytes), count});
  // The reader of the output may close the pipe early.
  if (failed != 0 && (name != "-" || failed != EPIPE)) {
    throw UsageError("cannot write " + (name == "-" ? "the output" : "'" + name + "'") + ": " + strerror(failed));
  }
}

}  // namespace ferry
