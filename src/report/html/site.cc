#include "report/html/site.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "report/html/html_page.h"
#include "report/html/html_writer.h"
#include "report/html/site_parts.h"
#include "report/markdown/explain_markdown.h"

namespace whyoom {
namespace {

constexpr const char* kIndex = "index.html";
constexpr const char* kRemedies = "remedies.html";
constexpr const char* kTermsPage = "terms.html";

// Paths of pages, no two alike where upper and lower case are the same.
class Paths {
 public:
  std::string Add(const std::string& folder, const std::string& id) {
    std::string path = folder + PlainName(id);
    while (!taken_.insert(LowerCase(path)).second) path += "_";
    return path + ".html";
  }

 private:
  static std::string LowerCase(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  }

  std::set<std::string> taken_ = {"index", "remedies", "terms"};
};

class Site {
 public:
  Site(const RuleSet& rules, const Frameworks& frameworks, const std::string& version)
      : rules_(rules), frameworks_(frameworks), version_(version) {
    Paths paths;
    for (const Failure& failure : rules.failures()) failures_[&failure] = paths.Add("", failure.code);
    for (const auto& [id, remedy] : rules.remedies()) remedies_[&remedy] = paths.Add("remedies/", id);
  }

  std::vector<Page> Make() const;

 private:
  template <class AddContent>
  Page MakePage(const std::string& path, const std::string& title, const AddContent& add_content) const;

  const RuleSet& rules_;
  const Frameworks& frameworks_;
  const std::string& version_;
  std::map<const Failure*, std::string> failures_;
  std::map<const Remedy*, std::string> remedies_;
};

template <class AddContent>
Page Site::MakePage(const std::string& path, const std::string& title, const AddContent& add_content) const {
  const std::string to_root = path.find('/') == std::string::npos ? "" : "../";
  const SiteContext site{rules_,
                         frameworks_,
                         {[&](const Failure& failure) { return to_root + failures_.at(&failure); },
                          [&](const Remedy& remedy) { return to_root + remedies_.at(&remedy); }}};
  HtmlWriter html;
  html.Verbatim(kSiteMark);
  {
    const auto root = html.Block("html", {{"lang", "en"}, {"xmlns", "http://www.w3.org/1999/xhtml"}});
    AddHead(title, false, &html);
    const auto body = html.In("body");
    {
      const auto nav = html.Block("nav", {{"class", "book-nav"}, {"aria-label", "Book"}});
      for (const auto& [name, to] : {std::pair("Codes", kIndex), {"Remedies", kRemedies}, {"Terms", kTermsPage}}) {
        HtmlWriter::Attributes attributes = {{"href", to_root + to}};
        if (path == to) attributes.emplace_back("aria-current", "page");
        html.Element("a", name, attributes);
        html.Text(" ");
      }
    }
    {
      const auto main = html.In("main", {{"class", "book"}});
      add_content(site, &html);
    }
    const auto footer = html.In("footer");
    const auto in = html.In("p");
    html.Text("whyoom " + version_ + " · rules ");
    html.Element("code", rules_.fingerprint().substr(0, 12), {{"title", rules_.fingerprint()}});
    html.Text(" · ‹words› stand for what only a log tells: in a diagnosis there is a figure or a name in their place");
  }
  return {path, html.Take()};
}

std::vector<Page> Site::Make() const {
  std::vector<Page> pages;
  pages.push_back(MakePage(kIndex, "XLA memory errors", [](const SiteContext& site, HtmlWriter* html) {
    html->Heading(1, "XLA memory errors: what they mean, what helps");
    AddFailureList(site, html);
  }));
  pages.push_back(MakePage(kRemedies, "Remedies", [](const SiteContext& site, HtmlWriter* html) {
    html->Heading(1, "Remedies");
    AddRemedyList(site, html);
  }));
  pages.push_back(MakePage(kTermsPage, "Terms", [](const SiteContext&, HtmlWriter* html) {
    html->Heading(1, "Terms");
    AddTerms(html);
  }));
  for (const Failure& failure : rules_.failures()) {
    const auto explanation = FindExplanation(rules_, failure.code);
    if (!explanation) continue;
    pages.push_back(
        MakePage(failures_.at(&failure), failure.code + " " + failure.title,
                 [&](const SiteContext& site, HtmlWriter* html) { AddFailurePage(site, *explanation, html); }));
  }
  for (const auto& [id, remedy] : rules_.remedies()) {
    pages.push_back(
        MakePage(remedies_.at(&remedy), remedy.title,
                 [&one = remedy](const SiteContext& site, HtmlWriter* html) { AddRemedyPage(site, one, html); }));
  }
  return pages;
}

}  // namespace

std::vector<Page> MakeSite(const RuleSet& rules, const Frameworks& frameworks, const std::string& version) {
  return Site(rules, frameworks, version).Make();
}

}  // namespace whyoom
