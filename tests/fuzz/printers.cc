// A log in every output format: no text of the log becomes markup, a script or a command.
#include <nlohmann/json.hpp>
#include <vector>

#include "clean_text.h"
#include "cli/output.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "fuzz/report_text.h"
#include "read/engine.h"

using namespace whyoom;

namespace {

std::size_t CountOf(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Returns the position after the tag at `at`. Updates `open`, the stack of open elements.
std::size_t AfterTag(std::string_view text, std::size_t at, std::vector<std::string_view>* open) {
  if (text.substr(at).starts_with("<?") || text.substr(at).starts_with("<!"))
    return std::min(text.find('>', at), text.size() - 1) + 1;
  const bool closes = text.substr(at).starts_with("</");
  const std::size_t name_at = at + (closes ? 2 : 1);
  const std::size_t name_end = std::min(text.find_first_of(" />", name_at), text.size());
  const std::string_view name = text.substr(name_at, name_end - name_at);
  Require(!name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") ==
                               std::string_view::npos,
          "an element has a name");
  std::size_t end = name_end;
  for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) {
    Require(text[end] != '<', "no tag begins within a tag");
    if (text[end] == '"') quoted = !quoted;
  }
  Require(end < text.size(), "a tag ends");
  if (closes) {
    Require(!open->empty() && open->back() == name, "a closing tag matches the open element");
    open->pop_back();
  } else if (text[end - 1] != '/' && name != "meta" && name != "link") {
    open->push_back(name);
  }
  return end + 1;
}

// Checks that all tags are balanced, so no text of a log acts as a tag.
void CheckElements(std::string_view text) {
  std::vector<std::string_view> open;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const bool verbatim = !open.empty() && (open.back() == "script" || open.back() == "style");
    if (verbatim) at = text.find("</" + std::string(open.back()), at);
    Require(at != std::string_view::npos, "scripts and styles end");
    at = AfterTag(text, at, &open);
  }
  Require(open.empty(), "every element is closed");
}

void CheckHtml(const std::string& page) {
  CheckElements(page);
  Require(CountOf(page, "<script") == 3, "no script comes from a log");  // the report, its texts, and the page's own
  for (const char* element : {"<iframe", "<object", "<embed", "<base", "<form", "<img"})
    Require(CountOf(page, element) == 0, "a page loads no external content");
  Require(CountOf(page, "<link") == 1, "a page has an icon");
  Require(CountOf(page, "=\"javascript:") == 0, "no link comes from a log");
}

// Checks that all lines that GitHub would run as commands are those that whyoom prints.
void CheckGithub(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string_view command = line.substr(begin);
    at = end + 1;
    if (!command.starts_with("::")) continue;
    const bool known = command.starts_with("::error ") || command.starts_with("::warning ") ||
                       command.starts_with("::notice ") || command.starts_with("::group::") ||
                       command.starts_with("::endgroup::") || command.starts_with("::stop-commands::") ||
                       CountOf(command, "::") == 2;
    Require(known && begin == 0, "no command comes from a log");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Engine engine(BuiltInRules());
  Choices choices(Bytes(data, size));
  const std::string path = choices.OneIn(4) ? MadeText(choices) : "train.log";
  const std::string member = choices.OneIn(6) ? MadeText(choices) : "";
  const std::string root = choices.OneIn(3) ? "/home/user" : "";
  const TextOptions text = {20 + choices.Below(120), false};
  const std::string log = MadeLog(choices);
  const Report report = MakeReport(BuiltInRules().fingerprint, ReadArtifact(engine, {path, member}, *OpenMemory(log)));

  const auto print = [&](Format format) {
    std::string printed = PrintReport(report, format, text, root);
    Require(IsClean(printed, "\n"), "the output is clean");
    return printed;
  };
  print(Format::kText);
  print(Format::kMarkdown);
  Require(nlohmann::json::accept(print(Format::kJson)), "JSON output is valid");
  Require(nlohmann::json::accept(print(Format::kSarif)), "SARIF output is valid JSON");
  const std::string records = print(Format::kNdjson);
  for (std::size_t at = 0; at < records.size();) {
    const std::size_t end = records.find('\n', at);
    Require(end != std::string::npos && nlohmann::json::accept(records.substr(at, end - at)),
            "each record is valid JSON");
    at = end + 1;
  }
  CheckHtml(print(Format::kHtml));
  CheckGithub(print(Format::kGithub));
  CheckElements(print(Format::kJunit));
  return 0;
}
