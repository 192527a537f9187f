#include "host/gate/store/history_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "base/write_all.h"
#include "host/gate/store/store.h"
#include "host/gate/store/store_file.h"

namespace ferry::gate {

namespace {

// Returns the whole lines among the last bytes of a file.
std::string last_lines(const StoreFile& file, const std::string& path, std::uint64_t bytes) {
  const bool is_whole = file.bytes <= bytes;
  // The byte before says whether the first line is whole.
  const std::uint64_t offset = is_whole ? 0 : file.bytes - bytes - 1;
  std::string text(static_cast<std::size_t>(file.bytes - offset), '\0');
  text.resize(read_from(file, path, offset, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  if (!is_whole) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

bool ends_in_a_line(const StoreFile& file, const std::string& path) {
  std::uint8_t last = '\n';
  return file.bytes > 0 && read_from(file, path, file.bytes - 1, {&last, 1}) == 1 && last != '\n';
}

}  // namespace

void append_history(const std::string& path, std::string lines, std::uint64_t most) {
  const std::uint64_t kept = most / 4 * 3;
  if (lines.size() > most - kept) {
    throw StoreFailed("expected at most " + bytes_text(most - kept) + " of verdicts, got " + bytes_text(lines.size()) +
                      ": " + printable(path));
  }
  const std::optional<StoreFile> file = open_store_file(path, O_RDWR | O_APPEND | O_CREAT);
  if (!file) fail_to("open", path);
  // A process that was killed has left a part of a line.
  if (ends_in_a_line(*file, path)) lines.insert(0, "\n");
  if (file->bytes + lines.size() > most) {
    return replace_store_file(path, last_lines(*file, path, kept) + lines);
  }
  if (write_all(file->file.number(), lines) && fsync(file->file.number()) == 0) return;
  const int error = errno;
  (void)ftruncate(file->file.number(), static_cast<off_t>(file->bytes));
  errno = error;
  fail_to("write", path);
}

std::string read_history(const std::string& path, std::uint64_t most) {
  const std::optional<StoreFile> file = open_store_file(path, O_RDONLY);
  return file ? last_lines(*file, path, most) : std::string();
}

}  // namespace ferry::gate
