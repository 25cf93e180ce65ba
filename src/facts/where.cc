#include "facts/where.h"

#include <re2/re2.h>

#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {

std::string BoundedPath(const std::string& path) { return CutBytes(MaskSecrets(path), 4096); }

void MaskSecretsOf(std::vector<Problem>* problems) {
  for (Problem& problem : *problems) {
    for (std::string* text : {&problem.path, &problem.member, &problem.what, &problem.text}) {
      if (!text->empty()) *text = MaskSecrets(*text);
    }
  }
}

bool IsLibraryPath(std::string_view path) {
  static const Regex library(
      R"([/\\](?:site|dist)-packages[/\\]|[/\\][Ll]ib(?:64)?[/\\]python\d|[/\\]Python\d+[/\\][Ll]ib[/\\]|[/\\]whyoom_try[/\\])"
      R"(|^/workspace/(?:vllm|tpu_inference)/|^<(?:frozen |string>|stdin>|attrs |decorator-gen)|^importlib[/\\._]|\.pyx$)");
  return re2::RE2::PartialMatch(path, library);
}

std::string BaseName(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string SourceLineText(std::string_view path, const std::optional<std::int64_t>& line) {
  static const Regex cell(R"(<ipython-input-(\d+)-.*>)");  // the file name that IPython gives a cell
  std::string name = BaseName(path);
  std::string number;
  if (re2::RE2::FullMatch(path, cell, &number)) name = "Cell In[" + number + "]";
  if (!line) return name;
  return name + (name.starts_with("Cell In") ? ", line " : ":") + std::to_string(*line);
}

}  // namespace whyoom
