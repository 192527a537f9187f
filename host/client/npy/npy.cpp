#include "host/client/npy/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ferry/error.h"
#include "host/client/npy/header.h"
#include "host/client/npy/whole_file.h"

namespace ferry::npy {

namespace {

constexpr std::uint8_t kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
constexpr std::size_t kAlignment = 64;

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

std::uint32_t read_little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | bytes[i - 1];
  return value;
}

// Reorders the elements of a column-major tensor into row-major order.
std::vector<std::uint8_t> to_row_major(const std::vector<std::uint8_t>& from, const std::vector<std::int64_t>& shape,
                                       std::size_t element) {
  std::vector<std::uint8_t> into(from.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t at = 0; at < into.size(); at += element) {
    std::size_t source = 0;
    for (std::size_t d = shape.size(); d > 0; --d) {
      source = source * static_cast<std::size_t>(shape[d - 1]) + static_cast<std::size_t>(index[d - 1]);
    }
    memcpy(into.data() + at, from.data() + source * element, element);
    for (std::size_t d = shape.size(); d > 0 && ++index[d - 1] == shape[d - 1]; --d) index[d - 1] = 0;
  }
  return into;
}

// The header, and where the elements begin.
struct Beginning {
  Header header;
  std::size_t data = 0;
};

Beginning parse_beginning(std::span<const std::uint8_t> file, const std::string& name) {
  if (!is_npy(file)) {
    throw UsageError(name + ": expected a .npy file, which starts with \\x93NUMPY");
  }
  const std::uint8_t version = file[6];
  if (version < 1 || version > 3) {
    throw UsageError(name + ": expected format version 1, 2 or 3, got " + std::to_string(version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (file.size() < start) throw UsageError(name + ": expected the header's length, got the file's end");
  const std::size_t length = read_little_endian(file.subspan(8, length_bytes));
  if (file.size() - start < length) {
    throw UsageError(name + ": expected a header of " + std::to_string(length) + " bytes, got " +
                     std::to_string(file.size() - start));
  }
  return {parse_header({reinterpret_cast<const char*>(file.data() + start), length}, name), start + length};
}

File open_file(const std::string& path) {
  File file(fopen(path.c_str(), "rb"));
  if (file == nullptr) throw UsageError("cannot read '" + path + "': " + strerror(errno));
  return file;
}

}  // namespace

bool is_npy(std::span<const std::uint8_t> file) {
  return file.size() >= 8 && std::equal(std::begin(kMagic), std::end(kMagic), file.begin());
}

Array parse(std::span<const std::uint8_t> file, const std::string& name) {
  const auto [header, start] = parse_beginning(file, name);
  const std::span<const std::uint8_t> data = file.subspan(start);
  const std::size_t element = dtype_bytes(header.dtype);
  std::uint64_t bytes = element;
  const bool empty = std::find(header.shape.begin(), header.shape.end(), 0) != header.shape.end();
  for (const std::int64_t extent : header.shape) {
    if (!empty && __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw UsageError(name + ": its shape is larger than any file");
    }
  }
  if (empty) bytes = 0;
  if (data.size() != bytes) {
    throw UsageError(name + ": expected " + std::to_string(bytes) + " bytes of data, got " +
                     std::to_string(data.size()));
  }
  Array array{header.dtype, header.shape, {data.begin(), data.end()}};
  if (header.big_endian && element > 1) {
    for (std::size_t at = 0; at < array.bytes.size(); at += element) {
      std::reverse(array.bytes.data() + at, array.bytes.data() + at + element);
    }
  }
  if (header.fortran_order && array.shape.size() > 1) array.bytes = to_row_major(array.bytes, array.shape, element);
  if (header.dtype == DType::boolean) {
    for (std::uint8_t& value : array.bytes) value = value != 0 ? 1 : 0;
  }
  return array;
}

Array read(const std::string& path) {
  const File file = open_file(path);
  std::vector<std::uint8_t> content;
  std::uint8_t piece[65536];
  while (const std::size_t count = fread(piece, 1, sizeof piece, file.get())) {
    content.insert(content.end(), piece, piece + count);
  }
  if (ferror(file.get()) != 0) throw UsageError("cannot read '" + path + "': " + strerror(errno));
  return parse(content, path);
}

std::vector<std::int64_t> read_shape(const std::string& path) {
  const File file = open_file(path);
  // Longer than the headers of version 1.
  std::vector<std::uint8_t> beginning(1 << 17);
  beginning.resize(fread(beginning.data(), 1, beginning.size(), file.get()));
  return parse_beginning(beginning, path).header.shape;
}

std::vector<std::uint8_t> format(DType dtype, std::span<const std::int64_t> shape,
                                 std::span<const std::uint8_t> bytes) {
  std::string header = header_text(dtype, {shape.begin(), shape.end()});
  const std::size_t before = sizeof kMagic + 4;
  const std::size_t total = (before + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.append(total - before - header.size() - 1, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());  // a rank of 8 needs at most 250 bytes
  const std::uint8_t version_and_length[] = {1, 0, static_cast<std::uint8_t>(length & 0xff),
                                             static_cast<std::uint8_t>(length >> 8)};
  std::vector<std::uint8_t> file(before + header.size() + bytes.size());
  auto end = std::copy(std::begin(kMagic), std::end(kMagic), file.begin());
  end = std::copy(std::begin(version_and_length), std::end(version_and_length), end);
  end = std::copy(header.begin(), header.end(), end);
  std::copy(bytes.begin(), bytes.end(), end);
  return file;
}

void write(const std::string& path, DType dtype, std::span<const std::int64_t> shape,
           std::span<const std::uint8_t> bytes) {
  const std::vector<std::uint8_t> content = format(dtype, shape, bytes);
  if (const int failed = write_whole_file(path, content); failed != 0) {
    throw UsageError("cannot write '" + path + "': " + strerror(failed));
  }
}

}  // namespace ferry::npy
