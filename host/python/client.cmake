# The extension modules of the wheel ferry-client, which has no compiler: each contains the client and devices of its own
# process, and needs nothing but the C library. There is one for Python 3.11 and one, by the stable ABI, for 3.12 and newer.
# Headers come from scripts/python_headers.sh, since no Python of another architecture can be asked.
set(headers "${PROJECT_SOURCE_DIR}/build/python-headers/${FERRY_ARCH}/include")
execute_process(COMMAND "${PROJECT_SOURCE_DIR}/build/venv/bin/python" -m nanobind --include_dir
  OUTPUT_VARIABLE nanobind OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
get_filename_component(nanobind "${nanobind}" DIRECTORY)

# What a client does not have: programs that are built of expressions.
ferry_sources(sources)
list(FILTER sources EXCLUDE REGEX "/te_[a-z]*\\.cpp$")
list(TRANSFORM sources REPLACE ".*/" "")

# ferry_client_module(TARGET VERSION SUFFIX [DEFINITION]) makes _ferry.SUFFIX with the headers of a version of Python.
function(ferry_client_module target version suffix)
  set(parts nb_internals nb_func nb_type nb_enum nb_ndarray nb_static_property nb_datetime common error trampoline implicit)
  list(TRANSFORM parts REPLACE "(.+)" "${nanobind}/src/\\1.cpp")
  add_library(${target}_nanobind STATIC ${parts})
  target_include_directories(${target}_nanobind SYSTEM PUBLIC "${nanobind}/include" "${headers}/python${version}" "${headers}"
    PRIVATE "${nanobind}/ext/robin_map/include")
  target_compile_definitions(${target}_nanobind PUBLIC ${ARGN} PRIVATE NB_BUILD NB_COMPACT_ASSERTIONS)
  target_compile_options(${target}_nanobind PRIVATE -w -fno-strict-aliasing)

  add_library(${target} MODULE ${sources} "${PROJECT_SOURCE_DIR}/packaging/older/find_object.cpp"
    "${PROJECT_SOURCE_DIR}/packaging/older/random.cpp")
  target_include_directories(${target} PRIVATE ${FERRY_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE FERRY_VERSION="${PROJECT_VERSION}" FERRY_COMPILER=0)
  # nanobind's own headers are not written for this warning.
  target_compile_options(${target} PRIVATE -Wno-shadow)
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL)
  target_link_libraries(${target} PRIVATE ${target}_nanobind)
  ferry_link_folders(${target} PRIVATE host/python)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME _ferry SUFFIX "${suffix}" UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python")
  add_custom_command(TARGET ${target} POST_BUILD COMMAND "${CMAKE_STRIP}" --strip-all "$<TARGET_FILE:${target}>")
endfunction()

ferry_client_module(ferry_python 3.11 ".cpython-311-${FERRY_ARCH}-linux-gnu.so")
ferry_client_module(ferry_python_stable 3.13 .abi3.so Py_LIMITED_API=0x030C0000)
