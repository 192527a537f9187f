#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/printable.h"
#include "ferry/error.h"

namespace ferry {

MappedFile map_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) -> void {
    throw UsageError("cannot read '" + printable(path) + "': " + why);
  };
  // Opening a pipe would wait for its writer.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (file.number() < 0 || fstat(file.number(), &status) != 0) refuse(strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  if (status.st_size == 0) refuse("it is empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const begin = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (begin == MAP_FAILED) refuse(strerror(errno));
  std::shared_ptr<const void> mapping(begin, [size](const void* at) { munmap(const_cast<void*>(at), size); });
  return {{static_cast<const std::uint8_t*>(begin), size}, std::move(mapping)};
}

}  // namespace ferry
