# Writes the C++ file with the style sheet and the script of the HTML report (src/report/html/html_writer.h).
# Called with -DOUTPUT=... -DSTYLE=page.css -DSCRIPT=page.js
set(code "// Made from resources/html/*.\n#include \"report/html/html_writer.h\"\n\nnamespace whyoom {\n")
foreach(part Style Script)
  string(TOUPPER ${part} file)
  file(READ ${${file}} text)
  if(text MATCHES "</|]]>|\\)page\"")
    message(FATAL_ERROR "${${file}}: \"</\", \"]]>\" and \")page\"\" are not allowed in an embedded file")
  endif()
  # To an XML parser, the text is a CDATA section. To an HTML parser, the markers are comments of the style sheet or
  # the script.
  string(APPEND code "\nstd::string_view Page${part}() {\n  return R\"page(/*<![CDATA[*/\n${text}/*]]>*/)page\";\n}\n")
endforeach()
string(APPEND code "\n}  // namespace whyoom\n")
file(WRITE ${OUTPUT} "${code}")
