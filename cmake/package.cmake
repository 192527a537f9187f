# Installs the contents of packages in a folder that may stand anywhere: `cmake --install build/release --component package
# --prefix FOLDER`. With `--component python`, the modules of Python stand beside it.

install(PROGRAMS "$<TARGET_FILE:ferry_packaged>" DESTINATION bin RENAME ferry COMPONENT package EXCLUDE_FROM_ALL)
install(TARGETS ferry_shared EXPORT ferry_package LIBRARY DESTINATION lib COMPONENT package NAMELINK_SKIP EXCLUDE_FROM_ALL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/ferry" DESTINATION include COMPONENT package EXCLUDE_FROM_ALL)
# Not in lib/cmake, where the export of all that is installed has a file of this name.
install(EXPORT ferry_package NAMESPACE ferry:: FILE ferryConfig.cmake DESTINATION lib/ferry
  COMPONENT package EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_BINARY_DIR}/install/ferryConfigVersion.cmake" DESTINATION lib/ferry
  COMPONENT package EXCLUDE_FROM_ALL)
# The one library that is neither part of libferry.so nor of every system: Debian's static one cannot become part of a
# shared library.
get_target_property(protobuf protobuf::libprotobuf-lite LOCATION)
file(GLOB names "${protobuf}.[0-9]" "${protobuf}.[0-9][0-9]")  # its SONAME
list(GET names 0 protobuf)
get_filename_component(name "${protobuf}" NAME)
file(REAL_PATH "${protobuf}" protobuf)
install(FILES "${protobuf}" DESTINATION lib RENAME "${name}" COMPONENT package EXCLUDE_FROM_ALL)
set_target_properties(ferry_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
# Static ones for boards, and one for this machine that can load the drivers of its GPUs.
foreach(server x86_64/static armv7/static aarch64/static riscv64/static ${FERRY_ARCH}/dynamic)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/build/device/${server}/rpc_server" DESTINATION "libexec/ferry/${server}"
    COMPONENT package EXCLUDE_FROM_ALL)
endforeach()
