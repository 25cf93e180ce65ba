#include "facts/where.h"

#include <re2/re2.h>

#include <compare>
#include <tuple>

#include "rules/sha256.h"
#include "text/regex_options.h"
#include "text/secrets.h"

namespace whyoom {
int CompareWhere(const Where& a, const Where& b) {
  const auto order = [](const Where& where) {
    return std::tie(where.artifact.path, where.artifact.member, where.offset, where.line, where.last_line);
  };
  const std::strong_ordering result = order(a) <=> order(b);
  return result < 0 ? -1 : result > 0 ? 1 : 0;
}

std::string BoundedName(const std::string& name, std::size_t longest) {
  if (name.size() <= longest) return name;
  constexpr std::size_t kDigest = 16;
  std::size_t end = longest - kDigest - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;  // not inside a character
  return name.substr(0, end) + "~" + Sha256Hex(name).substr(0, kDigest);
}

std::string BoundedPath(const std::string& path) { return BoundedName(MaskSecrets(path), 4096); }

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

std::string PathInLibrary(std::string_view path) {
  static const Regex package(
      R"(.*[/\\](?:site-packages|dist-packages|python\d[\d.]*|workspace/vllm|workspace/tpu_inference)[/\\](.+))");
  std::string inside;
  return re2::RE2::FullMatch(path, package, &inside) ? inside : BaseName(path);
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
