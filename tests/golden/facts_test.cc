// Text, Markdown and HTML show the same figures, names, addresses and remedies. Exceptions: the footer, which text
// omits; names that Markdown cuts in tables; the totals of what Markdown folds; text inside drawings of the HTML page.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

namespace fs = std::filesystem;

constexpr std::size_t kCutInMarkdown = 64;

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Replaces each range from `begin` to `end`, inclusive, by a blank, starting with the innermost range.
std::string Without(std::string text, const std::string& begin, const std::string& end) {
  for (std::size_t at = text.rfind(begin); at != std::string::npos; at = text.rfind(begin)) {
    const std::size_t last = text.find(end, at);
    text.replace(at, last == std::string::npos ? last : last + end.size() - at, " ");
  }
  return text;
}

std::string Unescaped(std::string text) {
  static const std::regex reference("&#([0-9]+);");
  for (std::smatch match; std::regex_search(text, match, reference);)
    text.replace(static_cast<std::size_t>(match.position()), static_cast<std::size_t>(match.length()), 1,
                 static_cast<char>(std::stoi(match[1])));
  for (const auto& [from, to] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""),
                                 std::pair("\xC2\xA0", " "), std::pair("&amp;", "&")})
    text = Replaced(std::move(text), from, to);
  return text;
}

// Lines are broken at blanks, so comparisons ignore them.
std::string WithoutBlanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

std::set<std::string> FiguresIn(const std::string& text) {
  static const std::regex figure("[0-9]+(?:\\.[0-9]+)?[ \\n]+(?:[KMGT]iB|B|%|×)");
  std::set<std::string> figures;
  for (std::sregex_iterator at(text.begin(), text.end(), figure), end; at != end; ++at)
    figures.insert(WithoutBlanks(at->str()));
  return figures;
}

// Returns the number of figures.
std::size_t CheckSame(const fs::path& folder, std::vector<std::string> arguments) {
  INFO(folder);
  const auto print = [&](const std::vector<std::string>& format) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), format.begin(), format.end());
    return RunWhyoom(all, "", folder.string()).out;
  };
  const std::string text = print({"--all"});
  const std::string markdown = Unescaped(Without(print({"--format", "markdown"}), "<sub>", "</sub>"));
  const std::string html = Unescaped(print({"--format", "html"}));
  const std::set<std::string> figures = FiguresIn(text);
  const std::set<std::string> in_markdown = FiguresIn(markdown);
  CHECK(std::includes(in_markdown.begin(), in_markdown.end(), figures.begin(), figures.end()));
  CHECK(html.find(text) != std::string::npos);  // for readers without scripts
  return figures.size();
}

TEST_CASE("text, Markdown and HTML show the same facts", "[golden]") {
  const fs::path testdata = fs::path(WHYOOM_SOURCE_DIR) / "testdata";
  std::size_t figures = 0;
  for (const auto& entry : fs::directory_iterator(testdata / "cases")) {
    std::vector<std::string> arguments = {"log"};
    if (fs::exists(entry.path() / "dump")) arguments.insert(arguments.end(), {"--xla-dump", "dump"});
    figures += CheckSame(entry.path(), arguments);
  }
  for (const auto& entry : fs::directory_iterator(testdata / "programs")) CheckSame(entry.path(), {"dump"});
  CHECK(figures > 200);
}

}  // namespace TEST_FILE
