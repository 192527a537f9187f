# Programs and libraries that have the property FERRY_SELF_CONTAINED contain third-party libraries, and so run where those
# are not installed. All others, the tests above all, link the shared ones: that takes the linker 0.1 s in place of 0.7, and
# each of them 70 MB less.

set(FERRY_IS_SELF_CONTAINED "$<BOOL:$<TARGET_PROPERTY:FERRY_SELF_CONTAINED>>")

# ferry_link_static_or_shared(TARGET NAME SHARED) links an interface target against libNAME.a in what is self-contained,
# and against the target SHARED elsewhere.
function(ferry_link_static_or_shared target name shared)
  find_library(FERRY_STATIC_${name} NAMES lib${name}.a REQUIRED)
  target_link_libraries(${target} INTERFACE "$<IF:${FERRY_IS_SELF_CONTAINED},${FERRY_STATIC_${name}},${shared}>")
endfunction()
