#include "facts/source_path.h"

#include <re2/re2.h>

#include "text/regex_options.h"

namespace whyoom {

bool IsLibraryPath(std::string_view path) {
  static const Regex library(
      R"([/\\](?:site|dist)-packages[/\\]|[/\\][Ll]ib(?:64)?[/\\]python\d|[/\\]Python\d+[/\\][Ll]ib[/\\])"
      R"(|^/workspace/(?:vllm|tpu_inference)/|^<(?:frozen |string>|stdin>|attrs |decorator-gen)|^importlib[/\\._]|\.pyx$)");
  return re2::RE2::PartialMatch(path, library);
}

std::string BaseName(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string PathInLibrary(std::string_view path) {
  static const Regex package(
      R"(.*[/\\](?:site-packages|dist-packages|python\d[\d.]*|workspace/vllm|workspace/tpu_inference)[/\\](.+))");
  std::string inside;
  return re2::RE2::FullMatch(path, package, &inside) ? inside : BaseName(path);
}

std::string TextOfLine(std::string_view path, const std::optional<std::int64_t>& line) {
  static const Regex cell(R"(<ipython-input-(\d+)-.*>)");  // as IPython compiles it
  std::string name = BaseName(path);
  std::string number;
  if (re2::RE2::FullMatch(path, cell, &number)) name = "Cell In[" + number + "]";
  if (!line) return name;
  return name + (name.starts_with("Cell In") ? ", line " : ":") + std::to_string(*line);
}

}  // namespace whyoom
