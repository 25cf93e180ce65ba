#include "pages/failure_pages.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "report/command_documents.h"
#include "report/printers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kIndex = "README.md";
constexpr const char* kRemedies = "remedies/";

constexpr const char* kReading =
    "These pages are generated from the rule data. Words in ‹ › stand for a value from a log. A diagnosis shows the "
    "value, and omits a sentence if a value in it is unknown.";

// Makes a file name from `id`: keeps letters, digits, "_", "-", and "." unless it comes first or follows another ".".
// Writes other bytes in hexadecimal.
std::string PlainName(std::string_view id) {
  std::string name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || c == '_' || c == '-' || (c == '.' && !name.empty() && name.back() != '.');
    name += plain ? std::string(1, c) : fmt::format("_{:02x}", byte);
  }
  return name;
}

// Makes page paths that differ even if case is ignored.
class Paths {
 public:
  std::string Add(const std::string& folder, const std::string& id) {
    std::string path = folder + PlainName(id);
    while (!taken_.insert(LowerAscii(path)).second) path += "_";
    return path + ".md";
  }

 private:
  std::set<std::string> taken_ = {"readme"};
};

// Each code and id that a line shows first or in the first cell becomes a link to its page.
std::string WithLinks(std::string page, const std::map<std::string, std::string>& paths, const std::string& to_root) {
  for (const auto& [id, path] : paths) {
    const std::string code = "`" + id + "`";
    for (const char* before : {"\n- ", "\n| "}) {
      for (std::size_t at = page.find(before + code + " "); at != page.npos;
           at = page.find(before + code + " ", at + 1))
        page.replace(at + 3, code.size(), "[" + code + "](" + to_root + path + ")");
    }
  }
  return page;
}

std::string PageOf(const doc::Blocks& blocks, const std::string& last) {
  return std::string(kPageMark) + "\n\n" + PrintMarkdownPage(blocks) + "\n" + last + "\n";
}

}  // namespace

std::vector<Page> MakeFailurePages(const RuleSet& rules, const Frameworks& frameworks) {
  Paths paths;
  std::map<const FailureRule*, std::string> failures;
  std::map<const Remedy*, std::string> remedies;
  for (const FailureRule& failure : rules.failures) failures[&failure] = paths.Add("", failure.code);
  for (const Remedy& remedy : rules.remedies) remedies[&remedy] = paths.Add(kRemedies, remedy.id);

  std::map<std::string, std::string> paths_of;
  for (const auto& [failure, path] : failures) paths_of[failure->code] = path;
  for (const auto& [remedy, path] : remedies) paths_of[remedy->id] = path;

  // Links are relative to their page.
  const auto back = [](const std::string& to_root) {
    return fmt::format("[All failures and remedies]({}{})", to_root, kIndex);
  };
  std::vector<Page> pages;
  doc::Blocks index = {doc::Verdict{0, "", doc::Words("Failures and remedies")}};
  for (doc::Block& block : TopicBlocks(rules)) index.push_back(std::move(block));
  pages.push_back({kIndex, WithLinks(PageOf(index, kReading), paths_of, "")});
  for (const FailureRule& failure : rules.failures) {
    if (const auto explanation = FindExplanation(rules, failure.code))
      pages.push_back({failures.at(&failure),
                       WithLinks(PageOf(ExplanationBlocks(rules, *explanation, {}), back("")), paths_of, "")});
  }
  for (const Remedy& remedy : rules.remedies) {
    const std::string page =
        PageOf(ExplanationBlocks(rules, {.topic = remedy.id, .remedies = {&remedy}}, frameworks), back("../"));
    pages.push_back({remedies.at(&remedy), WithLinks(page, paths_of, "../")});
  }
  return pages;
}

}  // namespace whyoom
