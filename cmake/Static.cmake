# WHYOOM_STATIC: links everything statically, even the C library, so that the program runs in any image of its
# architecture. fmt is used header-only.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options(-static-pie)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Call after all libraries were found.
macro(whyoom_check_static)
  set(WHYOOM_FMT fmt::fmt-header-only)
  foreach(library RE2 PCRE2 ZSTD LZ4 LZMA ARCHIVE NETTLE SECCOMP)
    foreach(file ${${library}_LINK_LIBRARIES})
      if(NOT file MATCHES "\\.a$" AND NOT file MATCHES "^-")
        message(FATAL_ERROR "WHYOOM_STATIC: no static library of ${library} (${file})")
      endif()
    endforeach()
  endforeach()
endmacro()

# Packages of the linked libraries. Their licences must be distributed with the program.
set(WHYOOM_STATIC_PARTS libre2-dev libpcre2-dev libarchive-dev libseccomp-dev nettle-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev
  liblz4-dev libfmt-dev libcli11-dev nlohmann-json3-dev libstdc++-12-dev libc6-dev)
