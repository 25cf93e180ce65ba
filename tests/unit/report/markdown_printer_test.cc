// Markdown for an issue is readable and of bounded size, and contains no markup from a log.
#include <regex>
#include <string>

#include "catch.h"
#include "clean_text.h"
#include "hostile_report.h"
#include "report/printers.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

std::size_t RunAt(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] == '`') ++end;
  return end - at;
}

// Returns the end of the code that the `run` backticks before `at` open; npos if they do not open code.
std::size_t CodeEnd(const std::string& text, std::size_t at, std::size_t run) {
  while ((at = text.find('`', at)) != std::string::npos) {
    const std::size_t here = RunAt(text, at);
    at += here;
    if (here == run) return at;
  }
  return at;
}

// Returns what a Markdown parser does not treat as code. Code spans and fenced blocks (CommonMark 6.1, 4.5) both end at
// the next run of backticks of the same length, because our fences are never shorter. Character references are never
// markup, and code elements contain no links.
std::string WithoutCode(const std::string& markdown) {
  std::string rest;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t run = RunAt(markdown, at);
    const std::size_t end = run == 0 ? std::string::npos : CodeEnd(markdown, at + run, run);
    if (end != std::string::npos) {
      at = end;
    } else {
      rest += markdown[at++];
    }
  }
  const std::string comment = "<!-- -->";  // whyoom writes these inside code elements
  for (std::size_t at = rest.find(comment); at != std::string::npos; at = rest.find(comment, at))
    rest.erase(at, comment.size());
  rest = std::regex_replace(rest, std::regex("<code>[^<\n]*</code>"), "");
  return std::regex_replace(rest, std::regex("&#[0-9]+;"), "");
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void CheckHarmless(const std::string& markdown) {
  CHECK(IsClean(markdown, "\n"));
  const std::string rest = WithoutCode(markdown);
  INFO(rest);
  for (const char* attack : {"@", "#1", "#3", "GH-2", "http:", "www.", "alert(", "<script", "<!--", "onload=", "](",
                             "![", "~~~", "$$", ":tada:", "`", "\n# ", "_i_", "javascript"})
    CHECK(rest.find(attack) == std::string::npos);
  CHECK(rest.find("0123456789abcdef") == std::string::npos);
  CHECK(CountOf(rest, "<details>") == CountOf(rest, "</details>"));
  CHECK(rest.find("code>") == std::string::npos);
  // No row has more cells than the header of its table.
  std::size_t cells = 0;
  std::string before;
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t end = rest.find('\n', at);
    const std::string line = rest.substr(at, end - at);
    if (line.starts_with("|")) {
      const std::size_t here = CountOf(line, "|");
      if (before.starts_with("|")) CHECK(here == cells);
      cells = here;
    }
    before = line;
    at = end == std::string::npos ? rest.size() : end + 1;
  }
}

TEST_CASE("a name in code ends at the right backtick", "[report]") {
  const auto page = [](const doc::Block& block) { return PrintMarkdownPage({block}); };
  const auto code = [&](const char* name) { return page(doc::Paragraph{doc::Name(name)}); };
  CHECK(code("f32[2]{0}") == "`f32[2]{0}`\n");
  CHECK(code("a`b") == "``a`b``\n");
  CHECK(code("``") == "``` `` ```\n");
  CHECK(code(" x ") == "`  x  `\n");
  CHECK(code("").empty());
  CHECK(code("a|b\\|c") == "<code>a&#124;b&#92;&#124;c</code>\n");
  CHECK(code("a\nb") == "`a b`\n");
  CHECK(code("www.x|y") == "<code>www&#46;x&#124;y</code>\n");
  CHECK(code("<b>| @x &") == "<code>&#60;b&#62;&#124; <!-- -->&#64;x &#38;</code>\n");
  CHECK(page(doc::CodeOf("a ```` b")) == "`````text\na ```` b\n`````\n");
  CHECK(page(doc::Paragraph{doc::Sentence("    pts is large")}) == "pts is large\n");
  CHECK(page(doc::Paragraph{doc::Sentence("  ")}).empty());
  CHECK(page(doc::Paragraph{doc::Sentence("see @x (line 3)")}) == "see `@x` (line 3)\n");
}

TEST_CASE("log text cannot become markup, a mention, a reference or a link", "[report]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  for (const std::size_t count : {1U, 3U, 4U, 30U}) CheckHarmless(PrintMarkdown(HostileReport(rule, remedy, count)));
}

