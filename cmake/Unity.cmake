function(whyoom_unite_warnings target)
  # In a unity build, names of one file shadow those of another. GCC treats the files as headers and warns about types
  # that use unnamed namespaces. GCC 12 inlines more, and then reports the value of an empty std::optional as
  # uninitialized. Builds without WHYOOM_UNITY keep these warnings.
  target_compile_options(${target} PRIVATE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage -Wno-maybe-uninitialized>)
endfunction()

# Compiles several sources of a folder together, so that headers are parsed once for them. Larger groups build faster
# but recompile more after a change; the preset "dev" is for frequent changes. Names in unnamed namespaces must be
# unique within a folder.
function(whyoom_unite target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  whyoom_unite_warnings(${target})
  if(target STREQUAL whyoom_reader)
    target_precompile_headers(${target} PRIVATE <algorithm> <filesystem> <map> <string> <vector> <fmt/format.h> <fmt/ranges.h>
      <nlohmann/json.hpp> <re2/re2.h>)
  else()
    target_precompile_headers(${target} REUSE_FROM whyoom_reader)
  endif()
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" name)
    if(NOT DEFINED before_${name})
      set(before_${name} 0)
    endif()
    math(EXPR group "${before_${name}} / ${count}")
    math(EXPR before_${name} "${before_${name}} + 1")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE layer)
    string(REPLACE "/" "_" layer "${layer}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${layer}_${group})
  endforeach()
endfunction()
