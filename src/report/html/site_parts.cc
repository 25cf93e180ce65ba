#include "report/html/site_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "report/finding_view.h"
#include "report/markdown/explain_markdown.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kExampleLines = 4;
constexpr std::size_t kExampleBytes = 600;

std::vector<std::string> Outlines(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(sentence.text.Outline());
  return texts;
}

void AddSection(int level, const char* title, const std::vector<std::string>& texts, HtmlWriter* html) {
  if (texts.empty()) return;
  html->Heading(level, title);
  AddAdviceList(texts, html);
}

// The begin of the first text that the rule data gives as an example.
std::vector<CodeLine> ExampleOf(const Failure& failure) {
  if (failure.match.empty()) return {};
  const std::string& text = failure.match.front().text;
  std::vector<CodeLine> lines;
  std::size_t begin = std::min(text.find_first_not_of("\n "), text.size());
  for (std::size_t i = 0; i < kExampleLines && begin < text.size(); ++i) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back({CutBytes(Printable(text.substr(begin, end - begin)), kExampleBytes)});
    begin = end + 1;
  }
  return lines;
}

// As they are, one below the other; what changed is marked.
void AddLines(const std::vector<CodeLine>& lines, HtmlWriter* html) {
  const auto pre = html->In("pre");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) html->Line();
    if (lines[i].changed && !lines[i].text.empty()) {
      html->Element("mark", lines[i].text);
    } else {
      html->Text(lines[i].text);
    }
  }
}

// What it does to the results, and what it costs, in short.
void AddChips(const Remedy& remedy, HtmlWriter* html) {
  const auto in = html->In("p", {{"class", "chips"}});
  const bool harmless = remedy.inquiry || remedy.safety.starts_with("safe");
  html->Element("span", remedy.inquiry ? "finds out more" : "results " + ResultsWord(remedy),
                {{"class", harmless ? "chip good" : "chip careful"}});
  html->Text(" ");
  html->Element("span", "cost: " + CostWord(remedy), {{"class", "chip"}});
}

void AddCode(const char* title, const char* style, const std::vector<CodeLine>& lines, HtmlWriter* html) {
  const auto figure = html->In("figure", {{"class", std::string("code ") + style}});
  html->Element("figcaption", title);
  AddLines(lines, html);
}

void AddSnippet(const Snippet& snippet, HtmlWriter* html) {
  const CodeChange change = ChangeIn(snippet);
  const auto in = html->Block("div", {{"class", "change"}});
  AddCode("before", "before", change.before, html);
  AddCode("after", "after", change.after, html);
}

void AddSteps(const Steps& steps, HtmlWriter* html) {
  AddAdviceList(steps.plain, html);
  if (steps.of_log.empty()) return;
  const auto details = html->In("details");
  html->Element("summary", "With what a log tells");
  AddAdviceList(steps.of_log, html);
}

void AddScenario(const SiteContext& site, const Explanation& explanation, const Scenario& scenario, HtmlWriter* html) {
  {
    const auto heading = html->In("h3", {{"id", "scenario-" + PlainName(scenario.id)}});
    html->Element("code", explanation.failure->code + "." + scenario.id);
    html->Text(" " + scenario.title);
  }
  AddAdviceIn("p", scenario.about, html);
  if (scenario.retry) AddAdviceIn("p", RetryText(*scenario.retry), html);
  if (const std::vector<std::string> why = Outlines(scenario.why); !why.empty()) {
    const auto details = html->In("details");
    html->Element("summary", "What a diagnosis says of the log, as far as it is known");
    AddAdviceList(why, html);
  }
  bool first = true;
  std::optional<HtmlWriter::Scope> in;
  for (const RemedyUse& use : InOrder(scenario.remedies)) {
    const Remedy* remedy = site.rules.FindRemedy(use.remedy);
    if (remedy == nullptr) continue;
    if (first) {
      in.emplace(html->In("p", {{"class", "faint"}}));
      html->Text("Remedies, in the order that holds where the log says nothing: ");
    } else {
      html->Text(" · ");
    }
    first = false;
    html->Element("a", remedy->title, {{"href", "#remedy-" + PlainName(remedy->id)}});
  }
}

void AddContents(const Explanation& explanation, HtmlWriter* html) {
  const auto nav = html->Block("nav", {{"class", "contents"}, {"aria-label", "Contents"}});
  html->Heading(2, "On this page");
  const auto list = html->In("ul");
  const auto item = [&](const std::string& to, const std::string& text) {
    const auto in = html->In("li");
    html->Element("a", text, {{"href", "#" + to}});
  };
  for (const Scenario* scenario : explanation.scenarios)
    item("scenario-" + PlainName(scenario->id), "Scenario " + scenario->id + ": " + scenario->title);
  for (const RemedyEntry& entry : explanation.remedies)
    item("remedy-" + PlainName(entry.remedy->id), entry.remedy->title);
}

