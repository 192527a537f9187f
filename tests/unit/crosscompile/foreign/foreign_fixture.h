// Compiles kernels from texts in a temporary folder.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "crosscompile/foreign/c_compiler.h"
#include "crosscompile/foreign/foreign.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/link/temporary_folder.h"
#include "crosscompile/target/resolve.h"

namespace ferry::test {

using foreign::compile_foreign;
using foreign::compile_object;
using foreign::parse_signature;

struct ForeignFixture {
  link::TemporaryFolder folder;
  Target target = resolve_target("x86-64");

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }
  std::vector<std::uint8_t> compile(const std::string& path, const std::string& signature, const Target& on,
                                    std::vector<std::string> flags = {}) const {
    return compile_foreign({path, {parse_signature(signature)}, std::move(flags), ""}, on);
  }
  std::string refusal(const std::string& path, const std::string& signature) const {
    try {
      compile(path, signature, target);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "nothing was refused";
  }
  // Compiles a C text to an object file.
  std::string object(const std::string& text, const Target& on) const {
    const std::vector<std::uint8_t> bytes = compile_object(file("object.c", text), {}, on);
    std::ofstream(folder.file("object.o"), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return folder.file("object.o");
  }
};

}  // namespace ferry::test
