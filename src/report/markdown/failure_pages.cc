#include "report/markdown/failure_pages.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "report/markdown/explain_markdown.h"

namespace whyoom {
namespace {

constexpr const char* kIndex = "README.md";
constexpr const char* kRemedies = "remedies/";

constexpr const char* kReading =
    "\nEverything here is in the rule data, which diagnoses are made of. ‹words› stand for what only a log tells: in a "
    "diagnosis there is a figure or a name in their place, and a sentence with one that is not known is left out. "
    "*Results* is what a remedy does to what the job computes; *cost* what else it takes.\n";

// Paths of pages, no two alike where upper and lower case are the same.
class Paths {
 public:
  std::string Add(const std::string& folder, const std::string& id) {
    std::string path = folder + PlainName(id);
    while (!taken_.insert(LowerCase(path)).second) path += "_";
    return path + ".md";
  }

 private:
  static std::string LowerCase(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  }

  std::set<std::string> taken_ = {"readme"};
};

std::string Marked(const std::string& page) { return std::string(kPageMark) + "\n\n" + page; }

}  // namespace

std::vector<Page> MakeFailurePages(const RuleSet& rules, const Frameworks& frameworks) {
  Paths paths;
  std::map<const Failure*, std::string> failures;
  std::map<const Remedy*, std::string> remedies;
  for (const Failure& failure : rules.failures()) failures[&failure] = paths.Add("", failure.code);
  for (const auto& [id, remedy] : rules.remedies()) remedies[&remedy] = paths.Add(kRemedies, id);

  // Links are relative to the page they stand on.
  const auto links = [&](const std::string& to_root) {
    return PageLinks{[&, to_root](const Remedy& remedy) { return to_root + remedies.at(&remedy); },
                     [&, to_root](const Failure& failure) { return to_root + failures.at(&failure); }};
  };
  const auto back = [](const std::string& to_root) {
    return std::string("\n[All failures and remedies](") + to_root + kIndex + ")\n";
  };
  std::vector<Page> pages;
  pages.push_back({kIndex, Marked(MarkdownIndex(rules, links("")) + kReading)});
  for (const Failure& failure : rules.failures()) {
    if (const auto explanation = FindExplanation(rules, failure.code))
      pages.push_back({failures.at(&failure), Marked(MarkdownFailure(*explanation, links("")) + back(""))});
  }
  for (const auto& [id, remedy] : rules.remedies()) {
    const std::string text = MarkdownRemedy(rules, remedy, frameworks, links("../"), 1) + back("../");
    pages.push_back({remedies.at(&remedy), Marked(text)});
  }
  return pages;
}

}  // namespace whyoom
