// The kinds of code that a module may contain, and their names in files.
#pragma once

#include <cstdint>
#include <string>

namespace ferry {

// X(enumerator, name). Names of kinds with code for one kind of GPU go on with its architecture: "cubin-sm_90".
#define FERRY_IMAGE_KINDS(X)                                                                                  \
  X(elf, "elf")                 /* a position-independent shared object, which a CPU loads */                 \
  X(elf_library, "elf-library") /* loaded before the former, which imports its functions */                   \
  X(elf_objects, "elf-objects") /* an archive of objects, which a compiler links at any addresses */          \
  X(elf_object, "elf-object")   /* an object that is exported to programs; in memory alone */                 \
  X(init_module, "init-module") /* see below */                                                               \
  X(opencl_c, "opencl-c")       /* source text */                                                             \
  X(cubin, "cubin")             /* for a GPU and later minor versions of it; cubin-sm_90a for sm_90a alone */ \
  X(ptx, "ptx")                 /* for a GPU and all later ones; without one if the text states it */

// An init_module has the init functions of a module whose code is for programs, compiled for this machine. Each has as
// its name the symbol by which the init plan calls it, takes constants and returns persistent buffers.
enum class ImageKind : std::uint8_t {
#define X(enumerator, name) enumerator,
  FERRY_IMAGE_KINDS(X)
#undef X
  // A file may have code of a kind that this version does not know. It is left alone.
  unknown
};

// Returns "elf" and so on; empty for `unknown`.
const char* image_kind_name(ImageKind kind);

// Returns the kind of which an image has this name in a file, and leaves what the name says beside it: "sm_90", nothing
// for most kinds, and the whole name for an unknown kind.
ImageKind take_image_kind(std::string& name);

}  // namespace ferry