TEST_CASE("markdown shows verdict, figures, remedies and versions", "[report]") {
  FailureRule rule;
  rule.code = "T1";
  rule.title = "a test";
  rule.phase = "compile";
  Remedy remedy;
  remedy.title = "Do less";
  remedy.safety = "safe";
  Report report;
  report.version = "1.2.3";
  report.rules_fingerprint = "0123456789abcdef";
  report.failures.emplace_back();
  Failure& failure = report.failures[0];
  failure.rule = &rule;
  failure.confidence = Confidence::kHigh;
  failure.where = {{"a|b.log", ""}, 7, 9, 0};
  failure.facts.Set("need_bytes", 3221225472.0, {});
  failure.facts.Set("have_bytes", 1073741824.0, {});
  RankedRemedy ranked;
  ranked.rank = 1;
  ranked.remedy = &remedy;
  ranked.saves_bytes = std::int64_t{1} << 30;
  ranked.enough = true;
  ranked.why = {{"It is so.", 8}};
  ranked.how = {"Call f(x)."};
  ranked.safety = remedy.safety;
  ranked.safe_why = remedy.safe_why;
  failure.remedies.push_back(std::move(ranked));
  const std::string text = PrintMarkdown(report);
  CHECK(
      text.starts_with("### `T1` a test\n\n3.00 GiB needed, 2.00 GiB over the 1.00 GiB usable (3.0 times)\n\n"
                       "<code>a&#124;b&#46;log&#58;7</code>\n"));
  CHECK(text.find(
            "1. **Do less**\n    - saves about 1.00 GiB · should fit · results stay the same\n    - Call `f(x)`.\n") !=
        std::string::npos);
  CHECK(text.find("<sub>whyoom 1.2.3 · rules `0123456789ab`") != std::string::npos);
  CHECK(text.find("Left out") == std::string::npos);
}

TEST_CASE("markdown stays within its size limit and reports what is left out", "[report][slow]") {
  const FailureRule rule = HostileFailure();
  const Remedy remedy = HostileRemedy();
  for (const std::size_t count : {1U, 3U, 200U}) {
    const Report report = HostileReport(rule, remedy, count);
    const std::string whole = PrintMarkdown(report, std::string::npos);
    CHECK(whole.find("Left out") == std::string::npos);
    CHECK(PrintMarkdown(report).size() <= kMostOfIssue);
    for (std::size_t most = 0; most < whole.size(); most += 1 + most / 7) {
      const std::string part = PrintMarkdown(report, most);
      INFO(most);
      REQUIRE(part.size() <= most);
      CheckHarmless(part);
      if (!part.empty())
        CHECK((part.find("Left out") != std::string::npos || part.find("exceeds the size limit") != std::string::npos));
    }
  }
}

TEST_CASE("details are left out before failures, from the end", "[report]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({MadeFailure(rule, "a"), MadeFailure(rule, "b")});
  std::size_t most = PrintMarkdown(report, std::string::npos).size() + 200;
  const auto shrink = [&](const std::string& left_out) {
    const std::string sentence = "_Left out because of the size limit: " + left_out + ". The same command ";
    std::string page;
    do {
      page = PrintMarkdown(report, most -= 10);
    } while (most > 10 && page.find(sentence) == std::string::npos);
    return page;
  };
  for (const char* details : {"the details of 1 failure", "the details of 2 failures"}) {
    const std::string page = shrink(details);
    CHECK(CountOf(page, "### `T1`") == 2);
    CHECK(CountOf(page, "<summary>The error message") == (details[15] == '1' ? 1 : 0));
  }
  CHECK(CountOf(shrink("1 failure and the details of 1 failure"), "### `T1`") == 1);
  CHECK(PrintMarkdown(report, 0).empty());
}

TEST_CASE("the largest allocations have the program's names, without the dump's escapes", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  SetSource("train.py", 3, &failure);
  failure.allocations.front().xla_label = "copy-start.10 = copy-start(x)";
  SetSource("train.py", 4, &failure);
  failure.allocations.back().shape_text = "f32[2]";
  failure.allocations.back().op_name = "state[\\'w\\']";
  failure.allocations.push_back(failure.allocations.back());
  failure.allocations.back().source_file.clear();
  failure.allocations.back().shape_text = "f32[3]";
  const std::string page = PrintMarkdown(MadeReport({failure}), 60000);
  CHECK(page.find("`state['w']`") != std::string::npos);
  CHECK(page.find("`train.py:4`") != std::string::npos);
  CHECK(page.find("copy-start.10") == std::string::npos);
}

TEST_CASE("a report without findings is one sentence", "[report]") {
  Report report;
  report.version = "1";
  report.artifacts = 2;
  report.bytes = 2048;
  CHECK(PrintMarkdown(report).starts_with("### No out-of-memory error found in 2 inputs (2.0 KiB).\n\n<sub>whyoom 1 "));
  report.problems.push_back({"gone.log", "", "no such file"});
  CHECK(PrintMarkdown(report).find("\n- `gone.log`: no such file\n") != std::string::npos);
}

}  // namespace TEST_FILE