void AddRemedyInFailure(const SiteContext& site, const RemedyEntry& entry, HtmlWriter* html) {
  const Remedy& remedy = *entry.remedy;
  const auto article = html->Block("section", {{"class", "entry"}, {"id", "remedy-" + PlainName(remedy.id)}});
  html->Heading(3, remedy.title);
  AddChips(remedy, html);
  if (!entry.scenarios.empty()) {
    std::string of;
    for (const std::string& id : entry.scenarios) of += (of.empty() ? "" : ", ") + id;
    html->Element("p", (entry.scenarios.size() == 1 ? "For scenario " : "For scenarios ") + of + ".",
                  {{"class", "faint"}});
  }
  AddAdviceIn("p", remedy.gain, html);
  AddHow(site, remedy, 4, html);
  const auto in = html->In("p", {{"class", "links"}});
  html->Element("a", "All about this remedy", {{"href", site.links.remedy(remedy)}});
}

void AddField(const char* label, const std::string& text, HtmlWriter* html) {
  if (text.empty()) return;
  html->Element("dt", label);
  AddAdviceIn("dd", text, html);
}

}  // namespace

void AddAdviceIn(std::string_view element, const std::string& text, HtmlWriter* html) {
  if (text.empty()) return;
  const auto in = html->Block(element);
  html->Sentence(text);
}

void AddAdviceList(const std::vector<std::string>& texts, HtmlWriter* html) {
  if (std::all_of(texts.begin(), texts.end(), [](const std::string& text) { return text.empty(); })) return;
  const auto list = html->Block("ul");
  for (const std::string& text : texts) AddAdviceIn("li", text, html);
}

void AddLinkList(const std::vector<Link>& links, HtmlWriter* html) {
  if (links.empty()) return;
  const auto list = html->Block("ul");
  for (const Link& link : links) {
    const auto item = html->In("li");
    if (link.url.starts_with("https://") || link.url.starts_with("http://")) {
      html->Element("a", link.title, {{"href", link.url}, {"rel", "noreferrer"}});
    } else {
      html->Text(link.title + ": " + link.url);
    }
  }
}

void AddHow(const SiteContext& site, const Remedy& remedy, int level, HtmlWriter* html) {
  const std::vector<Steps> all = StepsIn(site.rules, remedy, site.frameworks);
  const std::vector<ShownSnippet> snippets = SnippetsIn(site.rules, remedy, site.frameworks);
  const auto with_steps = [&](const Framework* framework) {
    return std::any_of(all.begin(), all.end(), [&](const Steps& steps) { return steps.framework == framework; });
  };
  const auto add_snippets = [&](const Framework* framework) {
    for (const ShownSnippet& one : snippets) {
      if (one.framework == framework) AddSnippet(*one.snippet, html);
    }
  };
  // One framework's are open; of the others the page is long enough.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = all[i].framework == nullptr ? "the framework" : all[i].framework->name;
    if (i == 0) {
      html->Heading(level, "In " + name);
      AddSteps(all[i], html);
      add_snippets(all[i].framework);
      continue;
    }
    const auto details = html->Block("details", {{"class", "framework"}});
    html->Element("summary", "In " + name);
    AddSteps(all[i], html);
    add_snippets(all[i].framework);
  }
  for (const ShownSnippet& one : snippets) {
    if (with_steps(one.framework)) continue;
    html->Heading(level, "In " + one.framework->name);
    AddSnippet(*one.snippet, html);
  }
}

void AddFailurePage(const SiteContext& site, const Explanation& explanation, HtmlWriter* html) {
  const Failure& failure = *explanation.failure;
  {
    const auto header = html->Block("header", {{"class", "verdict"}});
    const auto heading = html->In("h1");
    html->Element("span", failure.code, {{"class", "code"}});
    html->Text(" " + failure.title);
  }
  std::string facts = failure.category;
  for (const std::string& alias : failure.aliases) facts += " · also written " + alias;
  html->Element("p", facts, {{"class", "faint"}});
  AddContents(explanation, html);
  html->Heading(2, "What it means");
  for (const std::string& paragraph : failure.about) AddAdviceIn("p", paragraph, html);
  if (failure.retry) AddAdviceIn("p", RetryText(*failure.retry), html);
  if (const std::vector<CodeLine> example = ExampleOf(failure); !example.empty()) {
    html->Element("p", "Such a log reads, for example:");
    AddLines(example, html);
  }
  if (!explanation.scenarios.empty()) html->Heading(2, "Scenarios, and what tells them apart");
  for (const Scenario* scenario : explanation.scenarios) AddScenario(site, explanation, *scenario, html);
  if (!explanation.remedies.empty()) html->Heading(2, "What helps");
  for (const RemedyEntry& entry : explanation.remedies) AddRemedyInFailure(site, entry, html);
  AddSection(2, "What a diagnosis says whatever the scenario", Outlines(failure.why), html);
  if (!failure.links.empty()) html->Heading(2, "Official pages");
  AddLinkList(failure.links, html);
}

