#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "report/failure_view.h"
#include "report/printers.h"
#include "report/summary.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostAnnotations = 10;  // per step and level, as GitHub shows
constexpr std::size_t kLongestTitle = 255;
constexpr std::size_t kLongestMessage = 4000;  // the runner cuts at 4096 characters

constexpr const char* kSpecialInProperty = "%\r\n:,";

std::string Escape(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text)
    escaped += special.find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", c);
  return escaped;
}

std::string Command(const char* level, const std::string& title, const std::string& message,
                    const std::string& place = "") {
  return fmt::format("::{} {}title={}::{}\n", level, place, Escape(CutBytes(title, kLongestTitle), kSpecialInProperty),
                     Escape(CutBytes(message, kLongestMessage), "%\r\n"));
}

// The user's line, if it is below the sources; else empty.
std::string SourceProperties(const std::string& root, const Failure& failure) {
  const std::optional<SourcePlace> source = UserSource(failure);
  const std::optional<std::string> path = source ? RelativeTo(root, source->path) : std::nullopt;
  if (!path || source->line > std::numeric_limits<std::int32_t>::max()) return {};
  return fmt::format("file={},line={},", Escape(*path, kSpecialInProperty), source->line);
}

std::string FailureCommands(const Report& report, const std::string& source_root) {
  std::string text;
  const std::size_t count = report.failures.size();
  const std::size_t shown = count > kMostAnnotations ? kMostAnnotations - 1 : count;  // the last one counts the others
  for (std::size_t i = 0; i < shown; ++i) {
    const Failure& failure = report.failures[i];
    std::string title = RuleId(failure) + " " + Printable(failure.rule->title);
    if (const std::string program = ProgramOf(failure); !program.empty()) title += " (" + program + ")";
    text += Command("error", title, PrintShort(failure), SourceProperties(source_root, failure));
  }
  if (count > shown)
    text += Command("error", "whyoom",
                    fmt::format("{} more failures: see the report in the log of this step", count - shown));
  return text;
}

std::string RemarkCommands(const Report& report) {
  std::string text;
  for (const Remark& remark : RemarksOf(report, kMostAnnotations)) {
    text += remark.is_unknown
                ? Command(report.strict ? "error" : "warning", kUnknownErrors, remark.Sentence() + "\n\n" + kRuleHint)
                : Command("warning", "whyoom could not read everything", remark.Sentence());
  }
  return text;
}

// The runner treats "::x::" at the start of a line and "##[x]" anywhere in it as commands. Escaping lines is not
// enough, so commands are disabled until a token that the text cannot contain, because it is the text's digest.
std::string Inert(const std::string& text) {
  const std::string token = Sha256Hex(text);
  return "::stop-commands::" + token + "\n" + text + "::" + token + "::\n";
}

}  // namespace

std::string PrintGithub(const Report& report, const std::string& source_root, Detail detail) {
  const std::string inputs = Counted(report.artifacts, "input", "inputs");
  std::string text = FailureCommands(report, source_root) + RemarkCommands(report);
  if (report.failures.empty() && !NothingRead(report))
    text += Command("notice", "whyoom", NothingFoundText(report) + " in " + inputs);
  if (const std::string hidden = HiddenText(report); !hidden.empty()) text += Command("notice", "whyoom", hidden);
  if (report.failures.empty() && report.problems.empty()) return text;
  return text + "::group::whyoom: " + Counted(report.failures.size(), "failure", "failures") + " in " + inputs + "\n" +
         Inert(PrintText(report, {.detail = detail})) + "::endgroup::\n";
}

}  // namespace whyoom
