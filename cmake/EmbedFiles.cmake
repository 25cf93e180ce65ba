# Writes a C++ file that holds files as string literals, in the order given: what FUNCTION, which HEADER declares, returns.
# Called with -DOUTPUT=... -DFILES=a;b;c -DHEADER=rules/builtin.h -DFUNCTION=EmbeddedFiles
# Clang warns of long literals; compilers that build this program have no such limit.
set(code "// Made by cmake/EmbedFiles.cmake.\n#include \"${HEADER}\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\nnamespace whyoom {\n\nconst std::vector<EmbeddedFile>& ${FUNCTION}() {\n  static const std::vector<EmbeddedFile> files = {\n")
string(REPEAT "." 160 line)  # 80 bytes of hex
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(SIZE ${file} size)
  file(READ ${file} hex HEX)
  # Bytes in hex: no quoting to get wrong. Cut into lines first, by one regex: a loop over substrings takes
  # time with the square of the length.
  string(REGEX REPLACE "(${line})" "\\1\"\n       \"" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(APPEND code "      {\"${name}\", std::string_view(\n       \"${lines}\",\n       ${size})},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace whyoom\n")
file(WRITE ${OUTPUT} "${code}")
