// A program that only runs what was compiled elsewhere: outside_client MODULE runs `twice` of it.
#include <ferry/client.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

int main(int count, char** words) try {
  if (count != 2) return 2;
  std::ifstream file(words[1], std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const ferry::Device device = ferry::local_device();
  const ferry::Function twice = device.load(ferry::CompiledModule(bytes))["twice"];
  const std::vector<float> values = {0, 1, 2};
  if (twice(values).to_vector<float>() != std::vector<float>{0, 2, 4}) {
    fprintf(stderr, "outside_client: expected twice the values\n");
    return 1;
  }
  try {
    ferry::CompiledModule{{1, 2, 3}};
  } catch (const ferry::Error& error) {
    return error.code() == ferry::ErrorCode::invalid_argument ? 0 : 1;
  }
  fprintf(stderr, "outside_client: expected a refusal of three bytes\n");
  return 1;
} catch (const std::exception& error) {
  fprintf(stderr, "outside_client: %s\n", error.what());
  return 1;
}
