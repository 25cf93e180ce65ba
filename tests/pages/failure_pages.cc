#include "pages/failure_pages.h"

#include <map>
#include <set>
#include <utility>

#include "report/explanation_document.h"
#include "report/printers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kIndex = "README.md";
constexpr const char* kRemedies = "remedies/";

constexpr const char* kReading =
    "These pages are generated from the rule data. Words in ‹ › stand for a value from a log. A diagnosis shows the "
    "value, and omits a sentence if a value in it is unknown. \"Results\" shows how a remedy affects what the job "
    "computes; \"cost\" shows what else it requires.";

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

std::string PageOf(doc::Blocks blocks, doc::Paragraph last) {
  blocks.emplace_back(std::move(last));
  return std::string(kPageMark) + "\n\n" + PrintMarkdownPage(blocks);
}

}  // namespace

std::vector<Page> MakeFailurePages(const RuleSet& rules, const Frameworks& frameworks) {
  Paths paths;
  std::map<const FailureRule*, std::string> failures;
  std::map<const Remedy*, std::string> remedies;
  for (const FailureRule& failure : rules.failures) failures[&failure] = paths.Add("", failure.code);
  for (const Remedy& remedy : rules.remedies) remedies[&remedy] = paths.Add(kRemedies, remedy.id);

  // Links are relative to their page.
  const auto links = [&](const std::string& to_root) {
    return PageLinks{[&, to_root](const Remedy& remedy) { return to_root + remedies.at(&remedy); },
                     [&, to_root](const FailureRule& failure) { return to_root + failures.at(&failure); }};
  };
  const auto back = [](const std::string& to_root) {
    return doc::Paragraph{{{"All failures and remedies", doc::Span::Kind::kPage, to_root + kIndex}}};
  };
  std::vector<Page> pages;
  doc::Blocks index = {doc::Verdict{0, "", doc::Words("Failures and remedies")}};
  for (doc::Block& block : TopicBlocks(rules, links(""))) index.push_back(std::move(block));
  pages.push_back({kIndex, PageOf(std::move(index), {doc::Sentence(kReading)})});
  for (const FailureRule& failure : rules.failures) {
    if (const auto explanation = FindExplanation(rules, failure.code))
      pages.push_back({failures.at(&failure), PageOf(FailureBlocks(*explanation, links("")), back(""))});
  }
  for (const Remedy& remedy : rules.remedies)
    pages.push_back({remedies.at(&remedy), PageOf(RemedyBlocks(rules, remedy, frameworks, links("../")), back("../"))});
  return pages;
}

}  // namespace whyoom
