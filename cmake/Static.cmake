# WHYOOM_STATIC: no shared library, not even the C library's, so that the program runs in any image of its architecture.
# Debian has an archive of each library but ISA-L, which packaging/static_isal.sh builds, and fmt, whose headers suffice.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options(-static-pie)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# To be called when all libraries were looked for.
macro(whyoom_check_static)
  set(WHYOOM_FMT fmt::fmt-header-only)
  find_library(WHYOOM_NETTLE nettle REQUIRED)  # libarchive reads encrypted zips with it
  find_library(WHYOOM_ZLIB z REQUIRED)
  pkg_check_modules(WHYOOM_NETTLE_PC REQUIRED nettle)  # whose versions --version tells
  pkg_check_modules(WHYOOM_ZLIB_PC REQUIRED zlib)
  set(WHYOOM_ARCHIVE_NEEDS ${WHYOOM_NETTLE} ${WHYOOM_ZLIB})
  foreach(library RE2 ISAL ZSTD LZ4 LZMA ARCHIVE SECCOMP)
    foreach(file ${${library}_LINK_LIBRARIES})
      if(NOT file MATCHES "\\.a$" AND NOT file MATCHES "^-")
        message(FATAL_ERROR "WHYOOM_STATIC: no static library of ${library} (${file}); for ISA-L run packaging/static_isal.sh FOLDER and give "
          "-DCMAKE_PREFIX_PATH=FOLDER")
      endif()
    endforeach()
  endforeach()
endmacro()

# Who passes the program on passes these libraries on.
set(WHYOOM_STATIC_PARTS libre2-dev libisal-dev libarchive-dev libseccomp-dev nettle-dev zlib1g-dev libzstd-dev liblzma-dev libbz2-dev
  liblz4-dev libfmt-dev libcli11-dev nlohmann-json3-dev libstdc++-12-dev libc6-dev)
