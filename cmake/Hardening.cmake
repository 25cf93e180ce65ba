# The flags of Debian's hardening=+all: randomised addresses, read-only relocation tables and stack protection, against
# exploits that write past an object. tests/packaging/hardening_test.sh checks the program for them.
target_compile_options(whyoom_flags INTERFACE -fstack-protector-strong -Wformat -Werror=format-security)
include(CheckCXXCompilerFlag)
set(CMAKE_REQUIRED_FLAGS -Werror)  # otherwise Clang only warns about flags that the target does not support
foreach(flag -fstack-clash-protection -fcf-protection -mbranch-protection=standard)  # the second: only x86; the third: only ARM
  string(MAKE_C_IDENTIFIER "WHYOOM_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(whyoom_flags INTERFACE ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
if(NOT WHYOOM_SANITIZE AND NOT WHYOOM_SANITIZE_THREADS AND NOT WHYOOM_FUZZ AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")  # sanitizers check more; debug builds do not optimize
  target_compile_options(whyoom_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(NOT WHYOOM_STATIC)  # Static.cmake sets -static-pie
  target_compile_options(whyoom_flags INTERFACE -fPIE)
  target_link_options(whyoom_flags INTERFACE $<$<PLATFORM_ID:Linux>:-pie>)
endif()
target_link_options(whyoom_flags INTERFACE $<$<PLATFORM_ID:Linux>:-Wl,-z,relro,-z,now>)
