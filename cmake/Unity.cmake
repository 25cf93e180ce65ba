function(whyoom_unite_warnings target)
  # Together, names of one file shadow those of another, and GCC takes the files for headers, whose types should hold
  # nothing of an unnamed namespace. Builds without WHYOOM_UNITY, such as the sanitizers', look for both. GCC 12, which
  # then copies more into one place, takes what an empty std::optional holds for uninitialized.
  target_compile_options(${target} PRIVATE -Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage -Wno-maybe-uninitialized>)
endfunction()

# Some sources of a folder at a time: headers are read once for all of them. More at a time build faster, but more is
# compiled again where one changes, for which there is the preset "dev". So names in unnamed namespaces are told apart
# within a folder.
function(whyoom_unite target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  whyoom_unite_warnings(${target})
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" name)
    if(NOT DEFINED before_${name})
      set(before_${name} 0)
    endif()
    math(EXPR group "${before_${name}} / ${count}")
    math(EXPR before_${name} "${before_${name}} + 1")
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE room)
    string(REPLACE "/" "_" room "${room}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${room}_${group})
  endforeach()
endfunction()
