# What Debian's hardening=+all means: an attacker who gets to write past an object finds no address that is known before, no table of functions that
# can be written to, and a stack that tells. tests/packaging/hardening_test.sh looks whether the program has it.
target_compile_options(whyoom_flags INTERFACE -fstack-protector-strong -Wformat -Werror=format-security)
include(CheckCXXCompilerFlag)
set(CMAKE_REQUIRED_FLAGS -Werror)  # Clang only warns of one that its target has no use for
foreach(flag -fstack-clash-protection -fcf-protection -mbranch-protection=standard)  # x86 has the second, ARM the third
  string(MAKE_C_IDENTIFIER "WHYOOM_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(whyoom_flags INTERFACE ${flag})
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
if(NOT WHYOOM_SANITIZE AND NOT WHYOOM_SANITIZE_THREADS AND NOT WHYOOM_FUZZ AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")  # which check more, or nothing is optimized
  target_compile_options(whyoom_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
if(NOT WHYOOM_STATIC)  # -static-pie says so there
  target_compile_options(whyoom_flags INTERFACE -fPIE)
  target_link_options(whyoom_flags INTERFACE $<$<PLATFORM_ID:Linux>:-pie>)
endif()
target_link_options(whyoom_flags INTERFACE $<$<PLATFORM_ID:Linux>:-Wl,-z,relro,-z,now>)
