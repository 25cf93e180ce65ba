# Writes a C++ file that contains files as string literals, in the given order. HEADER declares FUNCTION, which returns
# them. Called with -DOUTPUT=... -DFILES=a;b;c -DHEADER=cli/embedded.h -DFUNCTION=EmbeddedSkill
# Clang warns about long literals, but no supported compiler limits their length.
set(code "// Made by cmake/EmbedFiles.cmake.\n#include \"${HEADER}\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\nnamespace whyoom {\n\nconst std::vector<EmbeddedFile>& ${FUNCTION}() {\n  static const std::vector<EmbeddedFile> files = {\n")
string(REPEAT "." 160 line)  # 80 bytes of hex
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(SIZE ${file} size)
  file(READ ${file} hex HEX)
  # Hex escapes avoid quoting errors. One regular expression splits the lines first, because a loop over substrings
  # takes quadratic time.
  string(REGEX REPLACE "(${line})" "\\1\"\n       \"" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(APPEND code "      {\"${name}\", std::string_view(\n       \"${lines}\",\n       ${size})},\n")
endforeach()
string(APPEND code "  };\n  return files;\n}\n\n}  // namespace whyoom\n")
file(WRITE ${OUTPUT} "${code}")
