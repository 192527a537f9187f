#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "ferry/error.h"
#include "host/media/checksum.h"
#include "host/media/picture.h"
#include "host/media/preprocess.h"
#include "host/media/sound.h"
#include "host/media/texts.h"

namespace ferry::media {
namespace {

Picture flat(std::int64_t width, std::int64_t height, std::uint8_t value) {
  return {width, height, 3, std::vector<std::uint8_t>(static_cast<std::size_t>(width * height * 3), value)};
}

std::vector<float> floats_of(const MediaTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::string refusal_of(const std::string& preprocess) {
  try {
    (void)parse_preprocess(preprocess);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST_CASE("a picture of one colour keeps it in all sizes") {
  for (const std::int64_t size : {1, 2, 3, 7, 31, 64})
    CHECK(resized(flat(13, 9, 177), size, size + 1).pixels == flat(size, size + 1, 177).pixels);
}

TEST_CASE("a picture that has the size already stays as it is") {
  Picture picture = flat(2, 2, 0);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) picture.pixels[i] = static_cast<std::uint8_t>(i * 21);
  CHECK(resized(picture, 2, 2).pixels == picture.pixels);
  CHECK(centered(picture, 2, 2, 0).pixels == picture.pixels);
}

TEST_CASE("the middle of a picture is cut out, or stands in the middle of bars") {
  Picture picture{3, 1, 1, {1, 2, 3}};
  CHECK(centered(picture, 1, 1, 0).pixels == std::vector<std::uint8_t>{2});
  CHECK(centered(picture, 5, 1, 9).pixels == std::vector<std::uint8_t>{9, 1, 2, 3, 9});
  CHECK(centered(picture, 1, 3, 9).pixels == std::vector<std::uint8_t>{9, 2, 9});
}

TEST_CASE("channels stand where the input has 1, 3 or 4 of them") {
  using Sizes = std::vector<std::optional<std::int64_t>>;
  const auto shape_of = [](const Sizes& sizes) {
    return tensor_of({"x", DType::u8, sizes}, {flat(5, 4, 7)}, {}).shape;
  };
  const std::optional<std::int64_t> open;
  CHECK(shape_of({open, 3, open, open}) == std::vector<std::int64_t>{1, 3, 4, 5});
  CHECK(shape_of({1, open, open, 3}) == std::vector<std::int64_t>{1, 4, 5, 3});
  CHECK(shape_of({1, 4, 5, 3}) == std::vector<std::int64_t>{1, 4, 5, 3});
  CHECK(shape_of({3, 4, 5}) == std::vector<std::int64_t>{3, 4, 5});
  CHECK_THROWS_WITH_AS(shape_of({1, 7, 5, 5}), "x: expected 1, 3 or 4 channels, got u8[1,7,5,5]", UsageError);
  CHECK_THROWS_AS(shape_of({1}), UsageError);
}

TEST_CASE("a mean is subtracted, and divided by the deviation") {
  const Preprocess how = parse_preprocess("unit,mean=0.5/0.25/0,std=0.5/1/2");
  const std::vector<float> values = floats_of(tensor_of({"x", DType::f32, {1, 3, 1, 1}}, {flat(1, 1, 255)}, how));
  CHECK(values == std::vector<float>{1, 0.75, 0.5});
}

TEST_CASE("what ferry does not know how to do with pictures is refused with what it knows") {
  CHECK(refusal_of("imagenet,fit=letterbox,channels=bgr,rate=16000,mean=0.5,std=1/2/3").empty());
  for (const char* wrong : {"imagnet", "fit=big", "mean=1/2", "std=0", "rate=0", "unit,raw", "channels=cmyk", "mean="})
    CHECK_MESSAGE(refusal_of(wrong).find("expected imagenet") != std::string::npos, wrong);
}

TEST_CASE("a tone keeps its frequency and its volume at another rate, and one that is too high for it is gone") {
  const auto tone = [](double hertz, std::int64_t rate) {
    Sound sound{rate, 1, {}};
    for (std::int64_t i = 0; i < rate; ++i)
      sound.samples.push_back(static_cast<float>(
          std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / static_cast<double>(rate))));
    return sound;
  };
  const auto largest_difference = [](const Sound& a, const Sound& b) {
    float largest = 0;
    for (std::size_t i = 200; i + 200 < a.samples.size(); ++i)
      largest = std::max(largest, std::abs(a.samples[i] - b.samples[i]));
    return largest;
  };
  for (const std::int64_t rate : {8000, 16000, 11025})
    CHECK(largest_difference(with_rate(tone(440, 22050), rate), tone(440, rate)) < 2e-3);
  const Sound nothing{8000, 1, std::vector<float>(8000)};
  CHECK(largest_difference(with_rate(tone(7000, 22050), 8000), nothing) < 2e-2);
}

std::vector<std::string> texts_in(const std::string& file) {
  return read_texts({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "t.txt");
}

std::vector<std::int64_t> indices(const MediaTensor& tensor) {
  std::vector<std::int64_t> values(tensor.bytes.size() / sizeof(std::int64_t));
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

TEST_CASE("each line of a file is a text, whether the last one ends or not") {
  using Texts = std::vector<std::string>;
  CHECK(texts_in("") == Texts{});
  CHECK(texts_in("\n") == Texts{""});
  CHECK(texts_in("a\r\n\nb") == Texts{"a", "", "b"});
  CHECK(texts_in("a\nb\n") == Texts{"a", "b"});
  CHECK_THROWS_AS(texts_in(std::string("a\0b", 3)), UsageError);
}

TEST_CASE("texts are indices of a list, and fill the one size that is open") {
  // The list's last text is no text that anybody may have.
  const std::vector<std::string> known = {"red", "blue", "other"};
  const MediaTensor rows = tensor_of({"x", DType::i64, {std::nullopt, 2}}, {"blue", "red", "other", ""}, known);
  CHECK(rows.shape == std::vector<std::int64_t>{2, 2});
  CHECK(indices(rows) == std::vector<std::int64_t>{1, 0, 2, 2});
  CHECK(tensor_of({"x", DType::i64, {std::nullopt, 1}}, {}, known).shape == std::vector<std::int64_t>{0, 1});
  const MediaTensor scalar = tensor_of({"x", DType::i64, {}}, {"red"}, known);
  CHECK(scalar.shape.empty());
  CHECK(indices(scalar) == std::vector<std::int64_t>{0});
  using Sizes = std::vector<std::optional<std::int64_t>>;
  for (const Sizes& shape :
       {Sizes{3}, Sizes{}, Sizes{std::nullopt, 3}, Sizes{std::nullopt, std::nullopt}, Sizes{0, std::nullopt}})
    CHECK_THROWS_AS(tensor_of({"x", DType::i64, shape}, {"red", "blue"}, known), UsageError);
}

TEST_CASE("the checksum is that of the specification") {
  const std::string text = "123456789";
  CHECK(checksum_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}) == 0xcbf43926U);
}

}  // namespace
}  // namespace ferry::media
