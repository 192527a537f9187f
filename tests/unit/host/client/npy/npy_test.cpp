#include "host/client/npy/npy.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "ferry/error.h"

using namespace ferry;

namespace {

// Returns a file as numpy writes it: version 1.0, the header padded to 118 bytes, the data.
std::vector<std::uint8_t> numpy_file(std::string header, const std::string& data) {
  header.append(117 - header.size(), ' ');
  const std::string text = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + data;
  return {text.begin(), text.end()};
}

template <class T>
std::vector<T> values(const npy::Array& array) {
  std::vector<T> result(array.bytes.size() / sizeof(T));
  memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& from) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(from.data());
  return {first, first + from.size() * sizeof(T)};
}

std::string error_of(const std::vector<std::uint8_t>& file) {
  try {
    npy::parse(file, "a.npy");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("what numpy.save writes is written, byte for byte") {
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  CHECK(npy::format(DType::f32, std::vector<std::int64_t>{2, 3}, bytes_of(data)) ==
        numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                   {reinterpret_cast<const char*>(data.data()), 24}));
  CHECK(npy::format(DType::boolean, std::vector<std::int64_t>{2}, std::vector<std::uint8_t>{1, 0}) ==
        numpy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", std::string("\1\0", 2)));
  CHECK(npy::format(DType::f64, {}, bytes_of(std::vector<double>{3.5})) ==
        numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", std::string("\0\0\0\0\0\0\x0c\x40", 8)));
}

TEST_CASE("every element type comes back as it was written") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::i16, DType::i32,
                            DType::i64, DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean}) {
    CAPTURE(dtype_name(dtype));
    std::vector<std::uint8_t> bytes(12 * dtype_bytes(dtype), 1);
    const std::vector<std::int64_t> shape = {3, 1, 4};
    const npy::Array array = npy::parse(npy::format(dtype, shape, bytes), "a.npy");
    CHECK(array.dtype == dtype);
    CHECK(array.shape == shape);
    CHECK(array.bytes == bytes);
  }
}

TEST_CASE("files on disk are written and read back") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("npy_test." + std::to_string(getpid()) + ".npy")).string();
  const std::vector<std::int32_t> data = {7, -8};
  npy::write(path, DType::i32, std::vector<std::int64_t>{2}, bytes_of(data));
  CHECK(values<std::int32_t>(npy::read(path)) == data);
  unlink(path.c_str());
  CHECK_THROWS_WITH_AS(npy::read(path), ("cannot read '" + path + "': No such file or directory").c_str(), UsageError);
}

TEST_CASE("column-major and big-endian files are read into our order") {
  const npy::Array columns = npy::parse(numpy_file("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }",
                                                   std::string("\1\0\4\0\2\0\5\0\3\0\6\0", 12)),
                                        "a.npy");
  CHECK(columns.shape == std::vector<std::int64_t>{2, 3});
  CHECK(values<std::int16_t>(columns) == std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
  const npy::Array swapped = npy::parse(
      numpy_file("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", std::string("\0\0\0\1\0\0\0\2", 8)),
      "a.npy");
  CHECK(values<std::int32_t>(swapped) == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("keys in another order, blanks and trailing commas are fine") {
  const npy::Array array = npy::parse(
      numpy_file("{\"shape\":(1,2,),  'fortran_order':False,'descr':'|u1'}", std::string("\5\6", 2)), "a.npy");
  CHECK(array.shape == std::vector<std::int64_t>{1, 2});
  CHECK(array.bytes == std::vector<std::uint8_t>{5, 6});
}

TEST_CASE("a damaged file is refused with the place and what was expected") {
  CHECK(error_of({}) == "a.npy: expected a .npy file, which starts with \\x93NUMPY");
  CHECK(error_of({0x93, 'N', 'U', 'M', 'P', 'Y', 9, 0, 0, 0}) == "a.npy: expected format version 1, 2 or 3, got 9");
  CHECK(error_of({0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 50, 0}) == "a.npy: expected a header of 50 bytes, got 0");
  CHECK(error_of(numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234")) ==
        "a.npy: expected 8 bytes of data, got 4");
  CHECK(error_of(numpy_file("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }", "")) ==
        "a.npy: expected elements of a type that ferry has, got '<c8'");
  CHECK(error_of(numpy_file("{'descr': '<f4', 'fortran_order': Maybe}", ""))
            .starts_with("a.npy: header offset 34: expected True or False, got 'Maybe}"));
  CHECK(error_of(numpy_file("{'descr': '<f4', 'shape': (2,), }", "")) ==
        "a.npy: expected descr, fortran_order and shape in the header");
  CHECK(error_of(numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", ""))
            .starts_with("a.npy: header offset 51: expected a size, got '-2,), }"));
  CHECK(error_of(numpy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 2), }", "")) ==
        "a.npy: its shape is larger than any file");
  CHECK(error_of(numpy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", ""))
            .starts_with("a.npy: header offset 10: expected a string, got '[('a'"));
}

TEST_CASE("every prefix of a file is refused, not read beyond") {
  const std::vector<std::uint8_t> whole =
      npy::format(DType::f32, std::vector<std::int64_t>{3}, std::vector<std::uint8_t>(12));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}) != "no error");
  }
}
