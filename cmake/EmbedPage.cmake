# Writes the C++ file with the style sheet and the script of the HTML report (src/report/html/html_writer.h).
# Called with -DOUTPUT=... -DSTYLE=page.css -DSCRIPT=page.js
set(code "// Made from resources/html/*.\n#include \"report/html/html_writer.h\"\n\nnamespace whyoom {\n")
foreach(part Style Script)
  string(TOUPPER ${part} file)
  file(READ ${${file}} text)
  if(text MATCHES "</|]]>|\\)page\"")
    message(FATAL_ERROR "${${file}}: \"</\", \"]]>\" and \")page\"\" are not allowed in an embedded file")
  endif()
  # An XML parser sees the text as a CDATA section; an HTML parser sees the markers as comments of the embedded
  # language.
  string(APPEND code "\nstd::string_view Page${part}() {\n  return R\"page(/*<![CDATA[*/\n${text}/*]]>*/)page\";\n}\n")
endforeach()
string(APPEND code "\n}  // namespace whyoom\n")
file(WRITE ${OUTPUT} "${code}")