void AddRemedyPage(const SiteContext& site, const Remedy& remedy, HtmlWriter* html) {
  html->Heading(1, remedy.title);
  AddChips(remedy, html);
  {
    const auto in = html->In("p", {{"class", "faint"}});
    html->Text("In reports and on the command line: ");
    html->Element("code", remedy.id);
  }
  {
    const auto list = html->Block("dl", {{"class", "facts"}});
    AddField("Safe?", SafeText(remedy.safety, remedy.safe_why), html);
    for (const OtherSafety& other : remedy.safety_when)
      AddField("Or, in another use", SafeText(other.safety, other.safe_why), html);
    AddField("What it can gain", remedy.gain, html);
    AddField("What speaks for it", remedy.telltale, html);
    AddField("Good to know", remedy.note, html);
  }
  html->Heading(2, "How");
  AddHow(site, remedy, 3, html);
  std::vector<std::string> releases;
  for (const NameVersions* versions : VersionsIn(site.rules, StepsIn(site.rules, remedy, site.frameworks),
                                                 SnippetsIn(site.rules, remedy, site.frameworks)))
    releases.push_back(VersionsText(*versions));
  AddSection(2, "Which releases have it", releases, html);
  AddSection(2, "What in a log speaks for it", Outlines(remedy.evidence), html);
  AddSection(2, "What rules it out", Outlines(remedy.ruled_out), html);
  const auto add_links = [&](const char* title, const auto& add) {
    html->Heading(2, title);
    const auto list = html->Block("ul");
    add();
  };
  const std::vector<Use> uses = UsesOf(site.rules, remedy);
  if (!uses.empty()) {
    add_links("Helps with", [&] {
      std::set<const Failure*> told;
      for (const Use& use : uses) {
        if (!told.insert(use.failure).second) continue;
        const auto item = html->In("li");
        html->Element("a", use.failure->code + " " + use.failure->title, {{"href", site.links.failure(*use.failure)}});
      }
    });
  }
  const bool any_with = std::any_of(remedy.with.begin(), remedy.with.end(),
                                    [&](const std::string& id) { return site.rules.FindRemedy(id) != nullptr; });
  if (any_with) {
    add_links("Goes well with", [&] {
      for (const std::string& id : remedy.with) {
        const Remedy* other = site.rules.FindRemedy(id);
        if (other == nullptr) continue;
        const auto item = html->In("li");
        html->Element("a", other->title, {{"href", site.links.remedy(*other)}});
      }
    });
  }
  if (!remedy.links.empty()) html->Heading(2, "Read more");
  AddLinkList(remedy.links, html);
}

void AddFailureList(const SiteContext& site, HtmlWriter* html) {
  for (const auto& section : {std::pair("compile", "When a program is compiled"), {"run", "When it runs"}}) {
    const std::string_view phase = section.first;
    const auto& failures = site.rules.failures();
    if (std::none_of(failures.begin(), failures.end(), [&](const Failure& one) { return one.phase == phase; }))
      continue;
    html->Heading(2, section.second);
    const auto list = html->Block("ul", {{"class", "codes"}});
    for (const Failure& failure : failures) {
      if (failure.phase != phase) continue;
      const auto item = html->Block("li");
      {
        const auto link = html->In("a", {{"href", site.links.failure(failure)}});
        html->Element("code", failure.code);
        html->Text(" " + failure.title);
      }
      std::string scenarios;
      for (const Scenario& scenario : failure.scenarios) scenarios += (scenarios.empty() ? "" : " · ") + scenario.title;
      if (!scenarios.empty()) html->Element("span", scenarios, {{"class", "faint"}});
    }
  }
}

void AddRemedyList(const SiteContext& site, HtmlWriter* html) {
  const auto scroll = html->In("div", {{"class", "scroll"}});
  const auto table = html->In("table", {{"aria-label", "Remedies"}});
  html->TableHead({{"remedy"}, {"results"}, {"cost"}, {"helps with"}});
  const auto body = html->In("tbody");
  for (const auto& [id, remedy] : site.rules.remedies()) {
    const auto row = html->Block("tr");
    {
      const auto head = html->In("th", {{"scope", "row"}});
      html->Element("a", remedy.title, {{"href", site.links.remedy(remedy)}});
    }
    html->Element("td", ResultsWord(remedy), {{"data-name", "results"}});
    html->Element("td", CostWord(remedy), {{"data-name", "cost"}});
    const auto cell = html->In("td", {{"data-name", "helps with"}});
    std::set<const Failure*> told;
    for (const Use& use : UsesOf(site.rules, remedy)) {
      if (!told.insert(use.failure).second) continue;
      if (told.size() > 1) html->Text(" ");
      html->Element("a", use.failure->code, {{"href", site.links.failure(*use.failure)}});
    }
  }
}

}  // namespace whyoom
