// docs/failures/ documents all of the rule data. WHYOOM_BLESS=1 writes the pages.
#include "pages/failure_pages.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "report/printers.h"

namespace whyoom {
namespace TEST_FILE {

namespace fs = std::filesystem;

const fs::path& Folder() {
  static const fs::path folder = fs::path(WHYOOM_SOURCE_DIR) / "docs" / "failures";
  return folder;
}

std::set<std::string> FilesBelow(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(fs::relative(entry.path(), folder).generic_string());
  }
  return files;
}

void Bless(const std::vector<Page>& pages) {
  fs::remove_all(Folder());
  fs::create_directories(Folder() / "remedies");
  for (const Page& page : pages) std::ofstream(Folder() / page.path, std::ios::binary) << page.text;
}

// The links of a page to other pages, or within it.
std::vector<std::string> LinksOf(const std::string& text) {
  std::vector<std::string> links;
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1))
    links.push_back(text.substr(at + 2, text.find(')', at) - at - 2));
  return links;
}

// The text as a reader sees it, without the markup for code.
std::string Read(std::string text) {
  for (const char* mark : {"`", "<code>", "</code>", "<!-- -->"}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.erase(at, std::string(mark).size());
  }
  for (std::size_t at = text.find("&#"); at != std::string::npos; at = text.find("&#", at + 1)) {
    const std::size_t end = text.find(';', at);
    text.replace(at, end + 1 - at, 1, static_cast<char>(std::stoi(text.substr(at + 2, end - at - 2))));
  }
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });  // markup adds blanks
  return text;
}

// All sentences of advice in the rule data that need no values from a log, by position.
class Sentences {
 public:
  explicit Sentences(const RuleSet& rules) {
    for (const FailureRule& failure : rules.failures) AddFailure(failure);
    for (const Remedy& remedy : rules.remedies) AddRemedy(remedy);
  }

  const std::map<std::string, std::vector<std::string>>& all() const { return all_; }

 private:
  void Add(const std::string& place, const std::string& text) {
    if (!text.empty()) all_[place].push_back(text);
  }

  void AddFailure(const FailureRule& failure) {
    const std::string& code = failure.code;
    Add(code + " title", failure.title);
    for (const std::string& paragraph : failure.about) Add(code + " about", paragraph);
    if (failure.retry) Add(code + " retry", failure.retry->why);
    for (const Scenario& scenario : failure.scenarios) {
      Add(code + "." + scenario.id, scenario.title);
      Add(code + "." + scenario.id + " about", scenario.about);
      if (scenario.retry) Add(code + "." + scenario.id + " retry", scenario.retry->why);
    }
    for (const Link& link : failure.links) Add(code + " links", link.title);
  }

  void AddRemedy(const Remedy& remedy) {
    const std::string& id = remedy.id;
    for (const std::string* text : {&remedy.title, &remedy.safe_why, &remedy.gain, &remedy.telltale, &remedy.note})
      Add(id, *text);
    for (const ConditionalSafety& other : remedy.safety_when) Add(id + " safety_when", other.safe_why);
    for (const Link& link : remedy.links) Add(id + " links", link.title);
  }

  std::map<std::string, std::vector<std::string>> all_;
};

TEST_CASE("docs/failures matches the rule data", "[report]") {
  const std::vector<Page> pages = MakeFailurePages(BuiltInRules());
  if (std::getenv("WHYOOM_BLESS") != nullptr) Bless(pages);
  std::set<std::string> paths;
  for (const Page& page : pages) {
    INFO(page.path);
    CHECK(page.text.starts_with(kPageMark));
    CHECK((ReadText((Folder() / page.path).string()) == page.text));
    paths.insert(page.path);
  }
  CHECK(FilesBelow(Folder()) == paths);
  CHECK(paths.contains("README.md"));
}

TEST_CASE("every sentence of advice is in the pages", "[report]") {
  std::string pages;
  for (const std::string& path : FilesBelow(Folder())) pages += ReadText((Folder() / path).string()) + "\n";
  pages = Read(pages);
  const Sentences sentences(BuiltInRules());
  std::size_t count = 0;
  for (const auto& [place, texts] : sentences.all()) {
    for (const std::string& text : texts) {
      INFO(place << ": " << text);
      CHECK(pages.find(Read(PrintMarkdownPage({doc::Paragraph{doc::Sentence(text)}}))) != std::string::npos);
      ++count;
    }
  }
  CHECK(count > 500);
}

TEST_CASE("all links of the pages lead to pages, and every page is linked", "[report]") {
  const std::vector<Page> pages = MakeFailurePages(BuiltInRules());
  std::map<std::string, const std::string*> texts;
  for (const Page& page : pages) texts[page.path] = &page.text;
  std::set<std::string> reached = {"README.md"};
  for (const Page& page : pages) {
    for (const std::string& link : LinksOf(page.text)) {
      INFO(page.path << ": " << link);
      if (link.starts_with("#")) {
        CHECK(page.text.find("<a id=\"" + link.substr(1) + "\"></a>") != std::string::npos);
        continue;
      }
      const std::string path = (fs::path(page.path).parent_path() / link).lexically_normal().generic_string();
      CHECK(texts.contains(path));
      reached.insert(path);
    }
  }
  CHECK(reached.size() == pages.size());
}

TEST_CASE("no id leads out of the folder, and no two ids share a page", "[report]") {
  const RuleSet rules = RulesWith(R"({"format": "whyoom.rules/1", "failures": [
    {"code": "../../evil", "title": "t", "category": "c", "phase": "run", "heads": ["our first test failed"],
     "examples": [{"text": "our first test failed"}]},
    {"code": "readme", "title": "t", "category": "c", "phase": "run", "heads": ["our other test failed"],
     "examples": [{"text": "our other test failed"}]}]})");
  std::set<std::string> paths;
  for (const Page& page : MakeFailurePages(rules)) {
    INFO(page.path);
    CHECK(fs::path(page.path).lexically_normal().generic_string() == page.path);
    CHECK(page.path.find("..") == std::string::npos);
    std::string lower = page.path;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    CHECK(paths.insert(lower).second);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
