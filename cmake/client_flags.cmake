# Flags of the client without a compiler: it is optimised for size and depends only on the C library. Included after
# flags.cmake.

set(CMAKE_C_FLAGS_RELEASE "-Oz -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-Oz -DNDEBUG")
# Headers are most of what a file costs, and this build is rarely repeated, so eight files of a folder are compiled as
# one: a folder's helpers need names of their own.
set(CMAKE_UNITY_BUILD ON)
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections -Wl,--as-needed -static-libstdc++ -static-libgcc)
# Many functions are equal but for their types: folding them saves 5%. Nothing here compares addresses of functions.
if(FERRY_LLD OR FERRY_GOLD)
  add_link_options(-Wl,--icf=all -Wl,-O2)
endif()
# A relative relocation takes a bit instead of 24 bytes, which saves 4%. It needs glibc 2.36, as the program does anyway
# unless it is for packages.
if(FERRY_LLD AND NOT FERRY_CLIENT_PACKAGE)
  add_link_options(-Wl,-z,pack-relative-relocs)
endif()
