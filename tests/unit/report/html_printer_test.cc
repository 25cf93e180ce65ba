// The page is well-formed, loads nothing, and contains no markup from a log. tests/browser checks its look and
// behaviour.
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "clean_text.h"
#include "hostile_report.h"
#include "made_report.h"
#include "report/html/html_charts.h"
#include "report/html/html_writer.h"
#include "report/printers.h"
#include "report/report_document.h"

using namespace whyoom;

namespace TEST_FILE {

const std::set<std::string> kElements = {
    "a",       "article", "body",   "button", "caption",    "code",   "dd",      "defs", "details",
    "div",     "dl",      "dt",     "figure", "figcaption", "footer", "h1",      "h2",   "h3",
    "h4",      "h5",      "head",   "header", "html",       "input",  "label",   "li",   "line",
    "link",    "main",    "meta",   "ol",     "output",     "p",      "pattern", "pre",  "rect",
    "section", "span",    "strong", "style",  "script",     "sup",    "summary", "svg",  "table",
    "tbody",   "td",      "text",   "th",     "thead",      "title",  "tr",      "ul"};

// Returns the first fault of a page as XML or in its content; empty if there is none.
std::string FaultOf(std::string page) {
  for (const std::string_view ours : {PageStyle(), PageScript()}) {
    const std::size_t at = page.find(ours);
    if (at != std::string::npos) page.erase(at, ours.size());
  }
  static const std::regex tag("^<(/?)([a-zA-Z0-9]+)((?: [a-zA-Z0-9:-]+=\"[^\"<>]*\")*)(/?)>");
  static const std::regex reference("^&(amp|lt|gt|quot|#39);");
  std::vector<std::string> open;
  std::set<std::string> ids;
  for (std::size_t at = page.find('\n') + 1; at < page.size();) {
    const std::string here = page.substr(at, 4000);
    std::smatch match;
    if (page[at] == '<') {
      if (!std::regex_search(here, match, tag)) return "no tag: " + here.substr(0, 80);
      if (!kElements.contains(match[2])) return "unknown element: " + match[2].str();
      const std::string attributes = match[3];
      const std::string names = std::regex_replace(attributes, std::regex("=\"[^\"]*\""), "");
      if (std::regex_search(names, std::regex(" (on|style\\b)"))) return "attribute: " + names;
      std::smatch id;
      if (std::regex_search(attributes, id, std::regex(" id=\"([^\"]*)\"")) && !ids.insert(id[1]).second)
        return "id twice: " + id[1].str();
      if (std::regex_search(attributes, std::regex(" (href|src)=\"(?!https://|#|data:image/svg)")))
        return "link: " + attributes;
      if (match[1].length() > 0) {
        if (open.empty() || open.back() != match[2]) return "not open: " + match[2].str();
        open.pop_back();
      } else if (match[4].length() == 0) {
        open.push_back(match[2]);
      }
      at += static_cast<std::size_t>(match.length());
    } else if (page[at] == '&') {
      if (!std::regex_search(here, match, reference)) return "no reference: " + here.substr(0, 80);
      at += static_cast<std::size_t>(match.length());
    } else {
      if (page[at] == '>') return "> in text";
      ++at;
    }
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

TEST_CASE("a page is well-formed for every log", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  for (const std::size_t count : {0U, 1U, 2U, 4U, 60U}) {
    const std::string page = PrintHtml(HostileReport(rule, remedy, count));
    CHECK(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\""));
    CHECK(FaultOf(page) == "");
    CHECK(IsClean(page, "\n"));
    CHECK(page.find("\xef\xbf\xbf") == std::string::npos);  // XML has no U+FFFF
    CHECK(page.find("alert(1)") != std::string::npos);      // the attack is in the page, as text
  }
}

TEST_CASE("the check of a page finds faults", "[report]") {
  CHECK_FALSE(FaultOf("\n<p><b></p>").empty());
  CHECK_FALSE(FaultOf("\n<p>").empty());
  CHECK_FALSE(FaultOf("\n<p onclick=\"x\"></p>").empty());
  CHECK_FALSE(FaultOf("\n<a href=\"javascript:x\"></a>").empty());
  CHECK_FALSE(FaultOf("\n<p>&x</p>").empty());
}

TEST_CASE("the policy forbids fetching, and only pages that need a script have one", "[report]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  for (const std::size_t count : {0U, 1U, 3U, 4U}) {
    const std::string page = PrintHtml(HostileReport(rule, remedy, count));
    CHECK(page.find("content=\"default-src &#39;none&#39;; img-src data:; base-uri &#39;none&#39;; form-action "
                    "&#39;none&#39;; style-src &#39;sha256-") != std::string::npos);
    CHECK((page.find("<script") != std::string::npos) == (count > 3));
    CHECK((page.find("script-src &#39;sha256-") != std::string::npos) == (count > 3));
    CHECK(page.find("unsafe") == std::string::npos);
  }
  CHECK(PageScript().find("innerHTML") == std::string_view::npos);
}

TEST_CASE("each row of a batch links to its details, even with equal or invalid ids", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  Report report = HostileReport(rule, remedy, 10);
  report.failures[3].id = report.failures[4].id = "0123456789abcdef";
  const std::string page = PrintHtml(report);
  CHECK(FaultOf(page) == "");
  std::size_t links = 0;
  static const std::regex link("href=\"#(f-[^\"]*)\"");
  for (std::sregex_iterator match(page.begin(), page.end(), link), end; match != end; ++match, ++links)
    CHECK(page.find("id=\"" + (*match)[1].str() + "\"") != std::string::npos);
  CHECK(links == 10);
}

TEST_CASE("the page of very many failures is bounded", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  Report report = HostileReport(rule, remedy, 3000);
  const std::string page = PrintHtml(report);
  CHECK(page.size() < 8'000'000);  // hostile names are several times longer than usual ones
  CHECK(page.find("more (--format json lists all)") != std::string::npos);
}

TEST_CASE("the chart of the need shows the parts that the log states, and no unknown values", "[report]") {
  FailureRule rule;
  rule.code = "T1";
  rule.phase = "compile";
  Failure failure;
  failure.rule = &rule;
  const auto drawn = [&] { return PrintHtml(MadeReport({failure})); };
  CHECK(drawn().find("<figure") == std::string::npos);
  constexpr double kGiB = 1073741824.0;
  failure.facts.Set("need_bytes", 8 * kGiB, {});
  CHECK(drawn().find("<figure") == std::string::npos);
  failure.facts.Set("have_bytes", 6 * kGiB, {});
  CHECK(drawn().find("8.00 GiB needed: needed 8.00 GiB") != std::string::npos);
  failure.facts.Set("arguments_bytes", 2 * kGiB, {});
  failure.facts.Set("program_bytes", 5 * kGiB, {});
  failure.facts.Set("hlo_temp_bytes", 4 * kGiB, {});
  failure.facts.Set("hlo_temp_padding_bytes", 1 * kGiB, {});
  CHECK(drawn().find(
            "8.00 GiB needed: arguments 2.00 GiB, temporaries 3.00 GiB, padding of temporaries 1.00 GiB, rest of "
            "the program 1.00 GiB, not broken down 1.00 GiB") != std::string::npos);
  failure.facts.Set("arguments_bytes", 1e300, {}, true);  // limited to the need
  CHECK(drawn().find("8.00 GiB needed: arguments 8.00 GiB\"") != std::string::npos);
}

TEST_CASE("a histogram counts every time once", "[report]") {
  const auto drawn = [](const std::vector<Timestamp>& times) {
    HtmlWriter html;
    DrawTimes(times, "Failures", &html);
    return html.Take();
  };
  CHECK(drawn({}).empty());
  CHECK(drawn({{5, true}, {5, true}}).empty());
  const std::string page = drawn({{-1, true}, {0, true}, {3'600'000'000, true}, {3'600'000'001, true}});
  CHECK(page.find(": 1</title>") != std::string::npos);
  CHECK(page.find("each column covers 5 minutes; the tallest counts 2, from 1970-01-01T01:00:00Z on") !=
        std::string::npos);
  CHECK(drawn({{-62135596800'000'000, false}, {253402300799'000'000, false}}).find("<rect") != std::string::npos);
}

TEST_CASE("a histogram states the time span of a column in words", "[report]") {
  const auto drawn = [](const std::vector<const char*>& texts) {
    std::vector<Timestamp> times;
    for (const char* text : texts) times.push_back(*ParseTimestamp(text));
    HtmlWriter html;
    DrawTimes(times, "Failures", &html);
    return html.Take();
  };
  const std::string days = drawn({"2026-11-01T10:00:00Z", "2026-11-28T11:00:00Z", "2026-11-28T00:00:00Z"});
  CHECK(days.find("each column covers a day; the tallest counts 2, from 2026-11-28 on") != std::string::npos);
  CHECK(days.find("<span>2026-11-01</span>") != std::string::npos);
  const std::string years = drawn({"1999-12-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-11-01T00:00:01Z"});
  CHECK(years.find("each column covers 365 days; the tallest counts 2, ") != std::string::npos);
}

TEST_CASE("the common folder of all paths is printed once", "[report]") {
  const FailureRule rule = MadeFailure();
  const auto of = [&](const std::vector<std::string>& paths) {
    Report report = MadeReport({});
    for (const std::string& path : paths) {
      report.failures.push_back(MadeFailure(rule));
      report.failures.back().where.artifact.path = path;
    }
    return CommonFolder(report);
  };
  CHECK(of({"logs/run1/a.log", "logs/run2/b.log"}) == "logs/");
  CHECK(of({"logs/run1/a.log", "logs/run10/b.log"}) == "logs/");
  CHECK(of({"/srv/logs/a.log", "/srv/logs/b.log"}) == "/srv/logs/");
  CHECK(of({"/srv/logs/a.log", "/opt/b.log"}).empty());  // "/" does not shorten paths much
  CHECK(of({"logs/a.log", "-"}).empty());
  CHECK(of({"a.log", "b.log"}).empty());
  CHECK(of({"logs/a.log"}).empty());
  CHECK(BelowFolder("logs/run1/a.log:7", "logs/") == "run1/a.log:7");
  CHECK(BelowFolder("other/a.log:7", "logs/") == "other/a.log:7");
}

}  // namespace TEST_FILE
