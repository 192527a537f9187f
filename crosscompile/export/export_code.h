// Turns a module, whose code is relocatable (compile_module()), into the files that a C program links: the kernels and
// the plan as an object, the threads as another, a header, and an example with a Makefile.
#pragma once

#include "ferry/blob_source.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ferry::exported {

enum class Form : std::uint8_t { object, archive, shared };

struct Options {
  std::string name;  // names the files and the C functions; empty: the function's name
  Form form = Form::object;
  bool weights_file = false;                       // weights in a file of their own
  std::map<std::string, std::int64_t> sizes = {};  // those of the call in the example
};

struct File {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

// `blobs` has the contents of the module's blobs; null if it has none. Throws CompileError.
std::vector<File> export_code(std::span<const std::uint8_t> module, const BlobSource* blobs, const Target& target,
                              const Options& options);

}  // namespace ferry::exported
